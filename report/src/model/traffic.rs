//! Bytes that go along the edges of the graph, from the counts of a run.

use crate::graph::NodeSpec;
use halide::counts::FuncCounts;
use std::collections::{BTreeMap, BTreeSet};

/// A pair of nodes: the producer and the consumer.
type Pair = (usize, usize);

/// The bytes that are read along each edge. A Func that is inlined reads for its consumers, so their bytes stand at its
/// edges; where a consumer reads one producer by several ways, nobody knows how much goes along which, and none has
/// any.
pub(super) fn traffic(
    nodes: &[NodeSpec],
    numbers: &BTreeMap<(bool, &str), usize>,
    reads: &BTreeMap<Pair, usize>,
    counts: &[FuncCounts],
) -> BTreeMap<Pair, u64> {
    let (mut bytes, mut unknown): (BTreeMap<Pair, u64>, BTreeSet<Pair>) = (BTreeMap::new(), BTreeSet::new());
    for of in counts {
        let Some(to) = numbers.get(&(false, of.func.as_str())) else { continue };
        let readers = readers(nodes, reads, *to);
        for source in &of.sources {
            let Some(from) = numbers.get(&(source.is_image, source.of.as_str())) else { continue };
            let ways: Vec<Pair> =
                readers.iter().map(|reader| (*from, *reader)).filter(|pair| reads.contains_key(pair)).collect();
            match ways[..] {
                [way] => *bytes.entry(way).or_default() += source.loaded,
                _ => unknown.extend(ways),
            }
        }
    }
    bytes.retain(|pair, _| !unknown.contains(pair));
    bytes
}

/// A Func, and what is inlined into it.
fn readers(nodes: &[NodeSpec], reads: &BTreeMap<Pair, usize>, func: usize) -> BTreeSet<usize> {
    let (mut all, mut todo) = (BTreeSet::from([func]), vec![func]);
    while let Some(reader) = todo.pop() {
        for (from, _) in reads.keys().filter(|(from, to)| *to == reader && nodes[*from].is_inline) {
            if all.insert(*from) {
                todo.push(*from);
            }
        }
    }
    all
}

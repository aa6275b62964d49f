//! Natural loops of a function, and the innermost of them.
//!
//! An edge to a block that dominates its source is a back edge, and the blocks that reach its source without its
//! destination are a natural loop. Loops with one head are one loop. Cycles that are entered in several places have no
//! dominating block and are no loops here; neither code generator makes any.

use super::flow::Flow;
use std::collections::{BTreeMap, BTreeSet};

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block that every iteration begins with.
    pub head: usize,
    /// Its blocks, the head among them, in order of address.
    pub blocks: BTreeSet<usize>,
}

/// The loops that contain no other loop, by head.
pub fn innermost(flow: &Flow) -> Vec<Loop> {
    let all = natural(flow);
    let contains = |outer: &Loop, inner: &Loop| outer.head != inner.head && outer.blocks.contains(&inner.head);
    all.iter().filter(|l| !all.iter().any(|inner| contains(l, inner))).cloned().collect()
}

/// All natural loops, by head.
pub fn natural(flow: &Flow) -> Vec<Loop> {
    let dominators = Dominators::new(flow);
    let predecessors = flow.predecessors();
    let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (from, block) in flow.blocks.iter().enumerate() {
        for &head in block.next.iter().filter(|&&head| dominators.dominates(head, from)) {
            let blocks = loops.entry(head).or_insert_with(|| BTreeSet::from([head]));
            let mut todo = vec![from];
            while let Some(block) = todo.pop() {
                if blocks.insert(block) {
                    todo.extend(&predecessors[block]);
                }
            }
        }
    }
    loops.into_iter().map(|(head, blocks)| Loop { head, blocks }).collect()
}

/// The blocks of a function or of a loop from `head` on, each before those that follow it but for back edges.
pub(super) fn order(flow: &Flow, head: usize, within: impl Fn(usize) -> bool) -> Vec<usize> {
    let (mut seen, mut finished) = (BTreeSet::from([head]), Vec::new());
    let mut path = vec![(head, 0)];
    while let Some((block, at)) = path.pop() {
        match flow.blocks[block].next.get(at) {
            None => finished.push(block),
            Some(&next) => {
                path.push((block, at + 1));
                if within(next) && seen.insert(next) {
                    path.push((next, 0));
                }
            }
        }
    }
    finished.reverse();
    finished
}

/// The immediate dominator of each block, by Cooper, Harvey and Kennedy's iteration.
struct Dominators {
    /// The place of each block in the order; all are reachable.
    places: Vec<usize>,
    /// By place, the place of the immediate dominator; the entry's is its own.
    parents: Vec<usize>,
}

impl Dominators {
    fn new(flow: &Flow) -> Dominators {
        let order = order(flow, 0, |_| true);
        let mut places = vec![0; flow.blocks.len()];
        order.iter().enumerate().for_each(|(place, &block)| places[block] = place);
        let predecessors = flow.predecessors();
        let mut parents: Vec<Option<usize>> = vec![None; order.len()];
        parents[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for place in 1..order.len() {
                let known = predecessors[order[place]].iter().map(|&p| places[p]).filter(|&p| parents[p].is_some());
                let parent = known.reduce(|a, b| common(&parents, a, b));
                changed |= parent != parents[place];
                parents[place] = parent;
            }
        }
        // Each block follows one before it in the order.
        let parents = parents.into_iter().map(|p| p.unwrap_or(0)).collect();
        Dominators { places, parents }
    }
    /// Returns true if every way to `block` leads through `above`.
    fn dominates(&self, above: usize, block: usize) -> bool {
        let (above, mut at) = (self.places[above], self.places[block]);
        while at > above {
            at = self.parents[at];
        }
        at == above
    }
}

/// The nearest place that dominates two.
fn common(parents: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    // Those that have no parent yet are not asked for.
    let up = |place: usize| parents[place].unwrap_or(0);
    while a != b {
        if a > b { a = up(a) } else { b = up(b) }
    }
    a
}

//! Regions that a part of a loop nest needs.

use crate::dag::{Box, Dag, Source};
use halide_core::ids::FuncId;
use std::collections::{BTreeMap, BinaryHeap};

/// The region of each buffer that is read or computed, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boxes(Vec<(Source, Box)>);

impl Boxes {
    pub(crate) fn get(&self, source: Source) -> Option<&Box> {
        let at = self.0.binary_search_by_key(&source, |(source, _)| *source).ok()?;
        self.0.get(at).map(|(_, region)| region)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Source, Box)> {
        self.0.iter()
    }

    /// Makes the region of a buffer hold another one.
    fn join(&mut self, source: Source, region: Box) {
        match self.0.binary_search_by_key(&source, |(source, _)| *source) {
            Ok(at) => join(&mut self.0[at].1, &region),
            Err(at) => self.0.insert(at, (source, region)),
        }
    }
}

/// The smallest box that holds both.
fn join(known: &mut Box, other: &[(i64, i64)]) {
    for (known, other) in known.iter_mut().zip(other) {
        *known = (known.0.min(other.0), known.1.max(other.1));
    }
}

/// Returns what a definition reads over a domain, with all that is read to compute those Funcs that are computed
/// `inside`.
pub(crate) fn needed(
    dag: &Dag<'_>,
    of: (FuncId, usize),
    domain: &[(i64, i64)],
    inside: &dyn Fn(FuncId) -> bool,
) -> Boxes {
    let mut boxes = Boxes::default();
    // Funcs that are to be looked at, by rank: consumers come first.
    let mut todo: BinaryHeap<usize> = BinaryHeap::new();
    let add = |boxes: &mut Boxes, todo: &mut BinaryHeap<usize>, source: Source, region: Box| {
        if let Source::Func(func) = source
            && inside(func)
        {
            todo.push(dag.rank[func]);
        }
        boxes.join(source, region);
    };
    dag.regions(of, domain, &mut |source, region| add(&mut boxes, &mut todo, source, region));
    let mut last = None;
    while let Some(rank) = todo.pop() {
        if last.replace(rank) == Some(rank) {
            continue;
        }
        let func = dag.pipeline.order[rank];
        let Some(region) = boxes.get(Source::Func(func)).cloned() else { continue };
        for stage in 0..dag.funcs[func].stages.len() {
            let domain = dag.domain((func, stage), &region);
            dag.regions((func, stage), &domain, &mut |source, region| add(&mut boxes, &mut todo, source, region));
        }
    }
    boxes
}

/// The regions of all Funcs that are computed outside of all loops, where outputs have these.
pub(crate) fn of_roots(dag: &Dag<'_>, outputs: &[(FuncId, Box)]) -> BTreeMap<FuncId, Box> {
    let mut boxes: BTreeMap<FuncId, Box> = outputs.iter().cloned().collect();
    for &func in dag.pipeline.order.iter().rev() {
        let Some(region) = boxes.get(&func).cloned() else { continue };
        for stage in 0..dag.funcs[func].stages.len() {
            let domain = dag.domain((func, stage), &region);
            dag.regions((func, stage), &domain, &mut |source, region| {
                if let Source::Func(of) = source {
                    match boxes.get_mut(&of) {
                        Some(known) => join(known, &region),
                        None => drop(boxes.insert(of, region)),
                    }
                }
            });
        }
    }
    boxes
}

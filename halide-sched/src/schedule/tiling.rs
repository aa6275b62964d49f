//! The expansion of `tile` and `gpu_tile` into splits, an order and marks.

use super::directive::{Amount, LoopKind, Tail, Verb};
use super::gpu::gpu_loops;

/// Loops to be split, innermost first, and into what. Lists of different lengths leave names out, which is reported when
/// the schedule is resolved.
pub(super) struct Tiling {
    pub(super) vars: Vec<String>,
    pub(super) outer: Vec<String>,
    pub(super) inner: Vec<String>,
    pub(super) factors: Vec<Amount>,
    pub(super) tail: Tail,
}

impl Tiling {
    /// A split per dimension, and all inner loops inside all outer ones.
    pub(super) fn verbs(self) -> Vec<Verb> {
        let Tiling { vars, outer, inner, factors, tail } = self;
        let count = vars.len().max(outer.len()).max(inner.len()).max(factors.len());
        let at = |list: &[String], i: usize| list.get(i).cloned().unwrap_or_default();
        let splits = (0..count).map(|i| Verb::Split {
            var: at(&vars, i),
            outer: at(&outer, i),
            inner: at(&inner, i),
            factor: factors.get(i).cloned().unwrap_or(Amount::Const(0)),
            tail,
        });
        splits.chain([Verb::Reorder(inner.iter().chain(&outer).cloned().collect())]).collect()
    }

    /// The same, with tiles as blocks and points as threads.
    pub(super) fn gpu_verbs(self) -> Vec<Verb> {
        let blocks = gpu_loops(LoopKind::GpuBlocks, self.outer.clone());
        let threads = gpu_loops(LoopKind::GpuThreads, self.inner.clone());
        self.verbs().into_iter().chain(blocks).chain(threads).collect()
    }
}

//! Words that place a stage on a graphics processor.

use super::StageSchedule;
use super::directive::{Amount, LoopKind, Tail, Verb};
use super::names::LoopNames;
use super::tiling::Tiling;

impl StageSchedule<'_> {
    /// Runs loops over the blocks of a grid on the graphics processor: one to three, directly in each other and around
    /// all other loops.
    #[track_caller]
    pub fn gpu_blocks(self, vars: impl LoopNames) -> Self {
        self.mark_all(LoopKind::GpuBlocks, vars)
    }

    /// Runs loops over the threads of a block: one to three, inside of loops over blocks. Their extents must be constants,
    /// or, of a stage that is computed inside of another one's blocks, have constant bounds.
    #[track_caller]
    pub fn gpu_threads(self, vars: impl LoopNames) -> Self {
        self.mark_all(LoopKind::GpuThreads, vars)
    }

    /// Tiles by `factors`, and runs tiles as blocks and the points of a tile as threads.
    #[track_caller]
    pub fn gpu_tile<A: Into<Amount>, const N: usize>(
        mut self,
        vars: impl LoopNames,
        outer: impl LoopNames,
        inner: impl LoopNames,
        factors: [A; N],
    ) -> Self {
        let factors = factors.into_iter().map(Into::into).collect();
        let (vars, outer, inner) = (vars.loop_names(), outer.loop_names(), inner.loop_names());
        for verb in (Tiling { vars, outer, inner, factors, tail: Tail::Auto }).gpu_verbs() {
            self = self.push(verb);
        }
        self
    }

    /// Runs the whole stage on the graphics processor, as one thread: for small or inherently serial stages between
    /// kernels, whose values then stay on the device.
    #[track_caller]
    pub fn gpu_single_thread(self) -> Self {
        self.push(Verb::GpuSingleThread)
    }

    /// Runs a loop over threads that are lanes of one subgroup, which run in step and can read each other's registers. It is
    /// the innermost loop over threads; its extent is a power of two by which the device's subgroups can be divided. A Func
    /// that is computed outside of it, in its block, and said to be `store_in(Register)` is then held by the lanes together:
    /// each keeps the elements that it computes, and others are handed from lane to lane. Lanes need no barrier for that.
    #[track_caller]
    pub fn gpu_lanes(self, var: impl LoopNames) -> Self {
        self.mark_all(LoopKind::GpuLanes, var)
    }

    /// Brings the Func's values to the device as soon as they are computed, instead of when a kernel first needs them.
    #[track_caller]
    pub fn copy_to_device(self) -> Self {
        self.push(Verb::Copy { to_device: true })
    }

    /// Brings the Func's values to the host as soon as they are computed, instead of when host code first needs them.
    #[track_caller]
    pub fn copy_to_host(self) -> Self {
        self.push(Verb::Copy { to_device: false })
    }

    #[track_caller]
    fn mark_all(mut self, kind: LoopKind, vars: impl LoopNames) -> Self {
        for verb in gpu_loops(kind, vars.loop_names()) {
            self = self.push(verb);
        }
        self
    }
}

/// Marks for several loops.
pub(super) fn gpu_loops(kind: LoopKind, vars: Vec<String>) -> Vec<Verb> {
    vars.into_iter().map(|var| Verb::Mark { kind, var, factor: None, tail: Tail::Auto }).collect()
}

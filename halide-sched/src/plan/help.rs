//! Remedies for directives that cannot be followed.

use super::error::{OrderReason, Problem, Shared};
use crate::schedule::LoopKind;

impl Problem {
    /// Returns a remedy, if one is known.
    pub fn help(&self) -> Option<String> {
        use Problem::*;
        let near = |near: &Option<String>| near.as_ref().map(|n| format!("did you mean `{n}`?"));
        match self {
            UnknownFunc { near: n, .. } | UnknownLoop { near: n, .. } | UnknownDim { near: n, .. } => near(n),
            UnknownParam { near: n, .. } | UnknownBuffer { near: n, .. } => near(n),
            WholeFunc { func } => Some(format!("write it under `{func}:`")),
            NameTaken { .. } => Some("choose another name".to_string()),
            TailOfReduction { .. } => Some("use GuardWithIf or Predicate, or leave the tail out".to_string()),
            ShiftOfKept { .. } => Some("use GuardWithIf, or leave the tail out".to_string()),
            ShiftOfUpdate { .. } => Some("use GuardWithIf or ShiftInwardsAndBlend, or leave the tail out".to_string()),
            RoundUpInside { .. } => Some("use GuardWithIf or RoundUpAndBlend, or leave the tail out".to_string()),
            PredicateLoadsInside { .. } => Some("use Predicate or GuardWithIf".to_string()),
            SplitOfPredicated { .. } => Some("use Predicate for the first split".to_string()),
            BlendBesideParallel { .. } => Some("use GuardWithIf, or do not run that loop in parallel".to_string()),
            OrderMatters { why: OrderReason::Floats, .. } => Some("say float(relaxed) if that may be".to_string()),
            OrderMatters { .. } => Some("keep the reduction variables in their order".to_string()),
            Race { .. } => {
                let choose = "choose a loop over a dimension that the update stores to by that variable";
                Some(format!("{choose}; or say atomic(), or allow_race_conditions() if no result depends on it"))
            }
            NotConstant { kind: LoopKind::GpuThreads | LoopKind::GpuLanes, extent: None, .. } => Some(
                "split it by a constant factor first, as gpu_tile does, or promise it with bound_extent".to_string(),
            ),
            NotConstant { var, kind, extent: None, .. } => {
                Some(format!("split by a factor, as in `{}({var}, 8)`, or promise it with bound_extent", kind.word()))
            }
            ParallelInVector { outer, .. } => {
                Some(format!("move `{outer}` inside with reorder, or do not vectorize it"))
            }
            KernelInParallel { outer, .. } => Some(format!(
                "leave `{outer}` serial, or make it another loop over blocks: a kernel is parallel already"
            )),
            MoreThanOneThread { .. } => Some("leave it serial, or use gpu_blocks and gpu_threads alone".to_string()),
            SharedOutsideBlocks { .. } => Some("compute it at a loop over blocks of a consumer".to_string()),
            SharedInThreads { .. } => Some("compute it at the loop over blocks, or leave store_in out".to_string()),
            HeapInKernel { .. } => Some("use store_in(Global), which is the device's memory".to_string()),
            CopyInKernel { .. } => Some("leave the copy out, or compute it at the root".to_string()),
            NoSubgroups { .. } => Some("use gpu_threads, and store_in(Shared) for what threads exchange".to_string()),
            LaneExtent { lanes, .. } => Some(format!("split by {lanes}, or by a power of two that is less")),
            TwiceLanes { .. } | ThreadsInLanes { .. } => {
                Some("give the innermost loop over threads to gpu_lanes, and the others to gpu_threads".to_string())
            }
            NoGpuToCopy { .. } | NoGpu { .. } => Some("compile for a target that has one".to_string()),
            ThreadsOutsideBlocks { .. } => Some("give an outer loop to gpu_blocks".to_string()),
            ThreadsInThreads { .. } => {
                Some("compute it at the loop over blocks, or leave its loops serial".to_string())
            }
            ParallelInKernel { .. } => Some("use gpu_threads, or leave it serial".to_string()),
            LoopBetweenBlocks { .. } => Some("reorder the loops over blocks next to each other".to_string()),
            BetweenBlocks { inner, .. } => Some(format!("place it at `{inner}`")),
            TooManyGpuLoops { .. } => Some("fuse two of them, or leave one serial".to_string()),
            TooManyThreads { .. } | TooManyThreadsInAll { .. } => Some("split by smaller factors".to_string()),
            UnknownSource { near: n, .. } => near(n),
            PrefetchFrom { at, from } => Some(format!("say it the other way round, `{from}` before `{at}`")),
            AtomicOfPure { .. } => Some("say it of an update, or leave it out".to_string()),
            MonoidOfPure { .. } => Some("say it of an update".to_string()),
            WithoutPlace { func } => Some(format!("give `{func}` a place with compute_root() or compute_at(...)")),
            WithOtherLoops { .. } => {
                Some("split, reorder, rename and mark the loops of both in the same way".to_string())
            }
            NotShared { near: n, .. } => near(n),
            WithOtherCuts { .. } => Some("say it of one of them, or the same of both".to_string()),
            WithElsewhere { .. } => Some("compute both at the same loop, or both at the root".to_string()),
            NothingToSchedule { func } | SiteInline { func } | StoreOfInline { func } => {
                Some(format!("give `{func}` a place with compute_root() or compute_at(...)"))
            }
            SiteNotInVariant { var, .. } => Some(format!("make `{var}` there too, or before specialize")),
            SiteOutside { .. } => {
                Some("compute it at a loop that is around all its consumers, or at the root".to_string())
            }
            NotAround { what, .. } => Some(format!("{what} at the same loop or one around it")),
            SharedByIterations { what: Shared::Memory, .. } => {
                Some("hoist it to a loop inside of that one".to_string())
            }
            SharedByIterations { .. } => Some("store it at that loop or inside of it".to_string()),
            RfactorOfPure { .. } => Some("say it of an update over a reduction domain".to_string()),
            WholeStage { .. } => Some("say it of the stage".to_string()),
            NotReduction { near: n, .. } => near(n),
            RfactorAll { .. } => Some("split one of them and factor out a part of it".to_string()),
            SaidBeforeRfactor { .. } => {
                Some("before rfactor, only split, fuse neighbours and rename them; say the rest after it".to_string())
            }
            AtomicOrder { why: OrderReason::Floats, .. } => Some("say float(relaxed) if that may be".to_string()),
            AtomicOrder { .. } => Some("say atomic(any_order) if that may be".to_string()),
            AtomicOnGpu { .. } => Some("do it in parts with rfactor".to_string()),
            FuncTaken { .. } => Some("choose other new variables".to_string()),
            TooManyCopies { func, .. } => Some(format!("say `{func}: compute_root()`, or give it a compute_at(...)")),
            _ => None,
        }
    }
}

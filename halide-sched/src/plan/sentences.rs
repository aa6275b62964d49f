//! Messages: the defect of a directive, in a sentence.

use super::error::{MonoidReason, Problem, Shared};
use crate::plan::Collision;
use crate::schedule::LoopKind;
use std::fmt;

fn names(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|n| format!("`{n}`")).collect();
    if quoted.is_empty() { "none".to_string() } else { quoted.join(", ") }
}

fn done(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::Serial => "run serially",
        LoopKind::Parallel => "run in parallel",
        LoopKind::Vectorized => "vectorized",
        LoopKind::Unrolled => "unrolled",
        LoopKind::GpuBlocks => "run as blocks of threads",
        LoopKind::GpuThreads => "run as threads of a block",
        LoopKind::GpuLanes => "run as lanes of a subgroup",
    }
}

impl fmt::Display for Problem {
    /// Writes the reason that the directive cannot be followed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Problem::*;
        match self {
            UnknownFunc { name, .. } => write!(f, "the pipeline has no Func `{name}`"),
            BesideExtern { name } => {
                write!(f, "an extern stage stands between this and `{name}`, so they have no loops in common")
            }
            UnknownUpdate { func, updates: 0 } => write!(f, "`{func}` has no updates"),
            UnknownUpdate { func, updates: 1 } => write!(f, "`{func}` has one update, number 0"),
            UnknownUpdate { func, updates } => {
                write!(f, "`{func}` has {updates} updates, numbers 0 to {}", updates - 1)
            }
            UnknownSpecialization { index, count } => {
                write!(f, "there is no specialisation number {index}; {count} have been opened before this")
            }
            WholeFunc { func } => write!(f, "this is said of `{func}` as a whole, not of one of its stages"),
            UnknownLoop { of, name, loops, .. } => {
                write!(f, "`{of}` has no loop `{name}`; its loops, outermost first: {}", names(loops))
            }
            LoopReplaced { of, name, by } => write!(f, "`{of}` has no loop `{name}` any more, because of {by}"),
            UnknownDim { func, name, dims, .. } => {
                write!(f, "`{func}` has no dimension `{name}`; its dimensions: {}", names(dims))
            }
            NameTaken { of, name } => write!(f, "`{of}` has a variable `{name}` already"),
            EmptyName => write!(f, "a loop needs a name; lists of different lengths leave some out"),
            Repeated { name } => write!(f, "`{name}` is listed twice"),
            FuseWithItself { name } => write!(f, "`{name}` cannot be fused with itself"),
            TooSmall { what, value, least } => write!(f, "the {what} must be at least {least}, not {value}"),
            TooLarge { what, value, most } => write!(f, "the {what} must be at most {most}, not {value}"),
            UnknownParam { name, .. } => write!(f, "the pipeline has no scalar parameter `{name}`"),
            ParamType { name, ty, needed } => write!(f, "parameter `{name}` is {ty}, where {needed} is needed"),
            UnknownBuffer { name, .. } => write!(f, "the pipeline has no input image or output `{name}`"),
            NoSuchDim { name, dim, dims } => write!(f, "`{name}` has {dims} dimensions, so none number {dim}"),
            BadCondition { message } => write!(f, "this is not a condition: {message}"),
            RepeatedCondition { condition } => write!(f, "there is a specialisation for `{condition}` before this one"),
            AfterFail => write!(f, "nothing can be specialised after specialize_fail, which ends the run"),
            TailOfReduction { var, tail } => {
                write!(f, "{tail} would run iterations of the reduction variable `{var}` twice or beyond its domain")
            }
            ShiftOfUpdate { var } => {
                write!(f, "ShiftInwards computes points of `{var}` twice, and an update must not be applied twice")
            }
            ShiftOfKept { var } => {
                write!(
                    f,
                    "ShiftInwards computes points of `{var}` twice, and one that keeps an old value (`undef`) reads it"
                )
            }
            RoundUpInside { var } => {
                let why = "RoundUp would apply the update to points of the next chunk, which are then updated twice";
                write!(f, "`{var}` is part of a split: {why}")
            }
            PredicateLoadsInside { var } => {
                write!(f, "`{var}` is the inner part of a split, so its stores would reach into the next chunk")
            }
            SplitOfPredicated { var, by } => write!(f, "`{var}` comes from {by}, whose parts cannot be split again"),
            BlendBesideParallel { var, parallel, tail } => {
                write!(f, "{tail} reads back points of `{var}` that other iterations of parallel `{parallel}` store")
            }
            OrderMatters { of, vars, why, conflict } => {
                let why = why.text();
                let order = "this changes the order of the reduction over";
                write!(f, "{order} {}, but the update of `{of}` {why}", names(vars))?;
                conflict.as_ref().map_or(Ok(()), |c| write!(f, ", and two iterations would change places: {c}"))
            }
            Race { of, var, kind, why, conflict } => {
                let why = match why {
                    Collision::Stores => format!("two of its iterations may store to the same element of `{of}`"),
                    Collision::Loads => {
                        format!("one of its iterations may load an element of `{of}` that another one stores to")
                    }
                };
                write!(f, "`{var}` cannot be {}: {why}", done(*kind))?;
                conflict.as_ref().map_or(Ok(()), |c| write!(f, "; {c}"))
            }
            NotConstant { of, var, kind, extent: None } => {
                write!(f, "loop `{var}` of `{of}` cannot be {}: its extent is not a constant", done(*kind))
            }
            NotConstant { of, var, kind, extent: Some(n) } => {
                write!(f, "loop `{var}` of `{of}` cannot be {}: its extent is {n}", done(*kind))
            }
            ParallelInVector { outer, inner } => write!(f, "`{inner}` is parallel inside of vectorized `{outer}`"),
            NoGpu { var } => write!(f, "`{var}` is for a graphics processor, and the target has none"),
            ThreadsOutsideBlocks { var } => {
                write!(f, "`{var}` runs over threads, and no loop over blocks is around it")
            }
            ThreadsInThreads { of, outer, inner } => {
                write!(f, "`{inner}` runs over threads, and `{of}` is computed inside of `{outer}`, which does too")
            }
            KernelInKernel { outer, inner } => {
                write!(f, "`{inner}` runs over blocks inside of `{outer}`, and a kernel cannot start another")
            }
            ParallelInKernel { outer, inner } => {
                write!(f, "`{inner}` is parallel inside of `{outer}`, which runs on the graphics processor")
            }
            LoopBetweenBlocks { between, inner } => {
                write!(f, "`{between}` stands between loops over blocks, of which `{inner}` is the inner one")
            }
            BetweenBlocks { outer, inner } => {
                write!(
                    f,
                    "`{outer}` runs over blocks and so does `{inner}` inside of it; nothing can stand between them"
                )
            }
            TooManyGpuLoops { kind: LoopKind::GpuBlocks, most } => {
                write!(f, "a kernel has at most {most} loops over blocks")
            }
            TooManyGpuLoops { most, .. } => write!(f, "a block has at most {most} loops over threads"),
            TooManyThreads { var, threads, most } => {
                write!(f, "`{var}` has {threads} threads, where the target allows {most} in this dimension")
            }
            TooManyThreadsInAll { of, threads, most } => {
                write!(f, "a block of `{of}` has {threads} threads in all, where the target allows {most}")
            }
            KernelInParallel { outer, inner } => {
                write!(f, "`{inner}` runs over blocks inside of parallel `{outer}`; a kernel is started by one thread")
            }
            MoreThanOneThread { of, var } => {
                write!(f, "`{var}` of `{of}` runs at once, where gpu_single_thread makes a kernel of one thread")
            }
            SharedOutsideBlocks { func } => {
                write!(f, "`{func}` is not computed inside of a loop over blocks, so no threads could share it")
            }
            SharedInThreads { func, var } => {
                write!(f, "`{func}` is computed inside of `{var}`, which runs over threads, so each has its own")
            }
            HeapInKernel { func, var } => {
                write!(f, "`{func}` is computed inside of `{var}`, which runs over blocks, where there is no heap")
            }
            CopyInKernel { func, var } => {
                write!(f, "`{func}` is computed inside of `{var}`, which runs over blocks, so the host never has it")
            }
            NoGpuToCopy { func } => {
                write!(f, "`{func}` is to be copied to or from a graphics processor, and the target has none")
            }
            NoSubgroups { var } => {
                let lacks = "the target's graphics processor has no subgroups of one known size";
                write!(f, "`{var}` runs over lanes of a subgroup, and {lacks} (feature `subgroups`)")
            }
            LaneExtent { var, extent, lanes } => {
                write!(
                    f,
                    "`{var}` has {extent} iterations, and a subgroup of {lanes} lanes cannot be divided into such parts"
                )
            }
            TwiceLanes { outer, inner } => {
                write!(f, "`{inner}` runs over lanes of a subgroup inside of `{outer}`, which does too")
            }
            ThreadsInLanes { outer, inner } => {
                write!(f, "`{inner}` runs over threads inside of `{outer}`, whose iterations are lanes of a subgroup")
            }
            NothingToSchedule { func } => {
                write!(f, "`{func}` is computed inline, so it has no loops and no storage of its own")
            }
            OutputLevel { func } => write!(f, "`{func}` is an output, which is computed and stored at the root"),
            OutputStorage { func } => write!(f, "`{func}` is an output, whose memory the caller gives"),
            SiteInline { func } => write!(f, "`{func}` is computed inline, so it has no loops"),
            SiteItself { func } => write!(f, "`{func}` cannot be placed in a loop of its own"),
            SiteNotConsumer { func, site } => write!(f, "`{site}` does not use `{func}`"),
            SiteNotInVariant { site, var, variant } => {
                write!(f, "`{site}` has no loop `{var}` where it is specialised for `{variant}`")
            }
            SiteOutside { func, consumer, site } => {
                write!(f, "`{consumer}` uses `{func}` too, and is not computed inside of loop {site}")
            }
            StoreOfInline { func } => write!(f, "`{func}` is computed inline, so nothing is stored"),
            NotAround { what, outer, inner, at } => {
                write!(f, "{what} at {outer} is not around {inner} at {at}")
            }
            SharedByIterations { func, var, what: Shared::Updates } => {
                let why = "is stored outside of it and updated inside, so iterations would disturb each other";
                write!(f, "the iterations of `{var}` run at the same time, and `{func}` {why}")
            }
            SharedByIterations { func, var, what: Shared::Fold } => {
                let why =
                    "is folded outside of it and computed inside, so iterations would overwrite each other's values";
                write!(f, "the iterations of `{var}` run at the same time, and `{func}` {why}")
            }
            SharedByIterations { func, var, what: Shared::Memory } => {
                let why = "keeps values of its own in each, so they cannot share memory allocated outside";
                write!(f, "the iterations of `{var}` run at the same time, and `{func}` {why}")
            }
            CopyOfKept { func } => {
                write!(f, "`{func}` begins with what its output holds (`undef`), which a copy has not")
            }
            WrapsItself { func } => write!(f, "`{func}` cannot be wrapped for itself"),
            NotACaller { func, consumer } => write!(f, "`{consumer}` does not call `{func}`"),
            NoCaller { func } => write!(f, "no Func calls `{func}`"),
            WrappedTwice { func, consumer } => {
                write!(f, "the calls of `{func}` from `{consumer}` go to another wrapper already")
            }
            RfactorOfPure { func } => write!(f, "`{func}` has no reduction here that could be done in parts"),
            WholeStage { of } => write!(f, "`{of}` is a specialisation, and this is said of the stage as a whole"),
            RfactorLists { rvars, vars } => {
                write!(
                    f,
                    "this needs a new variable for each reduction variable, at least one; there are {vars} for {rvars}"
                )
            }
            NotReduction { of, name, loops, .. } => {
                let what = "has no reduction variable";
                write!(f, "`{of}` {what} `{name}` here; its reduction variables, outermost first: {}", names(loops))
            }
            RfactorAll { of } => {
                write!(f, "no reduction variable of `{of}` would be left, so the parts would reduce nothing")
            }
            NotAssociative { of } => {
                write!(f, "the update of `{of}` is not known to be an associative operation on the old value alone")
            }
            SaidBeforeRfactor { verb } => {
                write!(f, "`{verb}` is said before this of a reduction variable, whose loop goes to another Func now")
            }
            FactorBeforeRfactor { name } => {
                write!(f, "a split by parameter `{name}` is said before this, and the parts must be of constant size")
            }
            WithItself { func } => {
                write!(f, "stages of `{func}` depend on each other, so they cannot be computed together")
            }
            WithoutPlace { func } => {
                write!(f, "`{func}` has no place of its own, so nothing is computed together with it")
            }
            WithSpecialized { of } => {
                write!(f, "`{of}` is specialised, and what is computed together has one set of loops")
            }
            WithEachOther { of, host } => write!(f, "`{host}` is computed with `{of}` already"),
            WithOtherLoops { of, own, host, theirs } => {
                let what = "only loops of the same names and kinds run as one";
                write!(f, "{what}; outermost first, `{of}` has {}, and `{host}` has {}", names(own), names(theirs))
            }
            NotShared { name, loops, .. } => {
                write!(f, "`{name}` is no loop that runs as one; those that do, outermost first: {}", names(loops))
            }
            WithElsewhere { of, at, host, host_at } => {
                write!(f, "`{of}` is computed at {at}, and `{host}` at {host_at}")
            }
            WithDependent { consumer, producer } => {
                write!(f, "`{consumer}` needs values of `{producer}`, so they cannot be computed together")
            }
            WithTangled { of, host } => {
                let what = "other Funcs that are computed together stand between them";
                write!(
                    f,
                    "`{of}` and `{host}` cannot be computed together: {what}, needed by one and needing the other"
                )
            }
            WithOrder { func } => {
                write!(f, "the stages of `{func}` would not come in their order any more")
            }
            WithOtherCuts { of, own, other, theirs, var } => {
                let what = "one loop is cut in one way";
                write!(f, "{what}: of `{var}`, `{of}` says {own}, and `{other}`, which runs in it too, {theirs}")
            }
            UnknownSource { name, .. } => write!(f, "there is no Func and no image `{name}`"),
            PrefetchNotRead { of, what } => write!(f, "`{of}` does not read `{what}`"),
            PrefetchFrom { at, from } => {
                write!(f, "`{from}` is inside of `{at}`, so a later iteration of it is none of `{at}`'s business")
            }
            EstimateDims { func, given, dims } => {
                write!(f, "`{func}` has {dims} dimensions, and {given} are estimated")
            }
            MonoidOfPure { of } => write!(f, "`{of}` is no update, so it has no operation on old values"),
            NoMonoid { of, why: MonoidReason::Elements { values, given } } => {
                write!(f, "an element of `{of}` has {values} values, and the identity {given}")
            }
            NoMonoid { of, why: MonoidReason::Reads } => {
                let what = "reads other elements than the one that it stores, or chooses that by old values";
                write!(f, "the update of `{of}` {what}")
            }
            NoMonoid { of, why: MonoidReason::Parts } => {
                let what = "does not show how two partial results are put together";
                write!(f, "the update of `{of}` {what}: each value needs one new part, under arithmetic alone")
            }
            NoMonoid { of, why: MonoidReason::Refuted { law, example } } => {
                write!(f, "that {law} is not so for the update of `{of}`: {example}")
            }
            AtomicOfPure { of } => {
                write!(f, "`{of}` is no update, so nothing is changed that could be changed in steps")
            }
            AtomicReads { of } => {
                let what = "reads other elements than the one that it stores, which cannot be one step";
                write!(f, "the update of `{of}` {what}")
            }
            AtomicOrder { of, var, why } => {
                let why = why.text();
                write!(f, "the iterations of `{var}` would come in any order, but the update of `{of}` {why}")
            }
            AtomicOnGpu { of, var, why } => {
                let why = why.text();
                write!(
                    f,
                    "iterations of `{var}` on the graphics processor may change the same element of `{of}`, and {why}, which it cannot do in one step"
                )
            }
            FuncTaken { name } => write!(f, "there is a Func `{name}` already"),
            TooManyCopies { func, most } => {
                write!(f, "`{func}` has updates and is left inline; that would make more than {most} copies in all")
            }
        }
    }
}

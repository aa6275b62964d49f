//! Checks that loops over blocks and threads make kernels that a GPU can run.

use super::diagnostics::{Errors, Problem};
use super::draft::FuncDraft;
use super::levels::{DraftLevel, Levels, with_loops};
use super::stage::StageDraft;
use crate::schedule::{LoopKind, Memory};
use halide_core::ids::{FuncId, IdVec};
use halide_ir::target::{Gpu, Target};
use std::collections::BTreeSet;

/// Blocks have, and grids have, at most this many dimensions.
const DIMENSIONS: usize = 3;

/// A loop by name.
#[derive(Clone)]
struct Loop {
    name: String,
    kind: LoopKind,
    mark: Option<usize>,
    /// The extent, where it is a constant.
    extent: Option<i64>,
    /// True if it is the block of a single thread.
    one: bool,
}

/// Checks the loops of every Func that is not inlined.
pub(super) fn check(
    funcs: impl Iterator<Item = FuncId>,
    drafts: &IdVec<FuncId, FuncDraft>,
    levels: &IdVec<FuncId, Levels>,
    target: &Target,
    errors: &mut Errors<'_>,
) {
    let mut for_gpu = BTreeSet::new();
    for func in funcs {
        let level = &levels[func].compute;
        if *level == DraftLevel::Inline {
            continue;
        }
        if target.gpu.is_none() {
            for_gpu.extend(words(&drafts[func]));
        }
        for place in [level, &levels[func].store] {
            let asked = [&drafts[func].compute, &drafts[func].store];
            let directive = asked.into_iter().flatten().next().map(|(_, directive)| *directive);
            if let (Some(problem), Some(directive)) = (between_blocks(place, drafts), directive) {
                errors.report(directive, problem);
                break;
            }
        }
        let around = around(level, drafts, levels);
        check_func(&drafts[func], &around, errors);
        for stage in &drafts[func].stages {
            for variant in with_loops(stage) {
                check_loops(&variant.subject, &around, &loops(variant), target.gpu, errors);
            }
        }
    }
    // One device would do for all of them, so the first tells it.
    if let Some(&first) = for_gpu.first() {
        errors.report(first, Problem::NoGpu { more: for_gpu.len() - 1 });
    }
}

/// The directives about a Func that only a GPU can follow.
fn words(draft: &FuncDraft) -> impl Iterator<Item = usize> {
    let marks = |s: &StageDraft| s.loops.iter().filter(|l| l.kind.is_gpu()).filter_map(|l| l.mark).collect::<Vec<_>>();
    let of_loops = draft.stages.iter().flat_map(with_loops).flat_map(marks);
    of_loops.chain(draft.copies.values().copied())
}

/// Checks the directives about the memory and the copies of a Func that is computed in the loops `around`.
fn check_func(draft: &FuncDraft, around: &Around, errors: &mut Errors<'_>) {
    let first = |is: &dyn Fn(LoopKind) -> bool| around.loops.iter().find(|l| is(l.kind)).map(|l| l.name.clone());
    let (blocks, threads) = (first(&|k| k == LoopKind::GpuBlocks), first(&LoopKind::is_gpu_threads));
    let func = draft.stages[0].subject.clone();
    if let Some(directive) = draft.memory_by {
        let problem = match (draft.memory, blocks.clone(), threads) {
            (Memory::Shared, ..) if !around.always_blocks => Some(Problem::SharedOutsideBlocks { func: func.clone() }),
            (Memory::Shared, _, Some(var)) => Some(Problem::SharedInThreads { func: func.clone(), var }),
            (Memory::Heap, Some(var), _) => Some(Problem::HeapInKernel { func: func.clone(), var }),
            _ => None,
        };
        problem.into_iter().for_each(|p| errors.report(directive, p));
    }
    for directive in draft.copies.values() {
        if let Some(var) = &blocks {
            errors.report(*directive, Problem::CopyInKernel { func: func.clone(), var: var.clone() });
        }
    }
}

fn loops(stage: &StageDraft) -> Vec<Loop> {
    let describe = |l: &super::stage::LoopDraft| Loop {
        name: stage.name(l.var).to_string(),
        kind: l.kind,
        mark: l.mark,
        extent: stage.extent(l.var),
        one: stage.is_one(l),
    };
    stage.loops.iter().map(describe).collect()
}

/// The loops around a level.
#[derive(Default)]
struct Around {
    /// The loops around the level in every variant of their stages, outermost first.
    loops: Vec<Loop>,
    /// True if loops over blocks are around in all variants.
    always_blocks: bool,
}

fn around(level: &DraftLevel, drafts: &IdVec<FuncId, FuncDraft>, levels: &IdVec<FuncId, Levels>) -> Around {
    let mut all = Around::default();
    let mut at = level;
    // A place is in the loops of a consumer, so there are at most as many as Funcs.
    for _ in 0..drafts.len() {
        let DraftLevel::At { func, stage, label: var } = at else { break };
        let until = |s: &StageDraft| {
            let end = s.position(var).map_or(0, |p| p + 1);
            loops(s).into_iter().take(end).collect::<Vec<Loop>>()
        };
        let variants: Vec<Vec<Loop>> = with_loops(&drafts[*func].stages[*stage]).into_iter().map(until).collect();
        all.always_blocks |= variants.iter().all(|own| own.iter().any(|l| l.kind == LoopKind::GpuBlocks));
        let mut outer: Vec<Loop> = variants.into_iter().flatten().collect();
        outer.append(&mut all.loops);
        all.loops = outer;
        at = &levels[*func].compute;
    }
    all
}

/// Nothing can be computed or stored in a loop over blocks that has another one inside.
fn between_blocks(place: &DraftLevel, drafts: &IdVec<FuncId, FuncDraft>) -> Option<Problem> {
    let DraftLevel::At { func, stage, label: var } = place else { return None };
    with_loops(&drafts[*func].stages[*stage]).into_iter().find_map(|s| {
        let at = s.position(var)?;
        let (outer, inner) = (&s.loops[at], s.loops.get(at + 1)?);
        let both = outer.kind == LoopKind::GpuBlocks && inner.kind == LoopKind::GpuBlocks;
        both.then(|| Problem::BetweenBlocks { outer: var.clone(), inner: s.name(inner.var).to_string() })
    })
}

fn check_loops(of: &str, around: &Around, own: &[Loop], gpu: Option<Gpu>, errors: &mut Errors<'_>) {
    let mut report = |l: &Loop, problem: Problem| l.mark.into_iter().for_each(|d| errors.report(d, problem.clone()));
    let first = |list: &[Loop], is: fn(LoopKind) -> bool| list.iter().find(|l| is(l.kind)).map(|l| l.name.clone());
    let Around { loops: around, always_blocks } = around;
    let (is_blocks, is_threads): (fn(LoopKind) -> bool, _) = (|k| k == LoopKind::GpuBlocks, LoopKind::is_gpu_threads);
    let (blocks_around, threads_around) = (first(around, is_blocks), first(around, is_threads));
    let alone = around.iter().chain(own).any(|l| l.one);
    let mut blocks = 0;
    let mut threads: Vec<&Loop> = Vec::new();
    let mut between: Option<&Loop> = None;
    for l in own {
        let name = || l.name.clone();
        match l.kind {
            // Told once for the whole schedule.
            kind if kind.is_gpu() && gpu.is_none() => {}
            kind if kind.is_gpu() && alone && !l.one => {
                report(l, Problem::MoreThanOneThread { of: of.to_string(), var: name() });
            }
            LoopKind::GpuBlocks => {
                blocks += 1;
                let before = own.iter().take_while(|o| o.name != l.name);
                let host = around.iter().chain(before).find(|o| o.kind == LoopKind::Parallel);
                if let Some(outer) = host.filter(|_| blocks == 1) {
                    report(l, Problem::KernelInParallel { outer: outer.name.clone(), inner: name() });
                }
                let inside = threads.first().map(|t| t.name.clone());
                if let Some(outer) = inside.or(threads_around.clone()).or(blocks_around.clone()) {
                    report(l, Problem::KernelInKernel { outer, inner: name() });
                } else if let Some(other) = between.filter(|_| blocks > 1) {
                    report(l, Problem::LoopBetweenBlocks { between: other.name.clone(), inner: name() });
                } else if blocks > DIMENSIONS {
                    report(l, Problem::TooManyGpuLoops { kind: l.kind, most: DIMENSIONS });
                }
            }
            LoopKind::GpuThreads | LoopKind::GpuLanes => {
                if !always_blocks && l.extent.is_none() && l.kind == LoopKind::GpuThreads {
                    report(l, Problem::NotConstant { of: of.to_string(), var: name(), kind: l.kind, extent: None });
                }
                let outside = blocks == 0 && !always_blocks;
                threads_problem(of, l, outside, around, &threads).into_iter().for_each(|p| report(l, p));
                if let Some(gpu) = gpu {
                    lanes_problem(l, gpu).into_iter().for_each(|p| report(l, p));
                }
                threads.push(l);
            }
            LoopKind::Parallel => {
                let blocks_here = first(own, is_blocks).filter(|_| blocks > 0);
                if let Some(outer) = blocks_here.or(blocks_around.clone()) {
                    report(l, Problem::ParallelInKernel { outer, inner: name() });
                }
            }
            _ => {}
        }
        if l.kind != LoopKind::GpuBlocks && blocks > 0 && between.is_none() {
            between = Some(l);
        }
    }
    if let (Some(gpu), Some(last)) = (gpu, threads.last()) {
        for (dim, l) in threads.iter().rev().take(DIMENSIONS).enumerate() {
            let most = i64::from(gpu.most_threads[dim]);
            if l.extent.is_some_and(|n| n > most) {
                report(l, Problem::TooManyThreads { var: l.name.clone(), threads: l.extent.unwrap_or(0), most });
            }
        }
        let all = threads.iter().try_fold(1_i64, |n, l| n.checked_mul(l.extent?));
        let most = i64::from(gpu.most_threads_in_all);
        if let Some(all) = all.filter(|n| *n > most) {
            report(last, Problem::TooManyThreadsInAll { of: of.to_string(), threads: all, most });
        }
    }
}

/// Returns the defect of the place of a loop over threads or lanes; `outer` are those of its stage around it.
fn threads_problem(of: &str, l: &Loop, outside: bool, around: &[Loop], outer: &[&Loop]) -> Option<Problem> {
    let inner = l.name.clone();
    if outside {
        return Some(Problem::ThreadsOutsideBlocks { var: inner });
    }
    let others: Vec<&Loop> = around.iter().filter(|o| o.kind.is_gpu_threads()).chain(outer.iter().copied()).collect();
    if let Some(lanes) = others.iter().find(|o| o.kind == LoopKind::GpuLanes) {
        let outer = lanes.name.clone();
        return Some(match l.kind {
            LoopKind::GpuLanes => Problem::TwiceLanes { outer, inner },
            _ => Problem::ThreadsInLanes { outer, inner },
        });
    }
    // Lanes divide what a thread of the outer dimensions does.
    let threads_around = around.iter().find(|o| o.kind.is_gpu_threads());
    if let Some(outer) = threads_around.filter(|_| l.kind == LoopKind::GpuThreads) {
        return Some(Problem::ThreadsInThreads { of: of.to_string(), outer: outer.name.clone(), inner });
    }
    (others.len() >= DIMENSIONS).then_some(Problem::TooManyGpuLoops { kind: l.kind, most: DIMENSIONS })
}

/// Returns the reason that the iterations of `l`, if it is a loop over lanes, cannot be lanes of a subgroup of the
/// device.
fn lanes_problem(l: &Loop, gpu: Gpu) -> Option<Problem> {
    if l.kind != LoopKind::GpuLanes {
        return None;
    }
    let Some(lanes) = gpu.subgroup else { return Some(Problem::NoSubgroups { var: l.name.clone() }) };
    let extent = l.extent?;
    let fits = u32::try_from(extent).is_ok_and(|n| n.is_power_of_two() && lanes.is_multiple_of(n));
    (!fits).then(|| Problem::LaneExtent { var: l.name.clone(), extent, lanes })
}

//! Race detection and other rules for loops as they are marked: constant extents where lanes and copies need them,
//! nothing nested that cannot be.

use super::diagnostics::{Errors, Problem};
use super::draft::FuncDraft;
use super::graph::Graph;
use super::levels::{DraftLevel, Levels, with_loops};
use super::stage::{LoopDraft, StageDraft};
use crate::plan::types::{PlanTail, Transform};
use crate::schedule::{LoopKind, Tail};
use crate::tuning::MOST_FACTOR;
use halide_core::ids::{FuncId, IdVec};
use std::collections::BTreeSet;

/// Checks the loops of every Func; `funcs` are those that the schedule speaks of (copies share their loops).
pub(super) fn check(
    funcs: impl Iterator<Item = FuncId>,
    drafts: &IdVec<FuncId, FuncDraft>,
    levels: &IdVec<FuncId, Levels>,
    errors: &mut Errors<'_>,
) {
    for func in funcs {
        if levels[func].compute == DraftLevel::Inline {
            continue;
        }
        let around = vector_loop_around(&levels[func].compute, drafts, levels);
        for stage in &drafts[func].stages {
            for variant in with_loops(stage) {
                let placed = matches!(levels[func].compute, DraftLevel::At { .. });
                check_variant(variant, placed, around.as_deref(), errors);
            }
        }
    }
}

fn check_variant(stage: &StageDraft, placed: bool, around: Option<&str>, errors: &mut Errors<'_>) {
    for (position, l) in stage.loops.iter().enumerate() {
        // Only directives make loops other than serial ones.
        let Some(directive) = l.mark else { continue };
        if let Some(problem) = constant_extent(stage, placed, l).or_else(|| race(stage, position)) {
            errors.report(directive, problem);
        }
    }
    nesting(stage, around, errors);
    for t in &stage.transforms {
        let Transform::Split { var, tail, .. } = t else { continue };
        let tail = match tail {
            PlanTail::ShiftInwardsAndBlend => Tail::ShiftInwardsAndBlend,
            PlanTail::RoundUpAndBlend => Tail::RoundUpAndBlend,
            _ => continue,
        };
        let roots = stage.roots(*var);
        let threads = |k: LoopKind| k.is_concurrent() && k != LoopKind::Vectorized;
        let beside = |l: &&LoopDraft| threads(l.kind) && !stage.roots(l.var).is_disjoint(&roots);
        if let Some(parallel) = stage.loops.iter().find(beside) {
            let (var_name, parallel) = (stage.name(*var).to_string(), stage.name(parallel.var).to_string());
            let problem = Problem::BlendBesideParallel { var: var_name, parallel, tail };
            errors.report(stage.split_by[var], problem);
        }
    }
}

/// Returns the problem of a loop whose number of lanes or copies is not constant, too large to be meant, or zero. A
/// stage that is `placed` inside of another one may have a constant bound there, which lowering finds or reports.
fn constant_extent(stage: &StageDraft, placed: bool, l: &LoopDraft) -> Option<Problem> {
    if !matches!(l.kind, LoopKind::Vectorized | LoopKind::Unrolled) && !l.kind.is_gpu_threads() {
        return None;
    }
    let extent = stage.extent(l.var);
    match extent {
        // Lowering may find a bound, where the stage is computed in the blocks of another one; `gpu` checks that.
        None if l.kind == LoopKind::GpuThreads => None,
        None if placed && matches!(l.kind, LoopKind::Vectorized | LoopKind::Unrolled) => None,
        Some(1..=MOST_FACTOR) => None,
        Some(n) if n > MOST_FACTOR => {
            let what = if l.kind == LoopKind::Vectorized { "number of lanes" } else { "number of copies" };
            Some(Problem::TooLarge { what, value: n, most: MOST_FACTOR })
        }
        _ => Some(Problem::NotConstant {
            of: stage.subject.clone(),
            var: stage.name(l.var).to_string(),
            kind: l.kind,
            extent,
        }),
    }
}

/// Iterations of a loop that run at the same time must not touch the same element, unless the schedule allows it or
/// each changes it in one step.
fn race(stage: &StageDraft, position: usize) -> Option<Problem> {
    let l = &stage.loops[position];
    if !l.kind.is_concurrent() || stage.is_one(l) {
        return None;
    }
    let why = stage.collision(position)?;
    if l.kind == LoopKind::Vectorized && stage.scans(position) {
        return None;
    }
    let (of, var, kind) = (stage.subject.clone(), stage.name(l.var).to_string(), l.kind);
    if stage.options.races_allowed {
        return stage.no_gpu_step(position).map(|why| Problem::AtomicOnGpu { of, var, why });
    }
    let Some(atomic) = stage.atomic else {
        let conflict = stage.conflict(position).map(Box::new);
        return Some(Problem::Race { of, var, kind, why, conflict });
    };
    if !stage.facts.changes_one_element {
        return Some(Problem::AtomicReads { of });
    }
    if let Some(why) = stage.order_matters().filter(|_| !atomic.any_order) {
        return Some(Problem::AtomicOrder { of, var, why });
    }
    stage.no_gpu_step(position).map(|why| Problem::AtomicOnGpu { of, var, why })
}

/// Reports threads inside of vectors, and more copies of vectors in vectors than can be meant.
fn nesting(stage: &StageDraft, around: Option<&str>, errors: &mut Errors<'_>) {
    let mut outer = around.map(str::to_string);
    let mut copies: i64 = 1;
    for l in &stage.loops {
        let name = stage.name(l.var).to_string();
        let problem = match (l.kind, &outer) {
            (kind, Some(outer)) if kind == LoopKind::Parallel || kind.is_gpu() => {
                Problem::ParallelInVector { outer: outer.clone(), inner: name.clone() }
            }
            (LoopKind::Vectorized, outside) => {
                // Of two vectorized loops, lowering copies the outer one out.
                let alone = outside.is_none();
                outer = outside.clone().or(Some(name));
                copies = copies.saturating_mul(stage.extent(l.var).unwrap_or(1));
                if copies <= MOST_FACTOR || alone {
                    continue;
                }
                Problem::TooLarge { what: "number of lanes of all vectorized loops", value: copies, most: MOST_FACTOR }
            }
            _ => continue,
        };
        l.mark.into_iter().for_each(|directive| errors.report(directive, problem.clone()));
    }
}

/// Checks that closures are called by host code, and not in lanes.
pub(super) fn check_calls(
    graph: &Graph,
    drafts: &IdVec<FuncId, FuncDraft>,
    levels: &IdVec<FuncId, Levels>,
    errors: &mut Errors<'_>,
) {
    for callee in &graph.data().callees {
        let level = &levels[callee.func].compute;
        let place = |is: &dyn Fn(LoopKind) -> bool| loop_around(level, drafts, levels, is);
        for &(stage, _) in graph.callers(callee.func) {
            let Some((_, directive)) = drafts[stage].compute else { continue };
            let func = || graph.data().funcs[stage].name.clone();
            if let Some(var) = place(&|kind| kind == LoopKind::Vectorized) {
                errors.report(directive, Problem::CalledInVectors { func: func(), var });
            }
            if let Some(var) = place(&LoopKind::is_gpu) {
                errors.report(directive, Problem::CalledInKernel { func: func(), var });
            }
        }
    }
}

/// A vectorized loop around a level, if there is one.
fn vector_loop_around(
    level: &DraftLevel,
    drafts: &IdVec<FuncId, FuncDraft>,
    levels: &IdVec<FuncId, Levels>,
) -> Option<String> {
    loop_around(level, drafts, levels, &|kind| kind == LoopKind::Vectorized)
}

/// A loop of a kind around a level, if there is one.
pub(super) fn loop_around(
    level: &DraftLevel,
    drafts: &IdVec<FuncId, FuncDraft>,
    levels: &IdVec<FuncId, Levels>,
    is: &dyn Fn(LoopKind) -> bool,
) -> Option<String> {
    let mut at = level;
    let mut seen = BTreeSet::new();
    while let DraftLevel::At { func, stage, label: var } = at {
        if !seen.insert((*func, *stage)) {
            return None;
        }
        for variant in with_loops(&drafts[*func].stages[*stage]) {
            let last = variant.position(var).map_or(0, |p| p + 1);
            if let Some(l) = variant.loops[..last].iter().find(|l| is(l.kind)) {
                return Some(variant.name(l.var).to_string());
            }
        }
        at = &levels[*func].compute;
    }
    None
}

//! Rules for the stages whose innermost loops are a call: nothing else stands in these loops, and the boxes that the
//! closure is handed lie in memory as boxes.

use super::funcs::Funcs;
use super::meaning::Operands;
use crate::plan::diagnostics::CallObstacle;
use crate::plan::expressions::{expressions, reachable};
use crate::plan::legal::loop_around;
use crate::plan::levels::DraftLevel;
use crate::plan::stage::{StageDraft, UseDraft};
use crate::plan::types::{Source, StoragePart};
use crate::schedule::LoopKind;
use halide_core::ids::FuncId;
use halide_core::pipeline::Kind;
use std::collections::BTreeSet;

/// The first reason that the loops of an instruction cannot be a call.
pub(super) fn obstacle(
    of: &Funcs<'_>,
    at: (FuncId, usize),
    stage: &StageDraft,
    used: &UseDraft,
    operands: &Operands,
) -> Option<CallObstacle> {
    let read = operands.values().filter_map(|operand| match operand.source {
        Source::Func(func) => Some(func),
        Source::Image(_) => None,
    });
    let mut stored = std::iter::once(at.0).chain(read).map(|func| in_boxes(of, func));
    of_loops(of, at, stage, used).or_else(|| stored.find_map(|found| found)).or_else(|| around(of, at, stage))
}

/// Something that stands in the loops.
fn of_loops(of: &Funcs<'_>, at: (FuncId, usize), stage: &StageDraft, used: &UseDraft) -> Option<CallObstacle> {
    if stage.uses.len() > 1 {
        return Some(CallObstacle::Others);
    }
    if stage.atomic.is_some() {
        return Some(CallObstacle::Atomic);
    }
    let has_guest = |stage: &StageDraft| stage.with.as_ref().is_some_and(|with| with.leader == at);
    if stage.with.is_some() || of.drafts.iter().any(|draft| draft.stages.iter().any(has_guest)) {
        return Some(CallObstacle::Together);
    }
    if tells(of, at) {
        return Some(CallObstacle::Tells);
    }
    let is_axis = |name: &str| used.plan.vars.iter().any(|var| stage.name(*var) == name);
    let name = |func: FuncId| of.pipeline.funcs[func].name.clone();
    for (func, levels) in of.levels.enumerate() {
        for level in [&levels.compute, &levels.store, &levels.hoist] {
            if let DraftLevel::At { func: site, stage: number, label } = level
                && (*site, *number) == at
                && is_axis(label)
            {
                return Some(CallObstacle::Inside { func: name(func), var: label.clone() });
            }
        }
    }
    let ahead = stage.prefetches.iter().find(|p| [p.at, p.from].iter().any(|var| used.plan.vars.contains(var)))?;
    let what = match ahead.what {
        Source::Func(func) => name(func),
        Source::Image(image) => of.pipeline.images[image].name.clone(),
    };
    Some(CallObstacle::Prefetch { what })
}

/// A loop around the call in which there can be none.
fn around(of: &Funcs<'_>, (func, _): (FuncId, usize), stage: &StageDraft) -> Option<CallObstacle> {
    let is = |kind: LoopKind| kind == LoopKind::Vectorized || kind.is_gpu();
    let own = stage.loops.iter().find(|l| is(l.kind)).map(|l| stage.name(l.var).to_string());
    let var = own.or_else(|| loop_around(&of.levels[func].compute, of.drafts, of.levels, &is))?;
    Some(CallObstacle::Around { var })
}

/// The reason that a Func's memory does not have boxes of its coordinates.
fn in_boxes(of: &Funcs<'_>, func: FuncId) -> Option<CallObstacle> {
    let (draft, name) = (&of.drafts[func], of.pipeline.funcs[func].name.clone());
    if draft.ring.is_some() {
        return Some(CallObstacle::Stored { func: name, how: "in copies" });
    }
    let is_split = draft.storage.iter().any(|dim| dim.part != StoragePart::Whole);
    let is_folded = draft.storage.iter().any(|dim| dim.fold.is_some());
    match (is_split, is_folded) {
        (true, _) => Some(CallObstacle::Stored { func: name, how: "in blocks" }),
        (_, true) => Some(CallObstacle::Stored { func: name, how: "in a circle" }),
        _ => None,
    }
}

/// Returns true if a definition, or what is inlined into it, prints or requires something at its points.
fn tells(of: &Funcs<'_>, (func, number): (FuncId, usize)) -> bool {
    let mut todo = expressions(of.pipeline, &of.pipeline.funcs[func].stages[number]);
    let mut seen = BTreeSet::new();
    while !todo.is_empty() {
        for e in reachable(of.pipeline, &std::mem::take(&mut todo)) {
            match &of.pipeline.exprs[e].kind {
                Kind::Note { .. } => return true,
                Kind::Call { func, .. } if of.is_inline(*func) && seen.insert(*func) => {
                    todo.extend(expressions(of.pipeline, &of.pipeline.funcs[*func].stages[0]));
                }
                _ => {}
            }
        }
    }
    false
}

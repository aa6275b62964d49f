//! The memory that is handed to the closures of instructions. Used by `build_nests` and `fold_storage`.

use crate::lower::nests::call::row_of;
use crate::plan::{InstructionCall, Plan, Source, StagePlan, StageVar};
use halide_core::ids::{FuncId, IdVec, ImageId};
use halide_ir::{BufId, Callee};
use std::collections::{BTreeMap, BTreeSet};

/// The loops of a definition that are a call, and the call.
pub(crate) fn call_of(plan: &StagePlan) -> Option<(&[StageVar], &InstructionCall)> {
    plan.uses.iter().find_map(|used| Some((&used.vars[..], used.call.as_ref()?)))
}

/// The Funcs whose memory is handed to the closures of instructions.
pub(crate) fn handed(plan: &Plan) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::new();
    for (func, call) in calls(plan) {
        found.insert(func);
        found.extend(call.operands.iter().filter_map(|(source, ..)| match source {
            Source::Func(func) => Some(*func),
            Source::Image(_) => None,
        }));
    }
    found
}

/// The calls of instructions in a plan, each with the Func that it computes.
fn calls(plan: &Plan) -> impl Iterator<Item = (FuncId, &InstructionCall)> {
    plan.funcs.enumerate().flat_map(|(func, row)| {
        let stages = row.stages.iter().flat_map(StagePlan::with_loops);
        stages.filter_map(move |stage| Some((func, call_of(stage)?.1)))
    })
}

/// The rows of the closures of instructions, by their numbers.
pub(crate) fn callees(plan: &Plan, funcs: &IdVec<FuncId, Vec<BufId>>, images: &IdVec<ImageId, BufId>) -> Vec<Callee> {
    let rows: BTreeMap<usize, Callee> = calls(plan)
        .map(|(func, call)| {
            let read = call.operands.iter().map(|(source, element, _)| buffer(funcs, images, *source, *element));
            let written = funcs[func].iter().copied();
            let name = plan.callees[call.callee].name.clone();
            (call.callee, Callee { updates: call.updates, ..row_of(name, written.collect(), read) })
        })
        .collect();
    rows.into_values().collect()
}

/// The buffer of an operand.
pub(crate) fn buffer(
    funcs: &IdVec<FuncId, Vec<BufId>>,
    images: &IdVec<ImageId, BufId>,
    source: Source,
    element: u8,
) -> BufId {
    match source {
        Source::Func(func) => funcs[func][usize::from(element)],
        Source::Image(image) => images[image],
    }
}

//! Classes, and the words that their names are made of.

use halide::ir::ForKind;
use halide::plan::{FuncPlan, Level, Plan, StagePlan};

/// A class: its table and its name.
pub(super) type Class = (&'static str, String);

/// Places of Funcs in words.
pub(super) const PLACES: [&str; 5] = ["inline", "root", "outermost loop", "inner loop", "stored outside"];

/// The place of a Func in words.
pub(super) fn place(plan: &Plan, func: &FuncPlan) -> &'static str {
    let Level::At { func: host, stage, label } = &func.compute else {
        return if func.compute == Level::Inline { PLACES[0] } else { PLACES[1] };
    };
    let host = &plan.funcs[*host].stages[*stage];
    let outermost = host.loops.first().is_some_and(|l| host.label(l) == *label);
    match (func.store != func.compute, outermost) {
        (true, _) => PLACES[4],
        (false, true) => PLACES[2],
        (false, false) => PLACES[3],
    }
}

/// Kinds of loops in words.
pub(super) const KINDS: [&str; 4] = ["serial", "parallel", "vectorized", "unrolled"];

/// The kinds of a stage's loops.
pub(super) fn kinds(stage: &StagePlan) -> Vec<&'static str> {
    let word = |kind| match kind {
        ForKind::Serial => Some("serial"),
        ForKind::Parallel => Some("parallel"),
        ForKind::Vectorized => Some("vectorized"),
        ForKind::Unrolled => Some("unrolled"),
        _ => None,
    };
    stage.loops.iter().filter_map(|l| word(l.kind)).collect()
}

//! Checks that stages compute what the instructions that they `use` mean: the loops fit ([`loops`]), the definition is
//! the meaning ([`meaning`]), and the operands lie as the instruction reads them ([`layout`]).

mod funcs;
mod layout;
mod loops;
mod meaning;

use super::diagnostics::{Errors, Problem};
use super::levels::with_loops;
use super::named_instructions::NamedInstructions;
use super::stage::{StageDraft, UseDraft};
use crate::schedule::InstructionSet;
pub(super) use funcs::Funcs;
use halide_core::ids::FuncId;
use meaning::{Axes, Side, match_meaning};

/// Checks the instructions of every stage; `funcs` are those that the schedule speaks of.
pub(super) fn check(
    funcs: impl Iterator<Item = FuncId>,
    of: &Funcs<'_>,
    set: &NamedInstructions<'_>,
    errors: &mut Errors<'_>,
) {
    for func in funcs.filter(|func| !of.is_inline(*func)) {
        for (number, stage) in of.drafts[func].stages.iter().enumerate() {
            for variant in with_loops(stage) {
                for used in &variant.uses {
                    if let Some(problem) = problem(of, (func, number), variant, used, set.get()) {
                        errors.report(used.directive, problem);
                    }
                }
            }
        }
    }
}

/// The first thing that does not fit.
fn problem(
    of: &Funcs<'_>,
    (func, number): (FuncId, usize),
    stage: &StageDraft,
    used: &UseDraft,
    set: &InstructionSet,
) -> Option<Problem> {
    // Names are known by now.
    let (instruction, forms) = set.known(&used.plan.instruction)?;
    if let Some(problem) = loops::problem(stage, used, instruction) {
        return Some(problem);
    }
    let axes = match loops::axes(of.pipeline, func, stage, used) {
        Ok(axes) => axes,
        Err(problem) => return Some(problem),
    };
    let inline = |other: FuncId| of.is_inline(other);
    let own = Side { pipeline: of.pipeline, func, stage: number, is_inline: &inline };
    let mut first = None;
    for form in forms {
        let inner = |other: FuncId| other != form.func;
        let needle = Side { pipeline: &form.pipeline, func: form.func, stage: form.stage, is_inline: &inner };
        match match_meaning(instruction, &needle, &own, &Axes::of_form(form), &axes) {
            Ok(operands) => return layout::problem(of, instruction, form, &operands, &axes),
            Err(problem) => first = first.or(Some(problem)),
        }
    }
    first
}

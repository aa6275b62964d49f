//! Checks that stages compute what the instructions that they `use` mean: the loops fit ([`loops`]), the definition is
//! the meaning ([`meaning`]), and the operands lie as the instruction reads them ([`layout`]).

mod call;
mod funcs;
mod layout;
mod loops;
mod mappings;
mod meaning;
mod obstacle;
mod view;

use super::diagnostics::{CallObstacle, Errors, Problem};
use super::levels::with_loops;
use super::named_instructions::NamedInstructions;
use super::stage::{StageDraft, UseDraft};
use super::types::InstructionCall;
use crate::schedule::InstructionSet;
use call::Matched;
pub(super) use funcs::Funcs;
use halide_core::externs::ExternDef;
use halide_core::ids::FuncId;
pub use mappings::{MapError, Mapping, mappings};
use meaning::{Axes, Side, match_meaning};

/// A call that a directive makes of the loops of a stage, with its closure.
pub(super) type Called = ((FuncId, usize), usize, InstructionCall, ExternDef);

/// Checks the instructions of every stage, and returns the calls of closures that they are; `funcs` are those that the
/// schedule speaks of.
pub(super) fn check(
    funcs: impl Iterator<Item = FuncId>,
    of: &Funcs<'_>,
    set: &NamedInstructions<'_>,
    errors: &mut Errors<'_>,
) -> Vec<Called> {
    let mut calls: Vec<Called> = Vec::new();
    for func in funcs.filter(|func| !of.is_inline(*func)) {
        for (number, stage) in of.drafts[func].stages.iter().enumerate() {
            for variant in with_loops(stage) {
                for used in &variant.uses {
                    match checked(of, (func, number), variant, used, set.get()) {
                        Ok(None) => {}
                        // Variants that were opened behind a directive have its call, too.
                        Ok(Some(_))
                            if calls
                                .iter()
                                .any(|(at, directive, ..)| (*at, *directive) == ((func, number), used.directive)) => {}
                        Ok(Some((call, callee))) => calls.push(((func, number), used.directive, call, callee)),
                        Err(problem) => errors.report(used.directive, problem),
                    }
                }
            }
        }
    }
    calls
}

/// The call that a stage makes of an instruction, if a closure computes that; or the first thing that does not fit.
fn checked(
    of: &Funcs<'_>,
    at: (FuncId, usize),
    stage: &StageDraft,
    used: &UseDraft,
    set: &InstructionSet,
) -> Result<Option<(InstructionCall, ExternDef)>, Problem> {
    // Names are known by now.
    let Some((instruction, forms)) = set.known(&used.plan.instruction) else { return Ok(None) };
    if let Some(problem) = loops::problem(stage, used, instruction) {
        return Err(problem);
    }
    let axes = loops::axes(of.pipeline, at.0, stage, used)?;
    let inline = |other: FuncId| of.is_inline(other);
    let own = Side { pipeline: of.pipeline, func: at.0, stage: at.1, is_inline: &inline };
    let mut first = None;
    for form in forms {
        let inner = |other: FuncId| other != form.func;
        let needle = Side { pipeline: &form.pipeline, func: form.func, stage: form.stage, is_inline: &inner };
        let meant = Axes::of_form(form);
        match match_meaning(instruction, &needle, &own, &meant, &axes) {
            Ok(operands) => {
                if let Some(problem) = layout::problem(of, instruction, form, &operands, &axes) {
                    return Err(problem);
                }
                let Some(f) = instruction.call() else { return Ok(None) };
                let failed = |why| Problem::InstructionCalled { instruction: instruction.name().to_string(), why };
                if let Some(why) = obstacle::obstacle(of, at, stage, used, &operands) {
                    return Err(failed(why));
                }
                let extents = used.plan.vars.iter().map(|var| stage.extent(*var)).collect::<Option<Vec<i64>>>();
                let extents = extents.ok_or_else(|| failed(CallObstacle::Large))?;
                let (meant, axes, extents) = (&meant, &axes, &extents[..]);
                let matched = Matched { pipeline: of.pipeline, at, form, meant, axes, extents };
                let call = matched.call(instruction, f, &operands, used.plan.at);
                return call.map(Some).ok_or_else(|| failed(CallObstacle::Large));
            }
            Err(problem) => first = first.or(Some(problem)),
        }
    }
    first.map_or(Ok(None), Err)
}

//! Every Func while directives are applied: what a schedule says, resolved to ids, before levels are chosen.

mod called;
mod drafter;
mod func;
mod func_draft;
mod loops;
mod memoized;
mod said;
mod storage;

pub(super) use func_draft::{CalleeRole, FuncDraft, Request};
pub(super) use said::{float_mode, said_monoid};

use drafter::Drafter;
use func_draft::empty;

use super::diagnostics::Errors;
use super::named_instructions::NamedInstructions;
use super::rewritten::Rewritten;
use crate::schedule::{Directive, Schedule, Scope, Verb};
use halide_core::ids::{FuncId, IdVec};
use halide_ir::target::Target;

/// Applies every directive of `schedule` that is not a rewrite of the graph and was not spent on one. Nothing more is
/// said about the Funcs that rewrites could not make.
pub(super) fn apply(
    rewritten: &Rewritten,
    (schedule, instructions): (&Schedule, &NamedInstructions<'_>),
    target: &Target,
    errors: &mut Errors<'_>,
) -> IdVec<FuncId, FuncDraft> {
    let Rewritten { pipeline, not_made, spent, joined } = rewritten;
    let unknown = not_made.clone();
    let names = pipeline.funcs.enumerate().map(|(id, f)| (f.name.as_str(), id)).collect();
    let mut drafter = Drafter { pipeline, schedule, instructions, target, joined, errors, names, unknown };
    let mut drafts: IdVec<FuncId, FuncDraft> = pipeline.funcs.ids().map(|f| empty(pipeline, f)).collect();
    // Bounds first: they make extents constant, which the tails of splits depend on.
    // Rewrites of the graph have been applied.
    let is_done = |number: usize, directive: &Directive| match &directive.verb {
        // Its loop and its region are said here.
        Verb::TupleStorage { .. } => false,
        verb => verb.scope() == Scope::Graph || spent.contains(&number),
    };
    for (number, directive) in schedule.directives().iter().enumerate() {
        if is_done(number, directive) {
            continue;
        }
        if let Some(func) = drafter.subject_func(number, &directive.subject) {
            drafter.bound(number, directive, func, &mut drafts[func]);
        }
    }
    for func in pipeline.funcs.ids() {
        drafts[func].stages = drafter.stages(func, &drafts[func].bounds);
    }
    for (number, directive) in schedule.directives().iter().enumerate() {
        if is_done(number, directive) {
            continue;
        }
        if let Some(func) = drafter.known_func(&directive.subject.func) {
            if let Some(problem) = called::refused(&pipeline.funcs[func].name, drafts[func].called, &directive.verb) {
                drafter.errors.report(number, problem);
                continue;
            }
            drafter.directive(number, directive, func, &mut drafts[func]);
        }
    }
    drafts
}

//! Names and numbers of directives, resolved, and the stages that they speak of.

use super::func_draft::FuncDraft;
use super::said::{float_mode, said_monoid};
use crate::plan::convert;
use crate::plan::diagnostics::{Errors, OrderReason, Problem};
use crate::plan::facts::{any_order, facts};
use crate::plan::monoid::{self, Fold, MonoidReason};
use crate::plan::named_instructions::NamedInstructions;
use crate::plan::owner::with_owner;
use crate::plan::stage::StageDraft;
use crate::plan::types::BoundConstraint;
use crate::schedule::{Amount, Directive, Identity, Schedule, Scope, Subject, closest};
use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_ir::{Expr, build};
use std::collections::{BTreeMap, BTreeSet};

/// The state of resolving directives.
pub(super) struct Drafter<'p, 'e, 's> {
    pub(super) pipeline: &'p Pipeline,
    pub(super) schedule: &'p Schedule,
    pub(super) instructions: &'p NamedInstructions<'p>,
    pub(super) target: &'p Target,
    /// The Funcs whose elements are coordinates of their first dimension, with the number of elements.
    pub(super) joined: &'p BTreeMap<FuncId, i64>,
    pub(super) errors: &'e mut Errors<'s>,
    pub(super) names: BTreeMap<&'p str, FuncId>,
    /// Unknown Funcs that have been reported.
    pub(super) unknown: BTreeSet<String>,
}

impl Drafter<'_, '_, '_> {
    pub(super) fn known_func(&self, name: &str) -> Option<FuncId> {
        self.names.get(name).copied()
    }

    /// The Func of a subject; an unknown one is reported once.
    pub(super) fn subject_func(&mut self, number: usize, subject: &Subject) -> Option<FuncId> {
        let known = self.known_func(&subject.func);
        if known.is_none() && self.unknown.insert(subject.func.clone()) {
            self.errors.report(number, unknown_func(self.pipeline, &subject.func));
        }
        known
    }

    /// The stages of a Func without any directive.
    pub(super) fn stages(&self, func: FuncId, bounds: &[BoundConstraint]) -> Vec<StageDraft> {
        let dim_extent = |dim: usize| bounds[dim].extent.as_ref().and_then(build::as_int);
        let count = self.pipeline.funcs[func].stages.len();
        let stage = |stage| {
            let subject = Subject { stage, ..Subject::func(self.pipeline.funcs[func].name.clone()) };
            let text = self.schedule.subject_text(&subject);
            let mut facts = facts(self.pipeline, func, stage);
            if let Some((identity, commutes)) = said_monoid(self.schedule, &subject)
                && let Ok(fold) = self.monoid(func, stage, identity, commutes)
            {
                facts.order = any_order(&fold, OrderReason::NotCommutative);
            }
            let mut draft = StageDraft::new(text, facts, &dim_extent);
            draft.float = float_mode(self.schedule, &subject, self.schedule.len());
            draft
        };
        (0..count).map(stage).collect()
    }

    /// Returns the fold that the schedule vouches for, or the reason that the update is not one.
    pub(super) fn monoid(
        &self,
        func: FuncId,
        stage: usize,
        identity: &[Identity],
        commutes: bool,
    ) -> Result<Fold, MonoidReason> {
        monoid::declared(self.pipeline, func, &self.pipeline.funcs[func].stages[stage], identity, commutes)
    }

    /// The dimension of a Func by name.
    pub(super) fn dim(&self, func: FuncId, name: &str) -> Result<usize, Problem> {
        let def = &self.pipeline.funcs[func];
        let dims = || def.args.iter().map(|&v| self.pipeline.vars[v].as_str());
        dims().position(|d| d == name).ok_or_else(|| Problem::UnknownDim {
            func: def.name.clone(),
            name: name.to_string(),
            dims: dims().map(str::to_string).collect(),
            near: closest(name, dims()).map(str::to_string),
        })
    }

    pub(super) fn amount(
        &self,
        func: FuncId,
        what: &'static str,
        least: i64,
        amount: &Amount,
    ) -> Result<Expr, Problem> {
        convert::amount(self.pipeline, self.target, func, what, least, amount)
    }

    /// Applies one directive.
    pub(super) fn directive(&mut self, number: usize, directive: &Directive, func: FuncId, draft: &mut FuncDraft) {
        let subject = &directive.subject;
        if directive.verb.scope() == Scope::Stage {
            draft.needs_loops.get_or_insert(number);
            let stage = self.stage(number, subject, func, draft);
            if let Some(problem) = stage.and_then(|stage| self.stage_directive(number, directive, func, stage)) {
                self.errors.report(number, with_owner(problem, &draft.stages));
            }
            return;
        }
        if subject.stage > 0 || !subject.specializations.is_empty() {
            self.errors.report(number, Problem::WholeFunc { func: subject.func.clone() });
            return;
        }
        let result = self.func_directive(number, directive, func, draft);
        self.errors.keep(number, result);
    }

    /// The stage or specialisation that a subject names.
    fn stage<'d>(
        &mut self,
        number: usize,
        subject: &Subject,
        func: FuncId,
        draft: &'d mut FuncDraft,
    ) -> Option<&'d mut StageDraft> {
        let updates = draft.stages.len() - 1;
        let Some(mut stage) = draft.stages.get_mut(subject.stage) else {
            let func = self.pipeline.funcs[func].name.clone();
            self.errors.report(number, Problem::UnknownUpdate { func, updates });
            return None;
        };
        for &index in &subject.specializations {
            let count = stage.variants.len();
            stage = match stage.variants.get_mut(index) {
                Some((.., variant)) => variant,
                None => {
                    self.errors.report(number, Problem::UnknownSpecialization { index, count });
                    return None;
                }
            };
        }
        Some(stage)
    }
}

/// Returns the error that there is no Func called `name`. For an input image of that name, it suggests the Func that
/// wraps it.
pub(super) fn unknown_func(pipeline: &Pipeline, name: &str) -> Problem {
    if pipeline.images.iter().any(|i| i.name == name) {
        return Problem::UnknownFunc { name: name.to_string(), near: Some(format!("{name}.in()")) };
    }
    let near = closest(name, pipeline.funcs.iter().map(|f| f.name.as_str())).map(str::to_string);
    Problem::UnknownFunc { name: name.to_string(), near }
}

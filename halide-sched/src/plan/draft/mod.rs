//! Every Func while directives are applied: what a schedule says, resolved to ids, before levels are chosen.

mod func;
mod loops;

pub(super) use loops::{float_mode, said_monoid};

use super::convert;
use super::diagnostics::{Errors, OrderReason, Problem};
use super::facts::{any_order, facts};
use super::stage::StageDraft;
use crate::plan::{BoundConstraint, Room, StorageDim};
use crate::schedule::{Amount, Directive, Schedule, Scope, Subject, closest};
use halide_core::ids::{FuncId, IdVec};
use halide_core::pipeline::{DimField, Kind, Pipeline};
use halide_core::shape::{BufferOf, Law};
use halide_ir::target::Target;
use halide_ir::{Expr, build};
use std::collections::{BTreeMap, BTreeSet};

/// The directives about one Func, collected.
#[derive(Clone, Debug)]
pub(super) struct FuncDraft {
    pub(super) compute: Option<(Request, usize)>,
    pub(super) store: Option<(Request, usize)>,
    pub(super) hoist: Option<(Request, usize)>,
    pub(super) storage: Vec<StorageDim>,
    pub(super) memory: halide_ir::Memory,
    /// The directive that chose the memory.
    pub(super) memory_by: Option<usize>,
    /// The memories, of host or device, to which the values are copied, each with the directive that says so.
    pub(super) copies: BTreeMap<halide_ir::Residency, usize>,
    pub(super) bounds: Vec<BoundConstraint>,
    pub(super) room: Vec<Option<Room>>,
    pub(super) estimates: Vec<Option<(i64, i64)>>,
    pub(super) stages: Vec<StageDraft>,
    /// The first directive that only makes sense for a Func with loops or storage.
    pub(super) needs_loops: Option<usize>,
    /// The first directive that only makes sense for a Func whose memory is ours.
    pub(super) needs_storage: Option<usize>,
    /// The last directive that folds the storage.
    pub(super) folded: Option<usize>,
}

/// A level that a directive asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Inline,
    Root,
    At { func: FuncId, stage: usize, var: String },
}

/// Applies every directive of `schedule` that is not a rewrite of the graph and was not spent on one. Nothing more is said
/// about the Funcs that rewrites could not make.
pub(super) fn apply(
    pipeline: &Pipeline,
    schedule: &Schedule,
    target: &Target,
    not_made: BTreeSet<String>,
    spent: &BTreeSet<usize>,
    errors: &mut Errors<'_>,
) -> IdVec<FuncId, FuncDraft> {
    let names = pipeline.funcs.enumerate().map(|(id, f)| (f.name.as_str(), id)).collect();
    let mut drafter = Drafter { pipeline, schedule, target, errors, names, unknown: not_made };
    let mut drafts: IdVec<FuncId, FuncDraft> = pipeline.funcs.ids().map(|f| empty(pipeline, f)).collect();
    // Bounds first: they make extents constant, which the tails of splits depend on.
    // Rewrites of the graph have been applied.
    let is_done =
        |number: usize, directive: &Directive| directive.verb.scope() == Scope::Graph || spent.contains(&number);
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
            drafter.directive(number, directive, func, &mut drafts[func]);
        }
    }
    drafts
}

fn empty(pipeline: &Pipeline, func: FuncId) -> FuncDraft {
    let dims = pipeline.funcs[func].dims();
    FuncDraft {
        compute: None,
        store: None,
        hoist: None,
        storage: (0..dims).map(|dim| StorageDim { dim, align: 1, fold: None, at: None }).collect(),
        memory: halide_ir::Memory::Auto,
        memory_by: None,
        copies: BTreeMap::new(),
        bounds: (0..dims).map(|dim| ruled(pipeline, func, dim)).collect(),
        room: vec![None; dims],
        estimates: vec![None; dims],
        stages: Vec::new(),
        needs_loops: None,
        needs_storage: None,
        folded: None,
    }
}

/// Returns the extent that rules of the algorithm give to an output's dimension: constants only, since these make loops
/// constant.
fn ruled(pipeline: &Pipeline, func: FuncId, dim: usize) -> BoundConstraint {
    let mut constraint = BoundConstraint::default();
    let rules = pipeline.shapes.iter().filter(|r| r.of == BufferOf::Output(func) && r.dim == dim);
    for rule in rules.filter(|_| pipeline.outputs.contains(&func)) {
        let Law::Is(e) = rule.law else { continue };
        let Kind::Const(value) = pipeline.exprs[e].kind else { continue };
        if rule.field == DimField::Extent {
            constraint.extent = Some(build::int(value.as_i64()));
        }
    }
    constraint
}

struct Drafter<'p, 'e, 's> {
    pipeline: &'p Pipeline,
    schedule: &'p Schedule,
    target: &'p Target,
    errors: &'e mut Errors<'s>,
    names: BTreeMap<&'p str, FuncId>,
    /// Unknown Funcs that have been reported.
    unknown: BTreeSet<String>,
}

impl Drafter<'_, '_, '_> {
    fn known_func(&self, name: &str) -> Option<FuncId> {
        self.names.get(name).copied()
    }

    /// The Func of a subject; an unknown one is reported once.
    fn subject_func(&mut self, number: usize, subject: &Subject) -> Option<FuncId> {
        let known = self.known_func(&subject.func);
        if known.is_none() && self.unknown.insert(subject.func.clone()) {
            self.errors.report(number, unknown_func(self.pipeline, &subject.func));
        }
        known
    }

    /// The stages of a Func without any directive.
    fn stages(&self, func: FuncId, bounds: &[BoundConstraint]) -> Vec<StageDraft> {
        let dim_extent = |dim: usize| bounds[dim].extent.as_ref().and_then(build::as_int);
        let count = self.pipeline.funcs[func].stages.len();
        let stage = |stage| {
            let subject = Subject { stage, ..Subject::func(self.pipeline.funcs[func].name.clone()) };
            let text = self.schedule.subject_text(&subject);
            let mut facts = facts(self.pipeline, func, stage);
            if let Some((identity, commutes)) = loops::said_monoid(self.schedule, &subject)
                && let Ok(fold) = self.monoid(func, stage, identity, commutes)
            {
                facts.order = any_order(&fold, OrderReason::NotCommutative);
            }
            let mut draft = StageDraft::new(text, facts, &dim_extent);
            draft.float = loops::float_mode(self.schedule, &subject, self.schedule.len());
            draft
        };
        (0..count).map(stage).collect()
    }

    /// The dimension of a Func by name.
    fn dim(&self, func: FuncId, name: &str) -> Result<usize, Problem> {
        let def = &self.pipeline.funcs[func];
        let dims = || def.args.iter().map(|&v| self.pipeline.vars[v].as_str());
        dims().position(|d| d == name).ok_or_else(|| Problem::UnknownDim {
            func: def.name.clone(),
            name: name.to_string(),
            dims: dims().map(str::to_string).collect(),
            near: closest(name, dims()).map(str::to_string),
        })
    }

    fn amount(&self, func: FuncId, what: &'static str, least: i64, amount: &Amount) -> Result<Expr, Problem> {
        convert::amount(self.pipeline, self.target, func, what, least, amount)
    }

    /// Applies one directive.
    fn directive(&mut self, number: usize, directive: &Directive, func: FuncId, draft: &mut FuncDraft) {
        let subject = &directive.subject;
        if directive.verb.scope() == Scope::Stage {
            draft.needs_loops.get_or_insert(number);
            if let Some(stage) = self.stage(number, subject, func, draft) {
                self.stage_directive(number, directive, func, stage);
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
fn unknown_func(pipeline: &Pipeline, name: &str) -> Problem {
    if pipeline.images.iter().any(|i| i.name == name) {
        return Problem::UnknownFunc { name: name.to_string(), near: Some(format!("{name}.in()")) };
    }
    let near = closest(name, pipeline.funcs.iter().map(|f| f.name.as_str())).map(str::to_string);
    Problem::UnknownFunc { name: name.to_string(), near }
}

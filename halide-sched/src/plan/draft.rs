//! Every Func while directives are applied: what a schedule says, resolved to ids, before levels are chosen.

use super::convert;
use super::error::{Errors, Problem};
use super::facts::facts;
use super::stage::{Applied, Source, StageDraft};
use crate::ir::{self, Expr, build};
use crate::plan::{BoundConstraint, StorageDim};
use crate::schedule::{
    Amount, Condition, Directive, FloatMode, LoopKind, Schedule, Site, Subject, Tail, Verb, closest,
};
use crate::target::Target;
use halide_core::ids::{FuncId, IdVec};
use halide_core::pipeline::Pipeline;
use std::collections::{BTreeMap, BTreeSet};

/// What a schedule says of one Func.
#[derive(Clone, Debug)]
pub(super) struct FuncDraft {
    pub(super) compute: Option<(Request, usize)>,
    pub(super) store: Option<(Request, usize)>,
    pub(super) hoist: Option<(Request, usize)>,
    pub(super) storage: Vec<StorageDim>,
    pub(super) memory: ir::Memory,
    pub(super) bounds: Vec<BoundConstraint>,
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

/// Applies every directive of `schedule` that is not a rewrite of the graph. Nothing more is said about the Funcs that
/// rewrites could not make.
pub(super) fn apply(
    pipeline: &Pipeline,
    schedule: &Schedule,
    target: &Target,
    not_made: BTreeSet<String>,
    errors: &mut Errors<'_>,
) -> IdVec<FuncId, FuncDraft> {
    let names = pipeline.funcs.enumerate().map(|(id, f)| (f.name.as_str(), id)).collect();
    let mut drafter = Drafter { pipeline, schedule, target, errors, names, unknown: not_made };
    let mut drafts: IdVec<FuncId, FuncDraft> = pipeline.funcs.ids().map(|f| empty(pipeline, f)).collect();
    // Bounds first: they make extents constant, which the tails of splits depend on.
    for (number, directive) in schedule.directives().iter().enumerate() {
        if is_rewrite(&directive.verb) {
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
        if let Some(func) = drafter.known_func(&directive.subject.func).filter(|_| !is_rewrite(&directive.verb)) {
            drafter.directive(number, directive, func, &mut drafts[func]);
        }
    }
    drafts
}

/// Whether a directive changes the graph; those have been applied.
pub(super) fn is_rewrite(verb: &Verb) -> bool {
    matches!(verb, Verb::In { .. } | Verb::CloneIn { .. })
}

fn empty(pipeline: &Pipeline, func: FuncId) -> FuncDraft {
    let dims = pipeline.funcs[func].dims();
    FuncDraft {
        compute: None,
        store: None,
        hoist: None,
        storage: (0..dims).map(|dim| StorageDim { dim, align: 1, fold: None }).collect(),
        memory: ir::Memory::Auto,
        bounds: vec![BoundConstraint::default(); dims],
        stages: Vec::new(),
        needs_loops: None,
        needs_storage: None,
        folded: None,
    }
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
            let mut draft = StageDraft::new(text, facts(self.pipeline, func, stage), &dim_extent);
            draft.float = float_mode(self.schedule, &subject, self.schedule.len());
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

    /// Applies a directive about the region of a Func.
    fn bound(&mut self, number: usize, directive: &Directive, func: FuncId, draft: &mut FuncDraft) {
        let result = self.bound_constraint(directive, func, draft);
        if let Some(Some(dim)) = self.errors.keep(number, result) {
            draft.bounds[dim].at = directive.at;
        }
    }

    fn bound_constraint(
        &self,
        directive: &Directive,
        func: FuncId,
        draft: &mut FuncDraft,
    ) -> Result<Option<usize>, Problem> {
        let positive = |what, value: i64| match value {
            1.. => Ok(()),
            _ => Err(Problem::TooSmall { what, value, least: 1 }),
        };
        Ok(Some(match &directive.verb {
            Verb::Bound { var, min, extent } => {
                let dim = self.dim(func, var)?;
                let min = self.amount(func, "minimum", i32::MIN.into(), min)?;
                let extent = self.amount(func, "extent", 1, extent)?;
                (draft.bounds[dim].min, draft.bounds[dim].extent) = (Some(min), Some(extent));
                dim
            }
            Verb::BoundExtent { var, extent } => {
                let dim = self.dim(func, var)?;
                draft.bounds[dim].extent = Some(self.amount(func, "extent", 1, extent)?);
                dim
            }
            Verb::AlignBounds { var, modulus, remainder } => {
                let dim = self.dim(func, var)?;
                positive("modulus", *modulus)?;
                draft.bounds[dim].align = Some((*modulus, remainder.rem_euclid(*modulus)));
                dim
            }
            Verb::AlignExtent { var, modulus } => {
                let dim = self.dim(func, var)?;
                positive("modulus", *modulus)?;
                draft.bounds[dim].align_extent = Some(*modulus);
                dim
            }
            _ => return Ok(None),
        }))
    }

    /// Applies one directive.
    fn directive(&mut self, number: usize, directive: &Directive, func: FuncId, draft: &mut FuncDraft) {
        let subject = &directive.subject;
        if speaks_of_stage(&directive.verb) {
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

    fn stage_directive(&mut self, number: usize, directive: &Directive, func: FuncId, stage: &mut StageDraft) {
        let text = directive.verb.to_string();
        let source = Source { number, at: directive.at, text: &text };
        let result = match &directive.verb {
            Verb::Specialize(condition) => self.specialize(&directive.subject, condition, stage),
            Verb::SpecializeFail(message) => {
                stage.fail = Some((message.clone(), directive.at));
                Ok(())
            }
            verb => self.loop_directive(verb, func, stage, &source),
        };
        if let Err(problem) = result {
            problem.into_iter().for_each(|p| self.errors.report(number, p));
            match &directive.verb {
                Verb::Split { outer, inner, .. } => stage.break_names(&[outer, inner]),
                Verb::Fuse { fused, .. } => stage.break_names(&[fused]),
                Verb::Rename { to, .. } => stage.break_names(&[to]),
                _ => {}
            }
        }
    }

    fn loop_directive(&self, verb: &Verb, func: FuncId, stage: &mut StageDraft, source: &Source<'_>) -> Applied {
        match verb {
            Verb::Split { var, outer, inner, factor, tail } => {
                stage.find(var)?;
                let factor = self.amount(func, "factor", 1, factor).map_err(Some)?;
                stage.split([var, outer, inner], factor, *tail, source)?;
            }
            Verb::Fuse { inner, outer, fused } => stage.fuse(inner, outer, fused, source)?,
            Verb::Rename { from, to } => stage.rename(from, to, source)?,
            Verb::Reorder(vars) => stage.reorder(vars)?,
            Verb::Mark { kind, var, factor: None, .. } => stage.mark(var, *kind, source.number)?,
            Verb::Mark { kind, var, factor: Some(factor), tail } => {
                stage.find(var)?;
                let factor = self.amount(func, "factor", 1, factor).map_err(Some)?;
                mark_part(stage, *kind, var, factor, *tail, source)?;
            }
            Verb::Partition { var, how } => {
                let position = stage.find(var)?;
                stage.loops[position].partition = *how;
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens a variant. A condition that makes no sense opens one all the same, so that the others keep their numbers.
    fn specialize(&mut self, subject: &Subject, condition: &Condition, stage: &mut StageDraft) -> Applied {
        let mut path = subject.clone();
        path.specializations.push(stage.variants.len());
        let mut variant = stage.variant(self.schedule.subject_text(&path));
        variant.float = float_mode(self.schedule, &path, self.schedule.len());
        let made = convert::condition(self.pipeline, condition);
        let text = condition.to_string();
        let repeated = stage.variants.iter().any(|(_, t, _)| *t == text);
        let cond = made.as_ref().map_or_else(|_| build::boolean(true), Expr::clone);
        stage.variants.push((cond, text.clone(), variant));
        match made {
            Err(problem) => Err(Some(problem)),
            Ok(_) if stage.fail.is_some() => Err(Some(Problem::AfterFail)),
            Ok(_) if repeated => Err(Some(Problem::RepeatedCondition { condition: text })),
            Ok(_) => Ok(()),
        }
    }

    fn func_directive(
        &mut self,
        number: usize,
        directive: &Directive,
        func: FuncId,
        draft: &mut FuncDraft,
    ) -> Result<(), Problem> {
        match &directive.verb {
            Verb::ComputeInline => draft.compute = Some((Request::Inline, number)),
            Verb::ComputeRoot => draft.compute = Some((Request::Root, number)),
            Verb::ComputeAt(site) => draft.compute = Some((self.site(func, site)?, number)),
            Verb::StoreRoot => draft.store = Some((Request::Root, number)),
            Verb::StoreAt(site) => draft.store = Some((self.site(func, site)?, number)),
            Verb::HoistStorageRoot => draft.hoist = Some((Request::Root, number)),
            Verb::HoistStorage(site) => draft.hoist = Some((self.site(func, site)?, number)),
            Verb::Bound { .. } | Verb::BoundExtent { .. } | Verb::AlignBounds { .. } | Verb::AlignExtent { .. } => {
                draft.needs_loops.get_or_insert(number);
            }
            Verb::ReorderStorage(dims) => {
                draft.needs_loops.get_or_insert(number);
                self.reorder_storage(func, dims, draft)?;
            }
            Verb::AlignStorage { var, multiple } => {
                self.own_storage(number, draft);
                let dim = self.dim(func, var)?;
                storage_amount("multiple", *multiple)?;
                draft.storage.iter_mut().filter(|s| s.dim == dim).for_each(|s| s.align = *multiple);
            }
            Verb::FoldStorage { var, factor, forward } => {
                self.own_storage(number, draft);
                draft.folded = Some(number);
                let dim = self.dim(func, var)?;
                storage_amount("factor", *factor)?;
                draft.storage.iter_mut().filter(|s| s.dim == dim).for_each(|s| s.fold = Some((*factor, *forward)));
            }
            Verb::StoreIn(memory) => {
                self.own_storage(number, draft);
                draft.memory = *memory;
            }
            _ => {}
        }
        Ok(())
    }

    fn own_storage(&self, number: usize, draft: &mut FuncDraft) {
        draft.needs_loops.get_or_insert(number);
        draft.needs_storage.get_or_insert(number);
    }

    fn reorder_storage(&self, func: FuncId, dims: &[String], draft: &mut FuncDraft) -> Result<(), Problem> {
        let mut places = Vec::new();
        for name in dims {
            let dim = self.dim(func, name)?;
            let place = draft.storage.iter().position(|s| s.dim == dim).expect("every dimension is stored");
            if places.contains(&place) {
                return Err(Problem::Repeated { name: name.clone() });
            }
            places.push(place);
        }
        let listed: Vec<StorageDim> = places.iter().map(|&p| draft.storage[p].clone()).collect();
        places.sort_unstable();
        places.into_iter().zip(listed).for_each(|(p, s)| draft.storage[p] = s);
        Ok(())
    }

    /// The loop that a site names; whether it exists is checked when all loops are known.
    fn site(&self, func: FuncId, site: &Site) -> Result<Request, Problem> {
        let Some(host) = self.known_func(&site.func) else { return Err(unknown_func(self.pipeline, &site.func)) };
        if host == func {
            return Err(Problem::SiteItself { func: site.func.clone() });
        }
        let updates = self.pipeline.funcs[host].stages.len() - 1;
        if site.stage > updates {
            return Err(Problem::UnknownUpdate { func: site.func.clone(), updates });
        }
        Ok(Request::At { func: host, stage: site.stage, var: site.var.clone() })
    }
}

fn storage_amount(what: &'static str, value: i64) -> Result<(), Problem> {
    match value {
        ..1 => Err(Problem::TooSmall { what, value, least: 1 }),
        _ if value > i32::MAX.into() => Err(Problem::TooLarge { what, value, most: i32::MAX.into() }),
        _ => Ok(()),
    }
}

/// Splits a loop and gives one part a kind: the inner part, or the outer one if it is to be parallel. The outer part
/// keeps the name.
fn mark_part(
    stage: &mut StageDraft,
    kind: LoopKind,
    var: &str,
    factor: Expr,
    tail: Tail,
    source: &Source<'_>,
) -> Applied {
    let letter = match kind {
        LoopKind::Serial => 's',
        LoopKind::Parallel => 'p',
        LoopKind::Vectorized => 'v',
        LoopKind::Unrolled => 'u',
    };
    let inner = stage.unused_name(&format!("{var}${letter}"));
    let outer_at = stage.split([var, var, &inner], factor, tail, source)?;
    let marked = &mut stage.loops[if kind == LoopKind::Parallel { outer_at } else { outer_at + 1 }];
    (marked.kind, marked.mark) = (kind, Some(source.number));
    Ok(())
}

fn speaks_of_stage(verb: &Verb) -> bool {
    matches!(
        verb,
        Verb::Split { .. }
            | Verb::Fuse { .. }
            | Verb::Rename { .. }
            | Verb::Reorder(_)
            | Verb::Mark { .. }
            | Verb::Partition { .. }
            | Verb::Specialize(_)
            | Verb::SpecializeFail(_)
            | Verb::Float(_)
    )
}

/// That there is no Func called `name`.
fn unknown_func(pipeline: &Pipeline, name: &str) -> Problem {
    let near = closest(name, pipeline.funcs.iter().map(|f| f.name.as_str())).map(str::to_string);
    Problem::UnknownFunc { name: name.to_string(), near }
}

/// How floats of a stage may be treated when all directives up to number `limit` have been applied: as the last one
/// says, or as the stage's general case did when the specialisation was opened.
fn float_mode(schedule: &Schedule, subject: &Subject, limit: usize) -> FloatMode {
    let before = &schedule.directives()[..limit];
    let said = before.iter().rev().filter(|d| d.subject == *subject).find_map(|d| match d.verb {
        Verb::Float(mode) => Some(mode),
        _ => None,
    });
    let Some((&index, outer)) = subject.specializations.split_last() else { return said.unwrap_or_default() };
    let outer = Subject { specializations: outer.to_vec(), ..subject.clone() };
    let opens = |(_, d): &(usize, &Directive)| d.subject == outer && matches!(d.verb, Verb::Specialize(_));
    let opened = before.iter().enumerate().filter(opens).nth(index).map_or(0, |(number, _)| number);
    said.unwrap_or_else(|| float_mode(schedule, &outer, opened))
}

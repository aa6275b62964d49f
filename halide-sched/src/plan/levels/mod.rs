//! The places at which each Func is computed, stored and allocated: consumers first, because a place is a loop of a
//! consumer.

mod called;
mod copies;
mod storage;

use super::compute_with::{self, Joined};
use super::diagnostics::{Errors, Problem};
use super::draft::{CalleeRole, FuncDraft, Request};
use super::graph::{Graph, Stage};
use super::owner::with_owner;
use super::stage::StageDraft;
use halide_core::ids::{FuncId, IdVec};
use std::collections::BTreeSet;

/// A level while names stand for loops.
pub(super) type DraftLevel = crate::plan::types::Level<String>;

/// The levels of one Func.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Levels {
    pub(super) compute: DraftLevel,
    pub(super) store: DraftLevel,
    pub(super) hoist: DraftLevel,
}

impl Levels {
    fn all(level: DraftLevel) -> Levels {
        Levels { compute: level.clone(), store: level.clone(), hoist: level }
    }
}

/// Chooses levels for every Func. Funcs with updates that are left inline are copied in `graph`, with their drafts, for
/// all places of use but the first.
pub(super) fn choose(
    graph: &mut Graph,
    drafts: &mut IdVec<FuncId, FuncDraft>,
    joined: &Joined,
    errors: &mut Errors<'_>,
) -> IdVec<FuncId, Levels> {
    let order = compute_with::order(graph, &graph.data().order, joined);
    let outputs = graph.data().outputs.iter().copied().collect();
    let chosen = drafts.iter().map(|_| None).collect();
    let mut chooser = Chooser {
        graph,
        drafts,
        joined,
        errors,
        outputs,
        chosen,
        misplaced: BTreeSet::new(),
        copies: 0,
        overflowed: false,
    };
    for &func in order.iter().rev() {
        let levels = chooser.choose(func);
        chooser.chosen[func] = Some(levels);
    }
    chooser.check_joined();
    // A Func that nothing calls any more is not realized; its levels mean nothing.
    chooser.chosen.iter().map(|l| l.clone().unwrap_or(Levels::all(DraftLevel::Root))).collect()
}

struct Chooser<'g, 'e, 's> {
    graph: &'g mut Graph,
    drafts: &'g mut IdVec<FuncId, FuncDraft>,
    joined: &'g Joined,
    errors: &'e mut Errors<'s>,
    outputs: BTreeSet<FuncId>,
    chosen: IdVec<FuncId, Option<Levels>>,
    /// Funcs whose place is wrong, which has been reported.
    misplaced: BTreeSet<FuncId>,
    copies: usize,
    overflowed: bool,
}

impl Chooser<'_, '_, '_> {
    fn name(&self, func: FuncId) -> String {
        self.graph.data().funcs[func].name.clone()
    }

    /// The name of a stage as in a schedule.
    fn stage_name(&self, (func, stage): Stage) -> String {
        self.drafts[func].stages[stage].subject.clone()
    }

    fn has_updates(&self, func: FuncId) -> bool {
        self.drafts[func].stages.len() > 1
    }

    /// Returns true if the Func is substituted into its consumers.
    fn is_inline(&self, func: FuncId) -> bool {
        let asked = self.drafts[func].compute.as_ref().map(|(request, _)| request);
        let is_own = self.outputs.contains(&func) || self.drafts[func].called.is_some();
        matches!(asked, None | Some(Request::Inline)) && !self.has_updates(func) && !is_own
    }

    /// The level where the values of a Func are computed, once it is chosen.
    fn compute_level(&self, func: FuncId) -> Option<&DraftLevel> {
        self.chosen[func].as_ref().map(|l| &l.compute)
    }

    fn choose(&mut self, func: FuncId) -> Levels {
        if self.outputs.contains(&func) {
            return self.output(func);
        }
        if self.drafts[func].memoized.is_some() {
            return self.memoized(func);
        }
        if self.drafts[func].called.is_some() {
            return Levels::all(self.of_call(func));
        }
        match self.drafts[func].compute.clone() {
            None | Some((Request::Inline, _)) => {
                if let Some((_, directive)) = self.drafts[func].store.as_ref().or(self.drafts[func].hoist.as_ref()) {
                    self.errors.report(*directive, Problem::StoreOfInline { func: self.name(func) });
                    return Levels::all(DraftLevel::Inline);
                }
                if self.has_updates(func) {
                    return Levels::all(self.at_each_use(func));
                }
                if let Some(directive) = self.drafts[func].needs_loops {
                    self.errors.report(directive, Problem::NothingToSchedule { func: self.name(func) });
                }
                Levels::all(DraftLevel::Inline)
            }
            Some((request, directive)) => {
                let level = match self.check_compute(func, &request) {
                    Ok(level) => level,
                    Err(problem) => {
                        problem.into_iter().for_each(|p| self.errors.report(directive, p));
                        self.misplaced.insert(func);
                        return Levels::all(DraftLevel::Root);
                    }
                };
                self.storage(func, level)
            }
        }
    }

    /// The directives that place a Func elsewhere than at the root.
    fn elsewhere(&self, func: FuncId) -> Vec<usize> {
        let draft = &self.drafts[func];
        let requests = [&draft.compute, &draft.store, &draft.hoist];
        let elsewhere = |r: &&Option<(Request, usize)>| matches!(r, Some((request, _)) if *request != Request::Root);
        requests.into_iter().filter(elsewhere).flatten().map(|(_, d)| *d).collect()
    }

    fn memoized(&mut self, func: FuncId) -> Levels {
        for directive in self.elsewhere(func) {
            self.errors.report(directive, Problem::MemoizeElsewhere { func: self.name(func) });
        }
        Levels::all(DraftLevel::Root)
    }

    fn output(&mut self, func: FuncId) -> Levels {
        for directive in self.elsewhere(func) {
            self.errors.report(directive, Problem::OutputLevel { func: self.name(func) });
        }
        if let Some(directive) = self.drafts[func].needs_storage {
            self.errors.report(directive, Problem::OutputStorage { func: self.name(func) });
        }
        Levels::all(DraftLevel::Root)
    }

    /// The stages that use a Func, directly or through Funcs that are inlined.
    fn users(&self, func: FuncId) -> BTreeSet<Stage> {
        let mut users = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut todo = vec![func];
        while let Some(f) = todo.pop() {
            for &(caller, stage) in self.graph.callers(f) {
                if !self.is_inline(caller) {
                    users.insert((caller, stage));
                } else if seen.insert(caller) {
                    todo.push(caller);
                }
            }
        }
        users
    }

    /// The level that a directive asks for, if it encloses every use.
    fn check_compute(&self, func: FuncId, request: &Request) -> Result<DraftLevel, Option<Problem>> {
        let level = self.check_site(func, request)?;
        let DraftLevel::At { func: host, stage, label: var } = &level else { return Ok(level) };
        let users = self.users(func);
        let place = |user: &Stage| self.is_inside(*user, (*host, *stage), var);
        if users.iter().any(|u| place(u).is_none()) {
            return Err(None);
        }
        let outside: Vec<&Stage> = users.iter().filter(|u| place(u) == Some(false)).collect();
        match outside.first() {
            None => Ok(level),
            Some((user, _)) if self.is_copied_by(*user, *host) => {
                Err(Some(Problem::CalleeSite { func: self.name(func), stage: self.name(*host) }))
            }
            Some(_) if outside.len() == users.len() && users.iter().all(|(f, _)| f != host) => {
                Err(Some(Problem::SiteNotConsumer { func: self.name(func), site: self.name(*host) }))
            }
            Some(&&consumer) => Err(Some(Problem::SiteOutside {
                func: self.name(func),
                consumer: self.stage_name(consumer),
                site: format!("`{var}` of `{}`", self.stage_name((*host, *stage))),
            })),
        }
    }

    /// The level that a directive asks for, if it exists.
    fn check_site(&self, func: FuncId, request: &Request) -> Result<DraftLevel, Option<Problem>> {
        let (host, stage, var) = match request {
            Request::Inline => return Ok(DraftLevel::Inline),
            Request::Root => return Ok(DraftLevel::Root),
            Request::At { func: host, stage, var } => (*host, *stage, var),
        };
        if self.is_inline(host) {
            return Err(Some(Problem::SiteInline { func: self.name(host) }));
        }
        if self.chosen[host].is_none() {
            return Err(Some(Problem::SiteNotConsumer { func: self.name(func), site: self.name(host) }));
        }
        if self.drafts[host].called == Some(CalleeRole::Values) {
            return Err(Some(Problem::CalleeValues { func: self.name(host) }));
        }
        let draft = &self.drafts[host].stages[stage];
        let var = match draft.find(var) {
            Ok(position) => draft.name(draft.loops[position].var).to_string(),
            // The general case never runs.
            Err(_) if draft.fail.is_some() => var.clone(),
            Err(problem) => return Err(problem.map(|p| with_owner(p, &self.drafts[host].stages))),
        };
        if let Some(condition) = variants_without(draft, &var).first() {
            let site = self.stage_name((host, stage));
            return Err(Some(Problem::SiteNotInVariant { site, var, variant: condition.clone() }));
        }
        Ok(self.place((host, stage), var))
    }

    /// The level inside of a loop of a stage. Where the loops of several stages run as one, it is that of their leader.
    fn place(&self, stage: Stage, var: String) -> DraftLevel {
        let draft = &self.drafts[stage.0].stages[stage.1];
        let (func, stage) = draft.position(&var).map_or(stage, |position| self.joined.owner(stage, position));
        DraftLevel::At { func, stage, label: var }
    }

    /// Checks that stages that are computed together are computed at one place.
    fn check_joined(&mut self) {
        for (stage, leader, directive) in self.joined.links() {
            let (Some(own), Some(theirs)) = (&self.chosen[stage.0], &self.chosen[leader.0]) else { continue };
            if own.compute != theirs.compute && ![stage.0, leader.0].iter().any(|f| self.misplaced.contains(f)) {
                let (of, leader) = (self.name(stage.0), self.name(leader.0));
                let (at, leader_at) = (self.level_text(&own.compute), self.level_text(&theirs.compute));
                self.errors.report(directive, Problem::WithElsewhere { of, at, leader, leader_at });
            }
        }
    }

    /// Returns true if all that a stage computes is computed inside of loop `var` of `host`. `None` if that cannot be
    /// said, because of a mistake that has been reported.
    fn is_inside(&self, user: Stage, host: Stage, var: &str) -> Option<bool> {
        let position = self.drafts[host.0].stages[host.1].position(var);
        let runs_in = |stage: Stage| stage == host || position.is_some_and(|p| p < self.joined.shared(stage, host));
        if runs_in(user) {
            return Some(true);
        }
        let mut func = user.0;
        loop {
            if self.misplaced.contains(&func) {
                return None;
            }
            match self.compute_level(func) {
                Some(DraftLevel::At { func: f, stage, label: at }) if (*f, *stage) == host => {
                    return Some(self.encloses(host, var, at));
                }
                Some(DraftLevel::At { func: f, stage, .. }) if runs_in((*f, *stage)) => return Some(true),
                Some(DraftLevel::At { func: f, .. }) => func = *f,
                _ => return Some(false),
            }
        }
    }

    /// Returns true if loop `outer` of a stage is loop `inner` or around it, in every variant.
    fn encloses(&self, (func, stage): Stage, outer: &str, inner: &str) -> bool {
        with_loops(&self.drafts[func].stages[stage]).iter().all(|v| v.position(outer) <= v.position(inner))
    }
}

/// The variants of a stage that have loops: specialisations first, then the general case.
pub(super) fn with_loops(stage: &StageDraft) -> Vec<&StageDraft> {
    let mut list: Vec<&StageDraft> = stage.variants.iter().flat_map(|(.., v)| with_loops(v)).collect();
    if stage.fail.is_none() {
        list.push(stage);
    }
    list
}

/// The conditions of the variants that have no loop `var`.
fn variants_without(stage: &StageDraft, var: &str) -> Vec<String> {
    let mut list = Vec::new();
    for (_, condition, variant) in &stage.variants {
        if variant.fail.is_none() && variant.position(var).is_none() && !variant.is_broken(var) {
            list.push(condition.clone());
        }
        list.extend(variants_without(variant, var));
    }
    list
}

//! Stages that need values of stages that they are computed with: whether each value is there when it is read.
//!
//! A stage that reads a Func may run in the loops of that Func's last stage, behind it, if it reads nothing but what
//! the same iteration of these loops, or an earlier one, has stored.

use super::joined::Joined;
use super::reads::reads_of;
use crate::plan::affine::affine;
use crate::plan::dependence::{Access, Together};
use crate::plan::diagnostics::{Problem, TogetherReason};
use crate::plan::draft::{FuncDraft, Request};
use crate::plan::graph::{Graph, Stage};
use crate::plan::stage::{LoopDraft, StageDraft};
use crate::plan::types::{Agreement, Property, StageVar};
use crate::schedule::Align;
use halide_core::ids::{FuncId, IdVec};
use halide_core::print;
use std::collections::BTreeSet;

/// The Funcs that are computed together, with those that they need values of.
pub(super) struct Kept<'k> {
    pub(super) graph: &'k Graph,
    pub(super) drafts: &'k IdVec<FuncId, FuncDraft>,
    pub(super) joined: &'k Joined,
}

impl Kept<'_> {
    fn draft(&self, (func, stage): Stage) -> &StageDraft {
        &self.drafts[func].stages[stage]
    }

    fn name(&self, func: FuncId) -> String {
        self.graph.data().funcs[func].name.clone()
    }

    /// Returns true if a Func has no loops and no storage of its own.
    pub(super) fn is_inlined(&self, func: FuncId) -> bool {
        let asks = !matches!(&self.drafts[func].compute, None | Some((Request::Inline, _)));
        !asks
            && self.drafts[func].called.is_none()
            && self.drafts[func].stages.len() == 1
            && !self.graph.data().outputs.contains(&func)
    }

    /// The stages that need values of `func`, directly or by way of Funcs that are inlined.
    pub(super) fn readers(&self, func: FuncId) -> BTreeSet<Stage> {
        let (mut found, mut seen, mut todo) = (BTreeSet::new(), BTreeSet::new(), vec![func]);
        while let Some(func) = todo.pop() {
            for &(caller, stage) in self.graph.callers(func) {
                if !self.is_inlined(caller) {
                    found.insert((caller, stage));
                } else if seen.insert(caller) {
                    todo.push(caller);
                }
            }
        }
        found
    }

    /// The properties of variables that must agree for the stages of `all`, which are computed together, to find what
    /// they need of each other, each with the stage that reads; or the reason that they do not find it.
    pub(super) fn agreements(&self, all: &BTreeSet<FuncId>) -> Result<Vec<(Stage, Agreement)>, Problem> {
        let mut agreements = Vec::new();
        for &producer in all {
            for reader in self.readers(producer).into_iter().filter(|(func, _)| *func != producer && all.contains(func))
            {
                let problem =
                    |why| Problem::WithDependent { consumer: self.name(reader.0), producer: self.name(producer), why };
                let last = (producer, self.drafts[producer].stages.len() - 1);
                if self.joined.root(last) != self.joined.root(reader) {
                    continue;
                }
                let shared = self.joined.shared(reader, last);
                if shared == 0 {
                    return Err(problem(TogetherReason::Before(self.name(producer))));
                }
                let found = self.agreements_of(reader, last, shared).map_err(problem)?;
                agreements.extend(found.into_iter().map(|agreement| (reader, agreement)));
            }
        }
        Ok(agreements)
    }

    /// The properties of variables that must agree where `reader` needs values of the stage `last`, with which it has
    /// `shared` loops.
    fn agreements_of(&self, reader: Stage, last: Stage, shared: usize) -> Result<Vec<Agreement>, TogetherReason> {
        if !self.joined.is_unaligned(reader, last) {
            return Err(TogetherReason::Aligned);
        }
        let reads =
            reads_of(self.graph.data(), last.0, reader, &|func| self.is_inlined(func)).ok_or(TogetherReason::Beyond)?;
        let (stores, own) = (self.draft(last), self.draft(reader));
        let kinds: Vec<bool> = stores.shared_loops(shared).map(|l| l.kind.is_concurrent()).collect();
        let at_once = |number: usize| kinds[number];
        // Pieces that begin earlier store later, and read what pieces before them have stored.
        let inside = |(_, l): &(usize, &LoopDraft)| stores.shifting(l.var, true).is_some();
        let moved = |(n, l): &(usize, &LoopDraft)| kinds[*n] && own.shifting(l.var, false).is_some();
        for (draft, var) in [
            (stores, stores.shared_loops(shared).enumerate().find(inside)),
            (own, own.shared_loops(shared).enumerate().find(moved)),
        ] {
            if let Some((_, l)) = var {
                return Err(TogetherReason::Shifts { of: draft.subject.clone(), var: draft.name(l.var).to_string() });
            }
        }
        let nests = [stores, own].map(|s| s.outer_nest(shared));
        let [stores, own] = nests;
        if stores.loops.len() != own.loops.len() {
            return Err(TogetherReason::Beyond);
        }
        let together = Together { stores, reads: own, at_once: &at_once };
        let agreements = together.agreements().map_err(|_| TogetherReason::Beyond)?;
        let store = self.store(last);
        for read in reads {
            let early = together.too_early(&store, &read.access, &agreements);
            if early.map_err(|_| TogetherReason::Beyond)? {
                return Err(TogetherReason::Early { read: read.access.text, store: store.text, at: read.at });
            }
        }
        let agreement = |([theirs, own], on): ([StageVar; 2], Property)| Agreement { of: last, theirs, own, on };
        Ok(agreements.into_iter().map(agreement).collect())
    }

    /// The element that a stage stores to.
    fn store(&self, (func, stage): Stage) -> Access {
        let data = self.graph.data();
        let args = &data.funcs[func].stages[stage].args;
        let texts: Vec<String> = args.iter().map(|&a| print::expr(data, a)).collect();
        let text = format!("{}({})", data.funcs[func].name, texts.join(", "));
        Access { text, at: args.iter().map(|&a| affine(data, a)).collect() }
    }

    /// A Func that needs values of one of `all`, is not of them, and that one of `all` needs values of: these two, and
    /// the Func in between. `group` counts as one.
    pub(super) fn in_between(
        &self,
        all: &BTreeSet<FuncId>,
        group: &dyn Fn(FuncId) -> BTreeSet<FuncId>,
    ) -> Option<[FuncId; 3]> {
        for &producer in all {
            let outside = |func: FuncId| self.readers(func).into_iter().map(|(func, _)| func);
            for first in outside(producer).filter(|func| !all.contains(func)) {
                let (mut seen, mut todo) = (BTreeSet::new(), vec![first]);
                while let Some(func) = todo.pop() {
                    for member in group(func).into_iter().filter(|func| seen.insert(*func)).collect::<Vec<_>>() {
                        if let Some(consumer) = outside(member).find(|func| all.contains(func)) {
                            return Some([producer, first, consumer]);
                        }
                        todo.extend(outside(member));
                    }
                }
            }
        }
        None
    }
}

impl Joined {
    /// Returns true if the loops that `stage` has of `leader` run over the values of its own variables.
    fn is_unaligned(&self, stage: Stage, leader: Stage) -> bool {
        let mut at = stage;
        while at != leader {
            let Some(with) = self.with(at) else { return false };
            if with.align.iter().any(|align| *align != Align::NoAlign) {
                return false;
            }
            at = with.leader;
        }
        true
    }
}

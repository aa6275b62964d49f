//! Stages whose outer loops run as one (`compute_with`), and whether they may.
//!
//! A stage is computed with at most one other, its leader, and so trees of stages come about: blocks. The Funcs of all
//! stages of a block, and of blocks with stages of the same Funcs, are a group, which is computed at one place, its
//! blocks one after the other. So nothing in a group may need values of the rest of it, no other group may stand in
//! between, and the stages of a Func stay in their order.

mod cuts;
mod joined;
mod order;

pub(super) use joined::Joined;
pub(crate) use order::block_order;
pub(super) use order::order;

use super::diagnostics::{Errors, Problem};
use super::draft::{FuncDraft, Request};
use super::graph::{Graph, Stage};
use super::stage::{StageDraft, WithDraft};
use crate::plan::types::With;
use crate::schedule::{Align, LoopKind, closest, kind_word};
use halide_core::ids::{FuncId, IdVec};
use std::collections::BTreeSet;

/// Follows every `compute_with`; what is not legal is reported and left out.
pub(super) fn join(graph: &Graph, drafts: &IdVec<FuncId, FuncDraft>, errors: &mut Errors<'_>) -> Joined {
    let stages = drafts.enumerate().flat_map(|(func, d)| d.stages.iter().enumerate().map(move |(s, d)| ((func, s), d)));
    let mut said: Vec<(Stage, &WithDraft)> = stages.filter_map(|(at, s)| Some((at, s.with.as_ref()?))).collect();
    said.sort_by_key(|(_, with)| with.directive);
    let mut joined = Joined::default();
    for (stage, with) in said {
        let joiner = Joiner { graph, drafts, joined: &joined };
        match joiner.link(stage, with) {
            Ok(link) => {
                joined.merge(stage.0, link.leader.0);
                joined.links.insert(stage, (with.directive, link));
            }
            Err(problem) => problem.into_iter().for_each(|p| errors.report(with.directive, p)),
        }
    }
    cuts::agree(&joined, drafts, errors);
    joined
}

struct Joiner<'j> {
    graph: &'j Graph,
    drafts: &'j IdVec<FuncId, FuncDraft>,
    joined: &'j Joined,
}

impl Joiner<'_> {
    fn name(&self, func: FuncId) -> String {
        self.graph.data().funcs[func].name.clone()
    }

    fn draft(&self, (func, stage): Stage) -> &StageDraft {
        &self.drafts[func].stages[stage]
    }

    fn text(&self, stage: Stage) -> String {
        self.draft(stage).subject.clone()
    }

    /// Returns the link that a `compute_with` directive makes, or the reason that it is not legal.
    fn link(&self, stage: Stage, with: &WithDraft) -> Result<With, Option<Problem>> {
        for (func, _) in [stage, with.leader] {
            let is_placed = matches!(&self.drafts[func].compute, Some((request, _)) if *request != Request::Inline);
            if !is_placed && !self.graph.data().outputs.contains(&func) {
                return Err(Some(Problem::WithoutPlace { func: self.name(func) }));
            }
        }
        for at in [stage, with.leader] {
            if !self.draft(at).variants.is_empty() || self.draft(at).fail.is_some() {
                return Err(Some(Problem::WithSpecialized { of: self.text(at) }));
            }
        }
        let align = self.loops(stage, with)?;
        if self.joined.root(with.leader) == stage {
            return Err(Some(Problem::WithEachOther { of: self.text(stage), leader: self.text(with.leader) }));
        }
        self.dependences(stage, with.leader)?;
        let link = With { leader: with.leader, align };
        self.stages_in_order(stage, &link)?;
        Ok(link)
    }

    /// The alignment of every loop that is to run as one.
    fn loops(&self, stage: Stage, with: &WithDraft) -> Result<Vec<Align>, Option<Problem>> {
        let (own, theirs) = (self.draft(stage), self.draft(with.leader));
        let count = theirs.find(&with.var)? + 1;
        let kinds = |s: &StageDraft| {
            let text = |l: &super::stage::LoopDraft| match l.kind {
                LoopKind::Serial => s.name(l.var).to_string(),
                kind => format!("{} {}", kind_word(kind), s.name(l.var)),
            };
            s.loops.iter().take(count).map(text).collect::<Vec<String>>()
        };
        let (own_loops, their_loops) = (kinds(own), kinds(theirs));
        if own_loops != their_loops {
            let (of, leader) = (self.text(stage), self.text(with.leader));
            return Err(Some(Problem::WithOtherLoops { of, own: own_loops, leader, theirs: their_loops }));
        }
        let names: Vec<String> = own.loops[..count].iter().map(|l| own.name(l.var).to_string()).collect();
        for (i, (name, _)) in with.each.iter().enumerate() {
            if !names.contains(name) {
                let near = closest(name, names.iter().map(String::as_str)).map(str::to_string);
                return Err(Some(Problem::NotShared { name: name.clone(), loops: names, near }));
            }
            if with.each[..i].iter().any(|(n, _)| n == name) {
                return Err(Some(Problem::Repeated { name: name.clone() }));
            }
        }
        let said = |name: &String| with.each.iter().find(|(n, _)| n == name).map_or(with.align, |(_, a)| *a);
        Ok(names.iter().map(said).collect())
    }

    /// Nothing in the two groups that become one may need values of the rest.
    fn dependences(&self, stage: Stage, leader: Stage) -> Result<(), Option<Problem>> {
        let all = &self.joined.group(stage.0) | &self.joined.group(leader.0);
        for &producer in &all {
            let reached = self.consumers(&BTreeSet::from([producer]), &|f| BTreeSet::from([f]));
            if let Some(&consumer) = all.iter().find(|f| **f != producer && reached.contains(f)) {
                let (consumer, producer) = (self.name(consumer), self.name(producer));
                return Err(Some(Problem::WithDependent { consumer, producer }));
            }
        }
        let reached = self.consumers(&all, &|f| if all.contains(&f) { all.clone() } else { self.joined.group(f) });
        if reached.is_disjoint(&all) {
            return Ok(());
        }
        Err(Some(Problem::WithTangled { of: self.text(stage), leader: self.text(leader) }))
    }

    /// The Funcs that need values of `of`, over any number of others, where `group` counts as one.
    fn consumers(&self, of: &BTreeSet<FuncId>, group: &dyn Fn(FuncId) -> BTreeSet<FuncId>) -> BTreeSet<FuncId> {
        let mut reached = BTreeSet::new();
        let mut todo: Vec<FuncId> = of.iter().copied().collect();
        while let Some(func) = todo.pop() {
            for &(caller, _) in self.graph.callers(func) {
                if !reached.contains(&caller) {
                    let together = group(caller);
                    reached.extend(&together);
                    todo.extend(together);
                }
            }
        }
        reached
    }

    /// The blocks of the group still have an order in which the stages of every Func come one after the other.
    fn stages_in_order(&self, stage: Stage, link: &With) -> Result<(), Option<Problem>> {
        let all = &self.joined.group(stage.0) | &self.joined.group(link.leader.0);
        let stages: Vec<Stage> =
            all.iter().flat_map(|&f| (0..self.drafts[f].stages.len()).map(move |s| (f, s))).collect();
        let root = |s: Stage| match self.joined.root(s) {
            root if root == stage => self.joined.root(link.leader),
            root => root,
        };
        match block_order(&stages, &root) {
            Ok(_) => Ok(()),
            Err((func, _)) => Err(Some(Problem::WithOrder { func: self.name(func) })),
        }
    }
}

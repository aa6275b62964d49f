//! Stages whose outer loops run as one (`compute_with`), and whether they may.
//!
//! A stage is computed with at most one other, its leader, and so trees of stages come about: blocks. The Funcs of all
//! stages of a block, and of blocks with stages of the same Funcs, are a group, which is computed at one place, its
//! blocks one after the other. So no other Func may stand in between, and the stages of a Func stay in their order. A
//! stage may need values of a Func of its group that earlier blocks compute, or that its own block has stored when it
//! reads them (`kept`).

mod cuts;
mod joined;
mod kept;
mod order;
mod reads;

pub(super) use joined::Joined;
pub(super) use order::order;
pub(crate) use order::{Waits, block_order};

use super::diagnostics::{Errors, Problem, TogetherReason};
use super::draft::{FuncDraft, Request};
use super::graph::{Graph, Stage};
use super::stage::{StageDraft, WithDraft};
use crate::plan::types::With;
use crate::schedule::{Align, LoopKind, closest, kind_word};
use halide_core::ids::{FuncId, IdVec};
use kept::Kept;
use std::collections::{BTreeMap, BTreeSet};

/// Follows every `compute_with`; what is not legal is reported and left out.
pub(super) fn join(graph: &Graph, drafts: &IdVec<FuncId, FuncDraft>, errors: &mut Errors<'_>) -> Joined {
    let stages = drafts.enumerate().flat_map(|(func, d)| d.stages.iter().enumerate().map(move |(s, d)| ((func, s), d)));
    let mut said: Vec<(Stage, &WithDraft)> = stages.filter_map(|(at, s)| Some((at, s.with.as_ref()?))).collect();
    said.sort_by_key(|(_, with)| with.directive);
    let mut joined = Joined::default();
    for (stage, with) in said {
        let joiner = Joiner { graph, drafts, joined: &joined };
        match joiner.link(stage, with) {
            Ok(more) => joined = more,
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

    /// Returns what is computed together with the link that a `compute_with` directive makes, or the reason that it is
    /// not legal.
    fn link(&self, stage: Stage, with: &WithDraft) -> Result<Joined, Option<Problem>> {
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
        let mut joined = self.joined.clone();
        joined.merge(stage.0, with.leader.0);
        joined.links.insert(stage, (with.directive, With { leader: with.leader, align }));
        self.dependences(stage, with.leader, &joined)?;
        let kept = Kept { graph: self.graph, drafts: self.drafts, joined: &joined };
        let all = joined.group(stage.0);
        let mut agreements = BTreeMap::new();
        for (reader, agreement) in kept.agreements(&all)? {
            agreements.entry(reader).or_insert_with(Vec::new).push(agreement);
        }
        let needs = needs(&kept, &all);
        joined.agreements.extend(agreements);
        joined.needs.extend(needs);
        self.stages_in_order(&all, &joined)?;
        Ok(joined)
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

    /// No other Func stands between Funcs of the group, needed by one and needing another.
    fn dependences(&self, stage: Stage, leader: Stage, joined: &Joined) -> Result<(), Option<Problem>> {
        let kept = Kept { graph: self.graph, drafts: self.drafts, joined };
        let all = joined.group(stage.0);
        let alone = |func| BTreeSet::from([func]);
        if let Some([producer, between, consumer]) = kept.in_between(&all, &alone) {
            let [consumer, producer, between] = [consumer, producer, between].map(|func| self.name(func));
            return Err(Some(Problem::WithDependent { consumer, producer, why: TogetherReason::Between(between) }));
        }
        match kept.in_between(&all, &|func| joined.group(func)) {
            None => Ok(()),
            Some(_) => Err(Some(Problem::WithTangled { of: self.text(stage), leader: self.text(leader) })),
        }
    }

    /// The blocks of the group have an order in which the stages of every Func come one after the other, and behind
    /// what they need.
    fn stages_in_order(&self, all: &BTreeSet<FuncId>, joined: &Joined) -> Result<(), Option<Problem>> {
        let stages: Vec<Stage> =
            all.iter().flat_map(|&f| (0..self.drafts[f].stages.len()).map(move |s| (f, s))).collect();
        match block_order(&stages, &|stage| joined.root(stage), &|stage| joined.needs(stage)) {
            Ok(_) => Ok(()),
            Err(Waits { stage, needs: None }) => Err(Some(Problem::WithOrder { func: self.name(stage.0) })),
            Err(Waits { stage, needs: Some(producer) }) => {
                let (consumer, producer) = (self.name(stage.0), self.name(producer));
                let why = TogetherReason::Before(producer.clone());
                Err(Some(Problem::WithDependent { consumer, producer, why }))
            }
        }
    }
}

/// The Funcs of a group that each of its stages needs values of.
fn needs(kept: &Kept<'_>, all: &BTreeSet<FuncId>) -> BTreeMap<Stage, Vec<FuncId>> {
    let stages = all.iter().flat_map(|&f| (0..kept.drafts[f].stages.len()).map(move |s| (f, s)));
    let mut needs: BTreeMap<Stage, Vec<FuncId>> = stages.map(|stage| (stage, Vec::new())).collect();
    for &producer in all {
        for reader in kept.readers(producer).into_iter().filter(|(func, _)| *func != producer) {
            needs.entry(reader).and_modify(|needs| needs.push(producer));
        }
    }
    needs
}

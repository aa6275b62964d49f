//! Schedules of Funcs that are taken from other Funcs, and from other schedules.

use crate::tune::edit::{Draft, is_of_loops};
use crate::tune::random::Random;
use crate::tune::scene::Scene;
use halide_sched::schedule::{Directive, Schedule, Subject, Verb, made_names};
use std::collections::{BTreeMap, BTreeSet};

/// A Func gets the loops of another one: of a stage with dimensions of the same names.
pub(super) fn copy(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let to = &random.pick(&scene.stages)?.subject;
    let dims = |of: &Subject| scene.stages.iter().find(|s| s.subject == *of).map(|s| s.dims.clone());
    let is_alike = |of: &Subject| of != to && of.stage == to.stage && dims(of) == dims(to);
    let alike: Vec<&Subject> = scene.stages.iter().map(|s| &s.subject).filter(|of| is_alike(of)).collect();
    let from = random.pick(&alike)?;
    let own = |d: &&Directive| d.subject == **from && is_of_loops(&d.verb);
    let copied: Vec<Verb> = draft.0.iter().filter(own).map(|d| d.verb.clone()).collect();
    draft.remove_loops(to);
    copied.into_iter().for_each(|verb| draft.add(to, verb));
    Some(())
}

/// All directives about some Funcs, and about what is made of them, are those of another schedule.
pub(super) fn cross(draft: &mut Draft, other: &Schedule, random: &mut Random) -> Option<()> {
    let theirs = Draft::new(other);
    let (of_ours, of_theirs) = (groups(&draft.0), groups(&theirs.0));
    let all: BTreeSet<&String> = of_ours.values().chain(of_theirs.values()).collect();
    let taken: BTreeSet<String> = all.into_iter().filter(|_| random.percent(50)).cloned().collect();
    let is_taken = |groups: &BTreeMap<String, String>, d: &Directive| {
        groups.get(&d.subject.func).is_some_and(|group| taken.contains(group))
    };
    let mut merged: Vec<Directive> = theirs.0.iter().filter(|d| is_taken(&of_theirs, d)).cloned().collect();
    merged.extend(draft.0.iter().filter(|d| !is_taken(&of_ours, d)).cloned());
    draft.0 = merged;
    Some(())
}

/// The Func of the algorithm that each Func is, or is made of.
fn groups(directives: &[Directive]) -> BTreeMap<String, String> {
    let mut groups: BTreeMap<String, String> = BTreeMap::new();
    for d in directives {
        let func = &d.subject.func;
        let group = groups.entry(func.clone()).or_insert_with(|| func.clone()).clone();
        groups.extend(made_names(d).into_iter().map(|made| (made, group.clone())));
    }
    groups
}

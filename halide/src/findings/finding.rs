//! Findings, and the edits that they come with.

use super::rule::Rule;
use crate::profile::{Activity, Profile};
use halide_auto::tune::Draft;
use halide_sched::schedule::{Directive, LoopKind, Schedule, Subject, Verb};
use std::collections::BTreeSet;
use std::fmt;

/// Something of a schedule that costs time, with what to do about it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that found it.
    pub rule: Rule,
    /// The Func that it is about; `None` where it is about the pipeline.
    pub func: Option<String>,
    /// The loop that is to blame, such as `f.update(0).x`.
    pub at_loop: Option<String>,
    /// The number that the rule looks at, in the unit of its table.
    pub value: f64,
    /// The number from which on it is a finding.
    pub threshold: f64,
    /// The part of the run's work that is in the loops concerned, by operations and accesses, of 1. Nothing was timed.
    pub work: f64,
    /// The part of the time of all threads that the definitions concerned took, if there is a profile.
    pub share: Option<f64>,
    /// The Funcs whose time counts as that of the finding.
    pub(super) funcs: BTreeSet<String>,
    /// The subject, the defect and the remedy.
    pub text: String,
    /// The schedule after the remedy, if there is one that is legal.
    pub edit: Option<Edit>,
}

/// A change of a schedule that was resolved and lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The schedule after it.
    pub schedule: Schedule,
    /// The lines of the schedule that it takes away.
    pub from: Vec<String>,
    /// The lines that it puts in their place.
    pub to: Vec<String>,
    pub(super) steps: Vec<Step>,
    /// True if it was lowered by itself.
    pub(super) is_lowered: bool,
}

/// A step of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Adds a directive about a stage.
    Add(Subject, Verb),
    /// Takes away marks of a kind: of one loop, or of all of the stage.
    Unmark(Subject, LoopKind, Option<String>),
    /// Orders the loops of a stage, innermost first.
    Order(Subject, Vec<String>),
    /// Gives a Func a place.
    Place(String, Vec<Verb>),
    /// Puts a directive in the place of another.
    Replace(Directive, Verb),
}

/// Returns the schedule after some steps.
pub(super) fn stepped(schedule: &Schedule, steps: &[Step]) -> Schedule {
    let mut draft = Draft::new(schedule);
    for step in steps {
        match step {
            Step::Add(subject, verb) => draft.add(subject, verb.clone()),
            Step::Unmark(subject, kind, on) => drop(draft.unmark(subject, *kind, on.as_deref())),
            Step::Order(subject, loops) => draft.order(subject, loops.clone()),
            Step::Place(func, verbs) => {
                draft.remove_place(func);
                draft.add_first(func, verbs.iter().cloned());
            }
            Step::Replace(directive, verb) => {
                let is_it = |d: &&mut Directive| d.subject == directive.subject && d.verb == directive.verb;
                if let Some(found) = draft.0.iter_mut().find(is_it) {
                    found.verb = verb.clone();
                }
            }
        }
    }
    draft.schedule()
}

impl Edit {
    /// An edit by steps from a schedule to the one that they lead to.
    pub(super) fn new(before: &Schedule, after: Schedule, steps: Vec<Step>) -> Edit {
        let lines = |schedule: &Schedule| schedule.to_string().lines().map(str::to_string).collect::<Vec<String>>();
        let (old, new) = (lines(before), lines(&after));
        let without = |all: &[String], others: &[String]| {
            all.iter().filter(|line| !others.contains(line)).cloned().collect::<Vec<String>>()
        };
        Edit { from: without(&old, &new), to: without(&new, &old), schedule: after, steps, is_lowered: false }
    }
}

impl Finding {
    /// Notes the part of the time that its Funcs took.
    pub(super) fn note_share(&mut self, profile: &Profile) {
        let is_own =
            |activity: &Activity| matches!(activity, Activity::Computes { func, .. } if self.funcs.contains(func));
        let rows = profile.rows.iter().filter(|row| is_own(&row.activity));
        self.share = Some(rows.fold(0.0, |sum, row| sum + profile.share(row)));
    }
}

impl fmt::Display for Finding {
    /// Writes the name of the rule and the text, and below them the lines that an edit takes away and adds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.text)?;
        let Some(edit) = &self.edit else { return Ok(()) };
        edit.from.iter().try_for_each(|line| write!(f, "\n- {line}"))?;
        edit.to.iter().try_for_each(|line| write!(f, "\n+ {line}"))
    }
}

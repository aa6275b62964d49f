//! The errors of a schedule: which directive, at which place, why, and how to mend it.

use super::problem::Problem;
use crate::schedule::{Directive, Schedule, Site, Verb};
use halide_core::error::Location;
use halide_core::pipeline::Pipeline;
use std::collections::BTreeMap;
use std::fmt;

/// One thing that is wrong with a schedule for a pipeline.
#[derive(Clone, PartialEq, Eq)]
pub struct ScheduleError {
    /// The number of the directive in the schedule, from 0; `None` if what is wrong is that one is missing.
    pub directive: Option<usize>,
    /// The place at which the directive was written.
    pub at: Option<Location>,
    /// The stage that the directive speaks of, as text.
    pub subject: String,
    /// The directive as text; empty if one is missing.
    pub text: String,
    /// The defect.
    pub problem: Problem,
    /// Remedies that follow from the directive and the pipeline: the stage that has a loop, and the names of Funcs that
    /// users called alike.
    pub hints: Vec<String>,
}

/// The errors found so far.
pub(crate) struct Errors<'s> {
    schedule: &'s Schedule,
    /// The numbers that the directives have in the schedule that was given.
    origins: &'s [usize],
    /// For each name that several Funcs have: the name that is written for each, and its place.
    namesakes: Vec<Namesakes>,
    list: Vec<ScheduleError>,
}

/// Funcs that users gave the same name.
struct Namesakes {
    said: String,
    /// The unique name of each, and the place where it was made.
    funcs: Vec<(String, Location)>,
}

impl Namesakes {
    /// Finds them in a pipeline.
    fn of(pipeline: &Pipeline) -> Vec<Namesakes> {
        let mut by_name: BTreeMap<&str, Vec<(String, Location)>> = BTreeMap::new();
        for func in pipeline.funcs.iter() {
            by_name.entry(&func.said).or_default().push((func.name.clone(), func.at));
        }
        let several = by_name.into_iter().filter(|(_, funcs)| funcs.len() > 1);
        several.map(|(said, funcs)| Namesakes { said: said.to_string(), funcs }).collect()
    }

    /// The name to write for each of them.
    fn hint(&self) -> String {
        let written = self.funcs.iter().map(|(name, at)| format!("`{name}` for that of {at}"));
        let written = written.collect::<Vec<String>>().join(", ");
        format!("{} Funcs are called `{}`: write {written}", self.funcs.len(), self.said)
    }
}

impl<'s> Errors<'s> {
    /// None so far, for a schedule that is written out and the pipeline as the user made it.
    pub(crate) fn new(pipeline: &Pipeline, schedule: &'s Schedule, origins: &'s [usize]) -> Errors<'s> {
        Errors { schedule, origins, namesakes: Namesakes::of(pipeline), list: Vec::new() }
    }

    /// Something is wrong with directive number `directive`.
    pub(crate) fn report(&mut self, directive: usize, problem: Problem) {
        let d = &self.schedule.directives()[directive];
        let mut hints: Vec<String> = self.other_stage(d, &problem).into_iter().collect();
        let funcs = [Some(&d.subject.func), site(&d.verb).map(|site| &site.func)];
        let is_named = |n: &&Namesakes| n.funcs.iter().any(|(name, _)| funcs.contains(&Some(name)));
        hints.extend(self.namesakes.iter().filter(is_named).map(Namesakes::hint));
        self.list.push(ScheduleError {
            directive: Some(self.origins.get(directive).copied().unwrap_or(directive)),
            at: d.at,
            subject: self.schedule.subject_text(&d.subject),
            text: d.verb.to_string(),
            problem,
            hints,
        });
    }

    /// The directive as it is written for the stage that has the loop, if another one of its Func has it.
    fn other_stage(&self, directive: &Directive, problem: &Problem) -> Option<String> {
        let Problem::UnknownLoop { owner: Some(owner), .. } = problem else { return None };
        let stage = &owner.0;
        let (mut subject, mut verb) = (directive.subject.clone(), directive.verb.clone());
        match &mut verb {
            Verb::ComputeAt(site) | Verb::StoreAt(site) | Verb::HoistStorage(site) => site.stage = *stage,
            _ => {
                subject.stage = *stage;
                subject.specializations.clear();
            }
        }
        Some(format!("write `{}: {verb}`", self.schedule.subject_text(&subject)))
    }

    /// Something is wrong that no directive says.
    pub(crate) fn report_missing(&mut self, func: &str, problem: Problem) {
        let subject = func.to_string();
        let (text, hints) = (String::new(), Vec::new());
        self.list.push(ScheduleError { directive: None, at: None, subject, text, problem, hints });
    }

    /// Keeps the value of a result, or reports its problem.
    pub(crate) fn keep<T>(&mut self, directive: usize, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.report(directive, problem)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in the order of the directives.
    pub(crate) fn into_list(mut self) -> Vec<ScheduleError> {
        self.list.sort_by_key(|e| e.directive.unwrap_or(usize::MAX));
        self.list.dedup();
        self.list
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at, self.directive) {
            (Some(at), _) => write!(f, "{at}: ")?,
            (None, Some(n)) => write!(f, "directive {}: ", n + 1)?,
            (None, None) => {}
        }
        write!(f, "{}", self.subject)?;
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        write!(f, "\n  {}", self.problem)?;
        self.problem.help().iter().chain(&self.hints).try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

halide_core::debug_is_display!(ScheduleError);

impl std::error::Error for ScheduleError {}

impl ScheduleError {
    /// Returns a remedy, if one is known.
    pub fn help(&self) -> Option<String> {
        self.problem.help().or_else(|| self.hints.first().cloned())
    }
}

/// The loop that a directive places something at.
fn site(verb: &Verb) -> Option<&Site> {
    match verb {
        Verb::ComputeAt(site) | Verb::StoreAt(site) | Verb::HoistStorage(site) => Some(site),
        Verb::ComputeWith { site, .. } => Some(site),
        _ => None,
    }
}

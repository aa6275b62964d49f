//! The errors of a schedule: which directive, at which place, why, and how to mend it.

use super::problem::Problem;
use crate::schedule::Schedule;
use halide_core::error::Location;
use std::fmt;

/// One thing that is wrong with a schedule for a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// The errors found so far.
pub(crate) struct Errors<'s> {
    schedule: &'s Schedule,
    /// The numbers that the directives have in the schedule that was given.
    origins: &'s [usize],
    list: Vec<ScheduleError>,
}

impl<'s> Errors<'s> {
    pub(crate) fn new(schedule: &'s Schedule, origins: &'s [usize]) -> Errors<'s> {
        Errors { schedule, origins, list: Vec::new() }
    }

    /// Something is wrong with directive number `directive`.
    pub(crate) fn report(&mut self, directive: usize, problem: Problem) {
        let d = &self.schedule.directives()[directive];
        self.list.push(ScheduleError {
            directive: Some(self.origins.get(directive).copied().unwrap_or(directive)),
            at: d.at,
            subject: self.schedule.subject_text(&d.subject),
            text: d.verb.to_string(),
            problem,
        });
    }

    /// Something is wrong that no directive says.
    pub(crate) fn report_missing(&mut self, func: &str, problem: Problem) {
        let subject = func.to_string();
        self.list.push(ScheduleError { directive: None, at: None, subject, text: String::new(), problem });
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
        self.help().iter().try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

impl std::error::Error for ScheduleError {}

impl ScheduleError {
    /// Returns a remedy, if one is known.
    pub fn help(&self) -> Option<String> {
        self.problem.help()
    }
}

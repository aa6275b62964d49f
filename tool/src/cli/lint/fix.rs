//! The search of `--fix`: edits of findings, the schedule that is chosen, steps that are advised, until none is faster.

use super::super::args::LintArgs;
use super::super::common::{self, Runner};
use super::super::failure::Failure;
use super::super::output;
use super::super::terminal::{note, spinner};
use super::super::tune::stopped_by_ctrl_c;
use super::super::turns::Turn;
use super::trial::{Bench, Faster, Outcome};
use crate::job::Job;
use crate::place::Place;
use halide::findings::{Finding, RULES, Rule};
use halide::machine::Machine;
use halide::prelude::*;
use indicatif::ProgressBar;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The part of the work from which on the edit of a single finding is tried, since little work gains little.
const LEAST_WORK: f64 = 0.02;

/// The steps that are asked for at once.
const STEPS: usize = 5;

/// The schedule that was kept, and what led to it.
pub(super) struct Fixed {
    pub(super) first: Schedule,
    pub(super) schedule: Schedule,
    pub(super) compiled: Compiled,
    pub(super) kept: Vec<Kept>,
    /// Edits whose result differs: what they are, and by how much.
    pub(super) wrong: Vec<(String, f64)>,
    /// All edits that were tried, with the outcome of each.
    pub(super) tries: Vec<(String, &'static str)>,
    pub(super) before_ms: f64,
    pub(super) after_ms: f64,
    pub(super) elapsed: Duration,
    pub(super) ended: Ended,
    pub(super) place: Option<Place>,
}

/// The reason that a search ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nothing that was left is faster.
    Done,
    /// The time was up.
    TimeUp,
    /// Ctrl-C.
    Stopped,
}

/// An edit that was kept.
pub(super) struct Kept {
    pub(super) what: String,
    pub(super) before_ms: f64,
    pub(super) after_ms: f64,
    /// The part of the time that it saves.
    pub(super) gain: f64,
}

/// A search.
pub(super) struct Fix<'a> {
    job: &'a Job,
    args: &'a LintArgs,
    bench: Bench<'a>,
    begun: Instant,
    stop: Arc<AtomicBool>,
    bar: ProgressBar,
    first: (Schedule, Turn),
    best: (Schedule, Turn),
    /// The texts of all schedules that were tried.
    seen: BTreeSet<String>,
    kept: Vec<Kept>,
    wrong: Vec<(String, f64)>,
    tries: Vec<(String, &'static str)>,
    is_chosen: bool,
    place: Option<Place>,
}

impl<'a> Fix<'a> {
    /// Runs the schedule to begin with.
    pub(super) fn new(
        job: &'a Job,
        args: &'a LintArgs,
        runner: &'a Runner,
        (schedule, compiled): (Schedule, Compiled),
        place: Option<Place>,
    ) -> Result<Fix<'a>, Failure> {
        let begun = Instant::now();
        let stop = stopped_by_ctrl_c();
        let bar = spinner(&format!("{}: first run", job.app.name));
        bar.tick();
        let (bench, turn) = Bench::new(job, args, runner, compiled)?;
        let again = Turn::new(turn.compiled.clone(), turn.samples.min());
        let mut best = again;
        best.samples = turn.samples.clone();
        Ok(Fix {
            job,
            args,
            bench,
            begun,
            stop,
            bar,
            seen: BTreeSet::from([schedule.to_string()]),
            first: (schedule.clone(), turn),
            best: (schedule, best),
            kept: Vec::new(),
            wrong: Vec::new(),
            tries: Vec::new(),
            is_chosen: false,
            place,
        })
    }

    /// Searches to the end.
    pub(super) fn run(mut self) -> Result<Fixed, Failure> {
        while !self.is_over() && self.step()? {}
        self.bar.finish_and_clear();
        let ended = match (self.stop.load(Ordering::Relaxed), self.is_over()) {
            (true, _) => Ended::Stopped,
            (false, true) => Ended::TimeUp,
            (false, false) => Ended::Done,
        };
        let (before_ms, after_ms) = match self.kept.is_empty() {
            true => (self.first.1.samples.min(), self.first.1.samples.min()),
            false => self.bench.last_word(&self.first.1, &self.best.1)?,
        };
        self.write(&format!("{after_ms:.3} ms, before {before_ms:.3} ms"))?;
        let Fix { first, best, kept, wrong, tries, begun, place, .. } = self;
        Ok(Fixed {
            first: first.0,
            schedule: best.0,
            compiled: best.1.compiled,
            kept,
            wrong,
            tries,
            before_ms,
            after_ms,
            elapsed: begun.elapsed(),
            ended,
            place,
        })
    }

    /// Tries until an edit is kept; returns false if none is.
    fn step(&mut self) -> Result<bool, Failure> {
        let found = self.job.findings(&self.best.1.compiled, None)?;
        let found: Vec<&Finding> = found.iter().filter(|finding| finding.edit.is_some()).collect();
        Ok(self.by_groups(&found)? || self.by_choice()? || self.by_single(&found)? || self.by_advice()?)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.bench.is_over(self.best.1.samples.min())
    }

    /// Tries the edits of all findings together, and of each rule together, until one is kept.
    fn by_groups(&mut self, found: &[&Finding]) -> Result<bool, Failure> {
        let by_rule = RULES.iter().map(|row| found.iter().copied().filter(|f| f.rule == row.rule).collect());
        // A Func at another place may have other loops, so that comes after all else.
        let is_place = |rule| matches!(rule, Rule::Recompute | Rule::StoredFarOut);
        let loops = found.iter().copied().filter(|finding| !is_place(finding.rule)).collect();
        let groups: Vec<Vec<&Finding>> = std::iter::once(loops).chain(by_rule).collect();
        for group in groups.iter().filter(|group| group.len() > 1) {
            if self.is_over() {
                return Ok(false);
            }
            let compiled = self.best.1.compiled.clone();
            if let Some(edit) = self.job.together(&compiled, group)?
                && self.keeps(&edit.schedule, &together(group))?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries the edits of findings one by one, until one is kept.
    fn by_single(&mut self, found: &[&Finding]) -> Result<bool, Failure> {
        for finding in found.iter().filter(|finding| finding.work >= LEAST_WORK) {
            if self.is_over() {
                return Ok(false);
            }
            let Some(edit) = &finding.edit else { continue };
            let about = finding.func.as_deref().unwrap_or(self.job.app.name);
            if self.keeps(&edit.schedule, &format!("{} of `{about}`", finding.rule))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries the schedule that is chosen for these sizes, once.
    fn by_choice(&mut self) -> Result<bool, Failure> {
        if std::mem::replace(&mut self.is_chosen, true) || self.is_over() {
            return Ok(false);
        }
        self.say("choosing");
        let target = common::target(&self.args.common);
        // What cannot be chosen, as with extern stages, is not tried.
        let Ok(auto) = self.job.auto_schedule(&target, &AutoOptions::default()) else { return Ok(false) };
        self.keeps(&auto.schedule, "the schedule of `halide auto`")
    }

    /// Tries single steps that are predicted to be faster.
    fn by_advice(&mut self) -> Result<bool, Failure> {
        if self.is_over() {
            return Ok(false);
        }
        self.say("asking for steps");
        let target = common::target(&self.args.common);
        let advised = self.job.advise(&Machine::typical(&target), &self.best.0, &target, STEPS);
        let Ok(advised) = advised else { return Ok(false) };
        for step in advised.steps {
            if self.is_over() {
                return Ok(false);
            }
            let names: Vec<String> = step.changes.iter().map(|change| format!("`{}`", change.func)).collect();
            if self.keeps(&step.schedule, &format!("a step that is advised, of {}", names.join(", ")))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries a schedule that is new, and keeps it if it is faster.
    fn keeps(&mut self, schedule: &Schedule, what: &str) -> Result<bool, Failure> {
        if !self.seen.insert(schedule.to_string()) {
            return Ok(false);
        }
        self.say(what);
        let outcome = self.bench.attempt(&self.best.1, schedule)?;
        self.tries.push((what.to_string(), outcome.word()));
        match outcome {
            Outcome::Faster(faster) => {
                let Faster { turn, ratio, before_ms, after_ms } = *faster;
                self.kept.push(Kept { what: what.to_string(), before_ms, after_ms, gain: 1.0 - ratio });
                self.best = (schedule.clone(), turn);
                self.write(&format!("{after_ms:.3} ms so far"))?;
                Ok(true)
            }
            Outcome::Wrong(by) => {
                self.bar.suspend(|| note(format!("{what}: the result differs by {by}, so it is not kept")));
                self.wrong.push((what.to_string(), by));
                Ok(false)
            }
            Outcome::NotFaster | Outcome::Refused => Ok(false),
        }
    }

    fn say(&self, what: &str) {
        let (name, ms) = (self.job.app.name, self.best.1.samples.min());
        self.bar.set_message(format!(
            "{name}: {ms:.3} ms, {} kept of {}; {what}",
            self.kept.len(),
            self.seen.len() - 1
        ));
        self.bar.tick();
    }

    /// Writes the best schedule, if it is wanted.
    fn write(&self, times: &str) -> Result<(), Failure> {
        let Some(place) = &self.place else { return Ok(()) };
        let (width, height) = self.job.size;
        let threads = common::threads(&self.args.common);
        let head = format!("# Mended for {} {width}x{height}, {threads} threads: {times}.", self.job.app.name);
        output::write(place, &format!("{head}\n{}\n", self.best.0))
    }
}

/// The words for the edits of several findings: the rules, and how many there are of each.
fn together(group: &[&Finding]) -> String {
    let counted = RULES.iter().map(|row| (row.name, group.iter().filter(|finding| finding.rule == row.rule).count()));
    let parts: Vec<String> = counted.filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} x {name}")).collect();
    format!("together: {}", parts.join(", "))
}

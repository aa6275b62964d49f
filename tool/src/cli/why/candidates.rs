//! Schedules between two others: compiled once each, run, held against the first one's result, and timed in turn.

use super::super::args_timing::WhyArgs;
use super::super::changes::{Changes, Set};
use super::super::common::{self, Runner};
use super::super::failure::Failure;
use super::super::limit::within;
use super::super::outputs;
use super::super::runners::Runners;
use super::super::turns::{self, Turn};
use super::untried::Untried;
use crate::job::Job;
use halide::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The most rounds.
pub(super) const ROUNDS: usize = 15;

/// The rounds that are taken whatever the time is.
const LEAST_ROUNDS: usize = 2;

/// A candidate that is slower than A and B by this factor takes part in no more than the least rounds.
const SLOW: f64 = 4.0;

/// A candidate that is slower than A and B by this factor is ended.
const HOPELESS: f64 = 20.0;

/// The time that any candidate may take.
const LEAST_LIMIT: Duration = Duration::from_millis(250);

/// The part of the time in which the walk looks for what is legal.
const WALKING: f64 = 0.4;

/// The part of the time after which no more candidates are compiled.
const PREPARING: f64 = 0.7;

/// A candidate that has run.
pub(super) struct Candidate {
    pub(super) turn: Turn,
    /// True if it was ended: its time is longer than the one here.
    pub(super) is_cut: bool,
    /// The largest difference of its result from A's, if that is more than float modes allow.
    pub(super) differs: Option<f64>,
}

/// The candidates by the changes that they are A with, or why there is none.
pub(super) struct Candidates<'a> {
    job: &'a Job,
    args: &'a WhyArgs,
    runners: &'a Runners,
    changes: &'a Changes,
    started: Instant,
    compiled: BTreeMap<Set, Result<Compiled, Untried>>,
    /// Legality of the schedules that were lowered and not compiled.
    lowered: BTreeMap<Set, Result<(), Untried>>,
    ran: BTreeMap<Set, Result<Candidate, Untried>>,
    outputs: Vec<AnyBuffer>,
    expected: Option<Vec<AnyBuffer>>,
    /// The longer time of A and B in ms.
    usual: f64,
    rounds: usize,
}

impl<'a> Candidates<'a> {
    /// No candidate yet.
    pub(super) fn new(
        job: &'a Job,
        args: &'a WhyArgs,
        runners: &'a Runners,
        changes: &'a Changes,
    ) -> Result<Candidates<'a>, Failure> {
        Ok(Candidates {
            job,
            args,
            runners,
            changes,
            started: Instant::now(),
            compiled: BTreeMap::new(),
            lowered: BTreeMap::new(),
            ran: BTreeMap::new(),
            outputs: job.outputs()?,
            expected: None,
            usual: 0.0,
            rounds: 0,
        })
    }

    /// The rounds that were taken.
    pub(super) fn rounds(&self) -> usize {
        self.rounds
    }

    /// The candidate after a set of changes, or why there is none.
    pub(super) fn get(&self, set: &Set) -> Result<&Candidate, Untried> {
        let none = || Err(Untried::NoTime);
        self.ran.get(set).map_or_else(none, |ran| ran.as_ref().map_err(Untried::clone))
    }

    /// Compiles A or B, runs it, and compares its result with A's, if that has run.
    pub(super) fn add_end(&mut self, set: &Set) -> Result<(), Untried> {
        let candidate = self.first_run(set, None)?;
        self.usual = self.usual.max(candidate.turn.samples.min());
        self.ran.insert(set.clone(), Ok(candidate));
        Ok(())
    }

    /// Says why the schedule after a set of changes cannot be compiled, if it cannot. Most schedules of the walk are
    /// not timed, so their loops are made, but no machine code.
    pub(super) fn legal(&mut self, set: &Set) -> Result<(), Untried> {
        let schedule = self.changes.schedule(set);
        if schedule.has_kernels() || self.compiled.contains_key(set) {
            return self.compile(set, WALKING).map(|_| ());
        }
        if let Some(known) = self.lowered.get(set) {
            return known.clone();
        }
        if self.is_over(WALKING) {
            return Err(Untried::NoTime);
        }
        let lowered = Runner::Engine(Engine::Eval).compile(self.job, &schedule, &self.args.common);
        let lowered = lowered.map(|_| ()).map_err(Untried::from);
        self.lowered.insert(set.clone(), lowered.clone());
        lowered
    }

    /// Returns true if a part of the time is over.
    fn is_over(&self, part: f64) -> bool {
        self.started.elapsed() >= self.args.time.mul_f64(part)
    }

    /// Compiles a schedule, runs it and compares its result; ends it where it is hopelessly slow.
    pub(super) fn add(&mut self, set: &Set) {
        if !self.ran.contains_key(set) {
            let limit = Duration::from_secs_f64(self.usual * HOPELESS / 1e3).max(LEAST_LIMIT);
            let ran = self.first_run(set, Some(limit));
            self.ran.insert(set.clone(), ran);
        }
    }

    /// Times all candidates in turn, up to a number of rounds, as long as there is time.
    pub(super) fn time(&mut self, rounds: usize, mut told: impl FnMut(usize)) -> Result<(), Failure> {
        let (job, threads) = (self.job, self.threads());
        let mut longest = Duration::ZERO;
        for round in 0..rounds {
            let start = Instant::now();
            if round >= LEAST_ROUNDS && self.started.elapsed() + longest > self.args.time {
                break;
            }
            let ready = self.ran.values_mut().filter_map(|ran| ran.as_mut().ok()).filter(|candidate| !candidate.is_cut);
            let slow = self.usual * SLOW;
            let ready = ready.filter(|candidate| round < LEAST_ROUNDS || candidate.turn.samples.min() < slow);
            let mut turns: Vec<&mut Turn> = ready.map(|candidate| &mut candidate.turn).collect();
            turns::round(&mut turns, round, |compiled| {
                common::timed(job, compiled, threads, None, &mut self.outputs).map(|(ms, _)| ms)
            })?;
            longest = longest.max(start.elapsed());
            self.rounds = round + 1;
            told(self.rounds);
        }
        Ok(())
    }

    fn threads(&self) -> Option<usize> {
        self.args.common.threads.map(usize::from)
    }

    /// A schedule compiled, before or now, if no more than a part of the time is over.
    fn compile(&mut self, set: &Set, part: f64) -> Result<Compiled, Untried> {
        if let Some(known) = self.compiled.get(set) {
            return known.clone();
        }
        // A and B are compiled in any case.
        if self.compiled.len() >= 2 && self.is_over(part) {
            return Err(Untried::NoTime);
        }
        let schedule = self.changes.schedule(set);
        let runner = self.runners.of_schedule(schedule.has_kernels());
        let compiled = runner.map_err(Untried::Refused).and_then(|(_, runner)| {
            let compiled = runner.compile(self.job, &schedule, &self.args.common);
            compiled.map(|(compiled, _)| compiled).map_err(Untried::from)
        });
        self.compiled.insert(set.clone(), compiled.clone());
        compiled
    }

    /// The first run of a schedule, which takes no longer than `limit` if there is one.
    fn first_run(&mut self, set: &Set, limit: Option<Duration>) -> Result<Candidate, Untried> {
        let compiled = self.compile(set, PREPARING)?;
        let (job, threads) = (self.job, self.threads());
        outputs::poison(&mut self.outputs)?;
        let mut run = |cancel: Option<&Cancel>| common::timed(job, &compiled, threads, cancel, &mut self.outputs);
        let ran = match limit {
            Some(limit) => within(limit, |cancel| run(Some(cancel))),
            None => Some(run(None)),
        };
        let Some(ran) = ran else {
            let ms = limit.unwrap_or_default().as_secs_f64() * 1e3;
            let mut turn = Turn::new(compiled, ms);
            turn.samples.push(ms);
            return Ok(Candidate { turn, is_cut: true, differs: None });
        };
        ran?;
        let differs = self.compared(set)?;
        // More variants of the code may have been compiled in the first run.
        let (ms, _) = common::timed(job, &compiled, threads, None, &mut self.outputs)?;
        let mut turn = Turn::new(compiled, ms);
        turn.samples.push(ms);
        Ok(Candidate { turn, is_cut: false, differs })
    }

    /// The difference of the result from A's, if it is more than float modes allow; A's becomes the expected one.
    fn compared(&mut self, set: &Set) -> Result<Option<f64>, Failure> {
        let Some(expected) = &mut self.expected else {
            self.expected = Some(std::mem::replace(&mut self.outputs, self.job.outputs()?));
            return Ok(None);
        };
        let difference = outputs::difference(expected, &mut self.outputs);
        let is_loose = [set, &Set::new()].into_iter().any(|set| self.changes.schedule(set).reassociates());
        Ok((!difference.is_allowed(is_loose)).then_some(difference.largest))
    }
}

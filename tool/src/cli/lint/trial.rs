//! A schedule beside the best one so far: compiled, run, held against the first result bit by bit, timed in turn.

use super::super::args::LintArgs;
use super::super::common::{self, Runner};
use super::super::failure::Failure;
use super::super::limit::within;
use super::super::outputs;
use super::super::turns::{self, Turn};
use crate::job::Job;
use halide::prelude::*;
use std::time::{Duration, Instant};

/// The least gain for which an edit is kept.
const LEAST_GAIN: f64 = 0.02;

/// The deviations of a mean by which it must be faster: that of one time by the root of the number of rounds.
const DEVIATIONS: f64 = 3.0;

/// The rounds in turn; those after which a clear difference ends them; and the most where noise hides one.
const ROUNDS: usize = 9;
const FEW_ROUNDS: usize = 3;
const MOST_ROUNDS: usize = 27;

/// A ratio of times beyond which a schedule is given up after few rounds, and below which it is kept.
const CLEAR: (f64, f64) = (1.1, 0.7);

/// The same after one round: no noise is as much.
const FAR: (f64, f64) = (2.0, 0.4);

/// Runs from this time on are taken once where others are repeated. Unit: ms.
const LONG: f64 = 1000.0;

/// The time that a first run may take, in units of the time of the best one.
const MOST_TIMES: f64 = 4.0;

/// The runs of a trial, at least, in units of the time of the best one.
const RUNS: f64 = 4.0;

/// The time that any first run may take: it may compile more code.
const LEAST_LIMIT: Duration = Duration::from_millis(500);

/// The outcome of a trial.
pub(super) enum Outcome {
    /// It is faster.
    Faster(Box<Faster>),
    /// It is as fast, slower, or its run was ended.
    NotFaster,
    /// The compiler refuses it, or its run fails.
    Refused,
    /// Its result differs, by so much.
    Wrong(f64),
}

impl Outcome {
    /// The word for it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Outcome::Faster(_) => "kept",
            Outcome::NotFaster => "not faster",
            Outcome::Refused => "refused",
            Outcome::Wrong(_) => "other result",
        }
    }
}

/// A schedule that is faster than the best one before it.
pub(super) struct Faster {
    pub(super) turn: Turn,
    /// Its time in units of that of the best one, and both times in ms.
    pub(super) ratio: f64,
    pub(super) before_ms: f64,
    pub(super) after_ms: f64,
}

/// The job that schedules are tried on.
pub(super) struct Bench<'a> {
    pub(super) job: &'a Job,
    pub(super) args: &'a LintArgs,
    pub(super) runner: &'a Runner,
    /// The moment at which all is to be over.
    deadline: Instant,
    outputs: Vec<AnyBuffer>,
    expected: Vec<AnyBuffer>,
}

impl<'a> Bench<'a> {
    /// Runs the schedule to begin with, whose result is the expected one; also returns it with its time.
    pub(super) fn new(
        job: &'a Job,
        args: &'a LintArgs,
        runner: &'a Runner,
        first: Compiled,
    ) -> Result<(Bench<'a>, Turn), Failure> {
        let (outputs, expected) = (job.outputs()?, job.outputs()?);
        let deadline = Instant::now() + args.budget;
        let mut bench = Bench { job, args, runner, deadline, outputs, expected };
        outputs::poison(&mut bench.outputs)?;
        let ms = bench.once(&first, None)?;
        // More variants of the code may have been compiled in the first run.
        let ms = if ms < LONG { bench.once(&first, None)? } else { ms };
        std::mem::swap(&mut bench.outputs, &mut bench.expected);
        let mut turn = Turn::new(first, ms);
        turn.samples.push(ms);
        Ok((bench, turn))
    }

    /// Returns true if there is no time for another trial: the time is over, or so many runs would take it.
    pub(super) fn is_over(&self, ms: f64) -> bool {
        Instant::now() + Duration::from_secs_f64(ms * RUNS / 1e3) >= self.deadline
    }

    fn once(&mut self, compiled: &Compiled, cancel: Option<&Cancel>) -> Result<f64, Failure> {
        let threads = self.args.common.threads.map(usize::from);
        common::timed(self.job, compiled, threads, cancel, &mut self.outputs).map(|(ms, _)| ms)
    }

    /// Tries a schedule beside the best one.
    pub(super) fn attempt(&mut self, best: &Turn, schedule: &Schedule) -> Result<Outcome, Failure> {
        let Ok((compiled, compile_ms)) = self.runner.compile(self.job, schedule, &self.args.common) else {
            return Ok(Outcome::Refused);
        };
        outputs::poison(&mut self.outputs)?;
        let most = best.samples.min() * MOST_TIMES + compile_ms * 3.0;
        let limit = Duration::from_secs_f64(most / 1e3).max(LEAST_LIMIT);
        let first = within(limit, |cancel| self.once(&compiled, Some(cancel)));
        match &first {
            None => return Ok(Outcome::NotFaster),
            Some(Err(_)) => return Ok(Outcome::Refused),
            Some(Ok(_)) => {}
        }
        if let Some(by) = self.differs() {
            return Ok(Outcome::Wrong(by));
        }
        let ms = match first {
            Some(Ok(ms)) if ms >= LONG => ms,
            _ => match self.once(&compiled, None) {
                Ok(ms) => ms,
                Err(_) => return Ok(Outcome::Refused),
            },
        };
        let before = best.samples.min();
        let mut new = Turn::new(compiled, ms);
        // What takes seconds is not run again where the answer is clear.
        if before >= LONG && ms < before * FAR.1 {
            new.samples.push(ms);
            let faster = Faster { turn: new, ratio: ms / before, before_ms: before, after_ms: ms };
            return Ok(Outcome::Faster(Box::new(faster)));
        }
        self.timed(best, new)
    }

    /// The largest difference of the result from the expected one, which may differ in no bit.
    fn differs(&mut self) -> Option<f64> {
        let difference = outputs::difference(&mut self.expected, &mut self.outputs);
        (!difference.is_allowed(false)).then_some(difference.largest)
    }

    /// Times both in turn.
    fn timed(&mut self, best: &Turn, new: Turn) -> Result<Outcome, Failure> {
        let old = Turn::new(best.compiled.clone(), best.samples.min());
        let mut both = [old, new];
        for number in 0..MOST_ROUNDS {
            turns::round(&mut both, number, |compiled| self.once(compiled, None))?;
            let is_beyond = |(more, less): (f64, f64)| !(less..=more).contains(&least_ratio(&both));
            let is_told = is_faster(&both) || !seems_faster(&both);
            let enough = match number + 1 {
                ROUNDS.. => is_told,
                FEW_ROUNDS.. => is_told && is_beyond(CLEAR) || self.is_over(0.0),
                _ => is_beyond(FAR),
            };
            if enough {
                break;
            }
        }
        // The result of the last run is held against the expected one, too.
        if let Some(by) = self.differs() {
            return Ok(Outcome::Wrong(by));
        }
        if !is_faster(&both) {
            return Ok(Outcome::NotFaster);
        }
        let ratio = least_ratio(&both);
        let [old, new] = both;
        let (before_ms, after_ms) = (old.samples.min(), new.samples.min());
        Ok(Outcome::Faster(Box::new(Faster { turn: new, ratio, before_ms, after_ms })))
    }

    /// Times the first schedule and the last one in turn, unless that takes seconds; returns both times in ms.
    pub(super) fn last_word(&mut self, first: &Turn, last: &Turn) -> Result<(f64, f64), Failure> {
        if first.samples.min() >= LONG {
            return Ok((first.samples.min(), last.samples.min()));
        }
        let fresh = |turn: &Turn| Turn::new(turn.compiled.clone(), turn.samples.min());
        let mut both = [fresh(first), fresh(last)];
        for number in 0..FEW_ROUNDS {
            turns::round(&mut both, number, |compiled| self.once(compiled, None))?;
        }
        Ok((both[0].samples.min(), both[1].samples.min()))
    }
}

/// The least time of the second one in units of that of the first.
fn least_ratio([old, new]: &[Turn; 2]) -> f64 {
    new.samples.min() / old.samples.min()
}

/// The ratio of times that tells less of a gain: of the least ones, which may be luck, or of those in the middle.
fn ratio(both: &[Turn; 2]) -> f64 {
    least_ratio(both).max(both[1].samples.median() / both[0].samples.median())
}

/// Returns true if the second one would be kept without noise.
fn seems_faster(both: &[Turn; 2]) -> bool {
    1.0 - ratio(both) > LEAST_GAIN
}

/// Returns true if the second one is faster by more than the least gain and the noise.
fn is_faster(both: &[Turn; 2]) -> bool {
    let [old, new] = both;
    let deviation = old.samples.deviation().max(new.samples.deviation());
    let of_mean = deviation / (old.samples.len().max(1) as f64).sqrt();
    seems_faster(both) && 1.0 - ratio(both) > DEVIATIONS * of_mean
}

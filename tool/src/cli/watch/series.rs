//! The measurement of a version: it takes turns with the best version and the first one.

use super::super::failure::Failure;
use super::super::turns::{self, Turn};
use super::kept::Version;
use super::row::{Standing, is_faster};
use crate::samples::Samples;
use halide::prelude::*;
use std::time::{Duration, Instant};

/// The rounds after which times are firm.
const ROUNDS: usize = 20;

/// The least rounds, for runs that take long.
const LEAST_ROUNDS: usize = 3;

/// The time after which no more rounds begin than the least.
const LONG: Duration = Duration::from_millis(1500);

/// A version that ran, and the time of its first run in ms.
#[derive(Clone)]
pub(super) struct Ran {
    pub(super) version: Version,
    pub(super) ms: f64,
}

/// The measurement of a version.
pub(super) struct Series {
    /// The version, and those that it is compared with. A version is there once.
    turns: Vec<Turn>,
    texts: Vec<String>,
    best: Option<usize>,
    first: Option<usize>,
    rounds: usize,
    started: Instant,
}

impl Series {
    /// A measurement that begins now.
    pub(super) fn new(candidate: &Ran, best: Option<&Ran>, first: Option<&Ran>) -> Series {
        let (turns, texts, started) = (Vec::new(), Vec::new(), Instant::now());
        let mut series = Series { turns, texts, best: None, first: None, rounds: 0, started };
        series.add(candidate);
        series.best = best.map(|best| series.add(best));
        series.first = first.map(|first| series.add(first));
        series
    }

    /// The turn of a version.
    fn add(&mut self, ran: &Ran) -> usize {
        let known = self.texts.iter().position(|text| *text == ran.version.text);
        known.unwrap_or_else(|| {
            self.texts.push(ran.version.text.clone());
            self.turns.push(Turn::new(ran.version.compiled.clone(), ran.ms));
            self.turns.len() - 1
        })
    }

    /// Runs each version in turn.
    pub(super) fn round(&mut self, once: impl FnMut(&Compiled) -> Result<f64, Failure>) -> Result<(), Failure> {
        turns::round(&mut self.turns, self.rounds, once)?;
        self.rounds += 1;
        Ok(())
    }

    /// Returns true if more rounds would say little more.
    pub(super) fn is_firm(&self) -> bool {
        let is_long = self.started.elapsed() > LONG;
        self.rounds >= ROUNDS || (self.rounds >= LEAST_ROUNDS && is_long)
    }

    /// The times of the version, once there are some.
    pub(super) fn samples(&self) -> Option<&Samples> {
        self.turns.first().map(|turn| &turn.samples).filter(|samples| samples.len() > 0)
    }

    /// The standing of the version beside the best one.
    pub(super) fn standing(&self) -> Standing {
        match self.best {
            None => Standing::First,
            Some(0) => Standing::Again,
            Some(best) => {
                let (delta, noise) = self.against(best);
                Standing::new(delta, noise.filter(|_| self.rounds >= LEAST_ROUNDS))
            }
        }
    }

    /// Returns true if the version is faster than the first one by more than the noise.
    pub(super) fn beats_first(&self) -> bool {
        let beats = |first: usize| {
            let (delta, noise) = self.against(first);
            noise.is_some_and(|noise| is_faster(delta, noise))
        };
        self.first.is_some_and(|first| first != 0 && beats(first))
    }

    /// The difference of the version's least time from that of another one, of 1, and the noise of both.
    fn against(&self, other: usize) -> (f64, Option<f64>) {
        let (own, other) = (&self.turns[0].samples, &self.turns[other].samples);
        let delta = if own.len().min(other.len()) > 0 { own.min() / other.min() - 1.0 } else { 0.0 };
        let noise = own.noise().zip(other.noise()).map(|(a, b)| a.max(b));
        (delta, noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version whose runs take so many ms.
    fn ran(pipeline: &Pipeline, lanes: u32, ms: f64) -> Result<Ran, Error> {
        let text = format!("ramp: vectorize(x, {lanes})");
        let schedule: Schedule = text.parse()?;
        let compiled = pipeline.compile(&schedule, &Target::host())?;
        Ok(Ran { version: Version { text, schedule, compiled, compile_ms: 1.0 }, ms })
    }

    #[test]
    fn versions_take_turns_and_none_does_twice() -> Result<(), Box<dyn std::error::Error>> {
        let x = Var::new("x");
        let mut ramp = Func::new("ramp");
        ramp[x] = x + 1;
        let pipeline = Pipeline::new([&ramp])?;
        let [slow, fast] = [ran(&pipeline, 4, 9.0)?, ran(&pipeline, 8, 6.0)?];
        let measured = |mut series: Series| {
            let mut runs = 0;
            while !series.is_firm() {
                // Each is as fast as its turn says: the candidate comes first.
                let count = series.turns.len();
                let mut turn = series.rounds;
                let round = series.round(|_| {
                    turn += 1;
                    runs += 1;
                    Ok(if (turn - 1).is_multiple_of(count) { 6.0 } else { 9.0 })
                });
                round.map_err(|Failure(text)| text)?;
            }
            Ok::<(Series, usize), String>((series, runs))
        };
        let (alone, runs) = measured(Series::new(&slow, None, None))?;
        assert_eq!((alone.standing(), runs, alone.beats_first()), (Standing::First, ROUNDS, false));
        let (again, runs) = measured(Series::new(&slow, Some(&slow), Some(&slow)))?;
        assert_eq!((again.standing(), runs, again.beats_first()), (Standing::Again, ROUNDS, false));
        let (faster, runs) = measured(Series::new(&fast, Some(&slow), Some(&slow)))?;
        assert!(matches!(faster.standing(), Standing::Faster(by) if (by + 1.0 / 3.0).abs() < 1e-9));
        assert!(runs == 2 * ROUNDS && faster.beats_first());
        assert_eq!(faster.samples().map(Samples::len), Some(ROUNDS));
        Ok(())
    }
}

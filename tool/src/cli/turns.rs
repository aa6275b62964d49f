//! Compiled schedules that are timed in turn, so that whatever else the machine does hits all of them alike.

use super::failure::Failure;
use crate::samples::Samples;
use halide::prelude::*;
use std::borrow::BorrowMut;

/// Runs that take less are timed several at once. Unit: ms.
const SHORT: f64 = 2.0;

/// The most runs of a sample.
const MOST_RUNS: f64 = 32.0;

/// A compiled schedule with its times.
pub(crate) struct Turn {
    pub(crate) compiled: Compiled,
    pub(crate) samples: Samples,
    runs: u32,
}

impl Turn {
    /// A schedule without a time yet, one run of which takes about so many ms.
    pub(crate) fn new(compiled: Compiled, ms: f64) -> Turn {
        let runs = (SHORT / ms.max(1e-6)).clamp(1.0, MOST_RUNS) as u32;
        Turn { compiled, samples: Samples::default(), runs }
    }

    /// Takes a sample, the least time of some runs. `once` runs it and says how long that took, in ms.
    fn sample(&mut self, once: &mut impl FnMut(&Compiled) -> Result<f64, Failure>) -> Result<(), Failure> {
        let mut least = f64::INFINITY;
        for _ in 0..self.runs {
            least = least.min(once(&self.compiled)?);
        }
        self.samples.push(least);
        Ok(())
    }
}

/// Takes a sample of each schedule; each round begins with another one.
pub(crate) fn round<T: BorrowMut<Turn>>(
    turns: &mut [T],
    round: usize,
    mut once: impl FnMut(&Compiled) -> Result<f64, Failure>,
) -> Result<(), Failure> {
    let count = turns.len();
    (0..count).try_for_each(|turn| turns[(round + turn) % count].borrow_mut().sample(&mut once))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_begins_with_another_schedule() -> Result<(), Box<dyn std::error::Error>> {
        let x = Var::new("x");
        let mut ramp = Func::new("ramp");
        ramp[x] = x + 1;
        let pipeline = Pipeline::new([&ramp])?;
        let turn = |lanes: i64, ms: f64| -> Result<Turn, Error> {
            let schedule: Schedule = format!("ramp: vectorize(x, {lanes})").parse()?;
            Ok(Turn::new(pipeline.compile(&schedule, &Target::host())?, ms))
        };
        let mut turns = [turn(4, 0.9)?, turn(8, 3.0)?];
        let mut count = 0;
        for number in 0..2 {
            let taken = round(&mut turns, number, |_| {
                count += 1;
                Ok(f64::from(count))
            });
            taken.map_err(|Failure(text)| text)?;
        }
        assert_eq!(count, 6, "short runs are timed twice at once");
        assert_eq!((turns[0].samples.min(), turns[1].samples.min()), (1.0, 3.0));
        assert_eq!((turns[0].samples.len(), turns[1].samples.median()), (2, 3.5));
        Ok(())
    }
}

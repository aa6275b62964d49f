//! Repetitions that take turns, so that what else the machine does falls on all candidates alike.

use std::time::{Duration, Instant};

/// The times of one candidate in ms.
#[derive(Clone, Debug, Default)]
pub struct Times {
    sorted: Vec<f64>,
}

impl Times {
    /// One more repetition.
    pub fn add(&mut self, ms: f64) {
        let at = self.sorted.partition_point(|&t| t < ms);
        self.sorted.insert(at, ms);
    }
    /// The number of repetitions.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }
    /// The shortest; NaN of none.
    pub fn min(&self) -> f64 {
        self.sorted.first().copied().unwrap_or(f64::NAN)
    }
    /// The middle one, or the mean of the two in the middle; NaN of none.
    pub fn median(&self) -> f64 {
        match self.sorted.len() {
            0 => f64::NAN,
            n => (self.sorted[(n - 1) / 2] + self.sorted[n / 2]) / 2.0,
        }
    }
}

/// The limits of a measurement, in rounds and time.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Rounds that are run whatever they take.
    pub least: usize,
    /// Rounds that are enough.
    pub most: usize,
    /// No round begins after this.
    pub time: Duration,
}

/// Runs all candidates once without looking at the clock, then round after round: each candidate once per round. Gives
/// the times of each candidate.
///
/// # Errors
/// The first that a candidate returns.
pub fn interleaved<C, E>(
    candidates: &mut [C],
    budget: Budget,
    run: impl FnMut(&mut C) -> Result<(), E>,
) -> Result<Vec<Times>, E> {
    let begun = Instant::now();
    interleaved_by(candidates, budget, || begun.elapsed(), run)
}

/// Runs candidates as [`interleaved`] does, with times by a clock of the caller's.
///
/// # Errors
/// The first that a candidate returns.
pub fn interleaved_by<C, E>(
    candidates: &mut [C],
    budget: Budget,
    clock: impl Fn() -> Duration,
    mut run: impl FnMut(&mut C) -> Result<(), E>,
) -> Result<Vec<Times>, E> {
    candidates.iter_mut().try_for_each(&mut run)?;
    let mut times = vec![Times::default(); candidates.len()];
    let start = Instant::now();
    for round in 0..budget.most {
        if round >= budget.least && start.elapsed() >= budget.time {
            break;
        }
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            let begin = clock();
            run(candidate)?;
            times.add(milliseconds(clock().saturating_sub(begin)));
        }
    }
    Ok(times)
}

/// The time for which the threads of this process had a processor so far: what else the machine runs counts for little.
/// Zero on a system that does not tell.
pub fn processor_time() -> Duration {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let of_task = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(tasks.flatten().filter_map(of_task).sum())
}

/// A time in ms.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_take_turns() {
        let mut order = Vec::new();
        let budget = Budget { least: 2, most: 3, time: Duration::ZERO };
        let times = interleaved(&mut ['a', 'b'], budget, |c| {
            order.push(*c);
            Ok::<(), ()>(())
        });
        assert_eq!(order.iter().collect::<String>(), "ababab");
        assert_eq!(times.map(|t| t.iter().map(Times::count).collect::<Vec<_>>()), Ok(vec![2, 2]));
    }

    #[test]
    fn medians() {
        let mut times = Times::default();
        assert!(times.median().is_nan());
        [5.0, 1.0, 2.0].into_iter().for_each(|t| times.add(t));
        assert_eq!((times.min(), times.median()), (1.0, 2.0));
        times.add(9.0);
        assert_eq!(times.median(), 3.5);
    }
}

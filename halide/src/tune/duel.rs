//! The last word: the best candidate against the pick.

use super::bench::Bench;
use crate::compiled::Compiled;
use crate::error::Error;
use std::time::Duration;

/// The rounds of a duel.
pub(super) const ROUNDS: usize = 12;

/// The rounds that the best must win.
const LEAST_WON: usize = 9;

/// The least gain, so that a schedule is not exchanged for another that is as good.
const LEAST_GAIN: f64 = 0.01;

/// The least times of both sides, and the rounds that the best candidate won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duel {
    /// The least time of the pick.
    pub pick: Duration,
    /// The least time of the best candidate.
    pub best: Duration,
    /// The rounds of 12 in which the best candidate was faster.
    pub won: usize,
}

impl Duel {
    /// Runs both in turn, each first in every other round.
    pub(super) fn new(bench: &mut Bench, pick: &Compiled, best: &Compiled) -> Result<Duel, Error> {
        let mut duel = Duel { pick: Duration::MAX, best: Duration::MAX, won: 0 };
        for round in 0..ROUNDS {
            let (a, b) = if round % 2 == 0 { (pick, best) } else { (best, pick) };
            let (a, b) = (bench.sample(a)?, bench.sample(b)?);
            let (of_pick, of_best) = if round % 2 == 0 { (a, b) } else { (b, a) };
            duel.pick = duel.pick.min(of_pick);
            duel.best = duel.best.min(of_best);
            duel.won += usize::from(of_best < of_pick);
        }
        Ok(duel)
    }

    /// Returns true if the best candidate takes the place of the pick.
    pub fn is_won(&self) -> bool {
        self.won >= LEAST_WON && self.best.as_secs_f64() <= self.pick.as_secs_f64() * (1.0 - LEAST_GAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::Duel;
    use std::time::Duration;

    #[test]
    fn the_best_must_win_clearly() {
        let duel = |best, won| Duel { pick: Duration::from_micros(1000), best: Duration::from_micros(best), won };
        assert!(duel(900, 9).is_won() && duel(990, 12).is_won());
        assert!(!duel(900, 8).is_won() && !duel(995, 12).is_won() && !duel(1100, 12).is_won());
    }
}

//! The success of kinds of changes so far, by which they are chosen.

use crate::tune::outcome::MoveKind;
use crate::tune::random::Random;

/// Tries and successes of each kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credit {
    rows: [(u32, u32); MoveKind::ALL.len()],
}

impl Credit {
    /// A candidate that was made by these changes was told of: it is better than its parent, or not.
    pub(crate) fn count(&mut self, by: &[MoveKind], is_better: bool) {
        for (row, kind) in self.rows.iter_mut().zip(MoveKind::ALL) {
            if by.contains(&kind) {
                row.0 += 1;
                row.1 += u32::from(is_better);
            }
        }
    }

    /// A kind of change, by its rate of success: as if each had two tries more, of which one succeeded, so that none
    /// dies out. Changes of numbers begin with a lead, since there are
    /// many numbers, and templates do, since a step of theirs is many of others.
    pub(crate) fn choose(&self, random: &mut Random) -> MoveKind {
        let weight = |((tries, wins), kind): (&(u32, u32), MoveKind)| {
            let prior = match kind {
                MoveKind::Cross => 0.0,
                MoveKind::Number | MoveKind::Template => 2.0,
                MoveKind::Place | MoveKind::Split | MoveKind::Vectorize => 1.5,
                _ => 1.0,
            };
            prior * f64::from(wins + 1) / f64::from(tries + 2)
        };
        let weights: Vec<f64> = self.rows.iter().zip(MoveKind::ALL).map(weight).collect();
        random.weighted(&weights).map_or(MoveKind::Number, |i| MoveKind::ALL[i])
    }
}

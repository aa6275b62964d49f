//! The worth of steps: the speed that each gains alone, and the one that is lost without it.

use super::super::changes::Set;
use super::candidates::{Candidate, Candidates};
use super::untried::Untried;
use serde_json::{Value, json};

/// The relative noise of a time that was taken once.
const UNKNOWN: f64 = 1.0;

/// The ratio of two speeds.
#[derive(Clone, Copy)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// The relative noise of both times; 1 where it is not known.
    pub(super) noise: f64,
    /// True if the schedule was ended: its speed is less than this.
    pub(super) is_less: bool,
}

impl Ratio {
    /// The speed of a schedule beside another one's.
    pub(super) fn new(schedule: &Candidate, beside: &Candidate) -> Ratio {
        let noise = |candidate: &Candidate| candidate.turn.samples.noise().unwrap_or(UNKNOWN);
        Ratio {
            value: beside.turn.samples.min() / schedule.turn.samples.min().max(1e-9),
            noise: noise(schedule).max(noise(beside)),
            is_less: schedule.is_cut,
        }
    }

    /// Returns true if the speeds differ by no more than the noise.
    pub(super) fn is_within_noise(self) -> bool {
        self.value.max(1.0 / self.value) - 1.0 <= self.noise && !self.is_less
    }

    pub(super) fn text(self) -> String {
        let value = match self.value {
            value if value >= 100.0 => format!("{value:.0}"),
            value if value < 0.1 => format!("{value:.3}"),
            value => format!("{value:.2}"),
        };
        match self.is_less {
            true => format!("< x{value}"),
            false => format!("x{value} +-{:.0}%", self.noise * 100.0),
        }
    }

    pub(super) fn json(self) -> Value {
        json!({"ratio": self.value, "noise": self.noise, "is_less": self.is_less})
    }
}

/// A step of the walk, and the sets around it.
pub(super) struct Step {
    pub(super) changes: Set,
    /// The changes that were made before it.
    pub(super) before: Set,
}

impl Step {
    /// The sets whose schedules tell its worth: it alone, and all but it.
    pub(super) fn sets(&self, every: &Set) -> [Set; 2] {
        [self.changes.clone(), every - &self.changes]
    }
}

/// A row of the table.
pub(super) struct Row {
    pub(super) changes: Set,
    /// The speed of A with it beside A's, or why there is none.
    pub(super) alone: Result<Ratio, Untried>,
    /// The speed of B without it beside B's, or why there is none.
    pub(super) without: Result<Ratio, Untried>,
    /// The factor of the speed that it is worth, if that is known.
    pub(super) worth: Option<f64>,
    /// The part of the difference that it explains.
    pub(super) share: Option<f64>,
    /// The largest difference of a result that it alters.
    pub(super) differs: Option<f64>,
}

/// The rows of the steps, the one that explains most first.
pub(super) fn rows(steps: Vec<Step>, every: &Set, candidates: &Candidates<'_>) -> Result<Vec<Row>, Untried> {
    let (a, b) = (candidates.get(&Set::new())?, candidates.get(every)?);
    let whole = Ratio::new(b, a).value.ln();
    let row = |step: Step| {
        let [alone, rest] = step.sets(every).map(|set| candidates.get(&set));
        let alters = |with: &Result<&Candidate, Untried>| with.as_ref().ok().and_then(|candidate| candidate.differs);
        let differs = alters(&alone).or_else(|| alters(&rest).xor(b.differs));
        let alone = alone.map(|candidate| Ratio::new(candidate, a));
        let without = rest.map(|candidate| Ratio::new(candidate, b));
        let logs: Vec<f64> = [alone.as_ref().ok().map(|r| r.value.ln()), without.as_ref().ok().map(|r| -r.value.ln())]
            .into_iter()
            .flatten()
            .collect();
        let walked = || {
            let before = candidates.get(&step.before).ok()?;
            let after = candidates.get(&(&step.before | &step.changes)).ok()?;
            Some(Ratio::new(after, before).value.ln())
        };
        let log = if logs.is_empty() { walked() } else { Some(logs.iter().sum::<f64>() / logs.len() as f64) };
        let share = log.map(|log| log / whole);
        Row { changes: step.changes, alone, without, worth: log.map(f64::exp), share, differs }
    };
    let mut rows: Vec<Row> = steps.into_iter().map(row).collect();
    let key = |row: &Row| row.share.unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| key(b).total_cmp(&key(a)));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_as_many_digits_as_they_are_worth() {
        let text = |value: f64, is_less: bool| Ratio { value, noise: 0.02, is_less }.text();
        assert_eq!(
            [text(1.417, false), text(0.0123, false), text(123.4, false)],
            ["x1.42 +-2%", "x0.012 +-2%", "x123 +-2%"]
        );
        assert_eq!(text(0.05, true), "< x0.050");
        let is_within = |value: f64| Ratio { value, noise: 0.02, is_less: false }.is_within_noise();
        assert_eq!([1.0, 1.019, 0.985, 1.03, 0.97].map(is_within), [true, true, true, false, false]);
    }
}

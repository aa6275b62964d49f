//! The course of a tuning as values: events while it runs, and what it ends with.

use super::duel::Duel;
use super::fingerprint::TuneKey;
use halide_sched::schedule::Schedule;
use std::fmt;
use std::time::Duration;

/// The verdict on a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// It was timed in all pairs, and its output is right.
    Measured,
    /// It was given up after few pairs, since it is slow.
    Dropped,
    /// Its code is that of another candidate.
    Same,
    /// The compiler refuses it.
    Refused,
    /// Its run ended with a fault.
    Fault,
    /// Its output is wrong.
    Wrong,
    /// Its run was ended after far more time than the best takes.
    TooSlow,
    /// Its run needed more memory than it may have.
    TooMuchMemory,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 8] = {
        use Verdict::*;
        [Measured, Dropped, Same, Refused, Fault, Wrong, TooSlow, TooMuchMemory]
    };

    /// Its word in records.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Measured => "measured",
            Verdict::Dropped => "dropped",
            Verdict::Same => "same code",
            Verdict::Refused => "refused",
            Verdict::Fault => "fault",
            Verdict::Wrong => "wrong",
            Verdict::TooSlow => "too slow",
            Verdict::TooMuchMemory => "too much memory",
        }
    }
}

/// A step of a tuning.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The pick was run, its output was checked, and measuring begins.
    Started {
        /// The time of the pick.
        pick: Duration,
        /// The records of the database that are of the same circumstances.
        recalled: usize,
        /// Remarks about the database and about how the output was checked.
        notes: &'e [String],
    },
    /// A candidate was tried.
    Measured {
        /// The candidates that were tried so far.
        tried: usize,
        /// Its schedule.
        schedule: &'e Schedule,
        /// The verdict on it.
        verdict: Verdict,
        /// The time of the best one, in units of the time of the pick.
        best: f64,
        /// The time since the tuning began.
        elapsed: Duration,
    },
    /// A candidate is better than all before.
    Better {
        /// Its schedule.
        schedule: &'e Schedule,
        /// Its time in units of the time of the pick.
        ratio: f64,
    },
    /// The tuning ends.
    Ended {
        /// The reason.
        ended: Ended,
    },
}

/// The reason that a tuning ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// There was no time to measure in: the result is the pick, unmeasured.
    NoBudget,
    /// The time was up.
    TimeUp,
    /// Nothing better was found in many candidates, or in a third of the time.
    NoGain,
    /// No new candidate was found.
    Exhausted,
    /// The caller ended it.
    Stopped,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ended::NoBudget => "there was no time to measure in, so the schedule was picked by its predicted time",
            Ended::TimeUp => "the time was up",
            Ended::NoGain => "nothing better was found for a third of the time, or in 200 candidates",
            Ended::Exhausted => "no new candidate was found",
            Ended::Stopped => "it was stopped",
        })
    }
}

/// The result of a tuning.
#[derive(Clone, Debug)]
#[must_use = "the schedule is the result"]
pub struct Tuned {
    /// The fastest schedule, or the pick where nothing is faster.
    pub schedule: Schedule,
    /// The course of the search.
    pub report: TuneReport,
    /// The reason that it ended.
    pub ended: Ended,
}

/// The course of a tuning in numbers. Its text is a table.
#[derive(Clone, Debug)]
pub struct TuneReport {
    /// The circumstances.
    pub key: TuneKey,
    /// The seed.
    pub seed: u64,
    /// The schedule that it began with, or the faster one of those that it began with: the one to beat.
    pub pick: Schedule,
    /// The last duel of the best candidate and the pick; `None` where there was none, since nothing was better or since
    /// the tuning was stopped.
    pub duel: Option<Duel>,
    /// The time of the result in units of the time of the pick; 1 for the pick itself.
    pub ratio: f64,
    /// The time of that, as measured when the tuning began; `None` if nothing was measured.
    pub pick_time: Option<Duration>,
    /// The candidates that were tried.
    pub tried: usize,
    /// The number of candidates of each verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [usize; Verdict::ALL.len()],
    /// Schedules with wrong outputs, each with the first difference: mistakes of halide's own.
    pub wrong: Vec<(Schedule, String)>,
    /// Remarks about the database and about how the output was checked.
    pub notes: Vec<String>,
    /// The time that all of it took.
    pub elapsed: Duration,
}

impl TuneReport {
    /// Returns true if the result is not the pick.
    pub fn is_better(&self) -> bool {
        self.ratio < 1.0
    }

    /// The words for the times of pick and result.
    fn times(&self) -> String {
        let ms = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1e3);
        match (self.duel, self.pick_time) {
            (Some(duel), _) if self.is_better() => {
                format!("picked {}, tuned {}: {:.3} of it", ms(duel.pick), ms(duel.best), self.ratio)
            }
            (None, Some(pick)) if self.is_better() => {
                format!("picked {}, tuned {:.3} of it by its pairs alone", ms(pick), self.ratio)
            }
            (Some(Duel { pick, best, won }), _) => {
                format!(
                    "picked {}, and the best, {}, is not clearly faster: it won {won} of 12 rounds",
                    ms(pick),
                    ms(best)
                )
            }
            (None, Some(pick)) => format!("picked {}, and nothing is faster", ms(pick)),
            (_, None) => "picked, not measured".to_string(),
        }
    }
}

impl fmt::Display for TuneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.times())?;
        write!(f, "{} candidates in {:.1} s", self.tried, self.elapsed.as_secs_f64())?;
        for (verdict, count) in Verdict::ALL.into_iter().zip(self.verdicts).filter(|(_, count)| *count > 0) {
            write!(f, ", {count} {}", verdict.word())?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "\n{note}"))?;
        self.wrong.iter().try_for_each(|(schedule, at)| write!(f, "\nWRONG: {at}, by the schedule\n{schedule}"))
    }
}

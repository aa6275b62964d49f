//! A candidate in pairs with the best one.

use super::bench::Bench;
use super::event::Verdict;
use super::reference::Reference;
use crate::compiled::Compiled;
use crate::error::Error;
use halide_auto::tune::Outcome;
use std::time::Duration;

/// The pairs of a candidate that is not given up.
const PAIRS: usize = 5;

/// Ratios beyond which a candidate is given up, by the number of pairs: one pair says little.
const GIVEN_UP: [(usize, f64); 2] = [(1, 1.3), (3, 1.1)];

/// The time that the first run of a candidate may take, in units of the time of the best one.
const MOST_TIMES: u32 = 4;

/// The result of trying a candidate.
pub(super) struct Trial {
    pub(super) verdict: Verdict,
    /// Times in nanoseconds: of the candidate, and of the best one.
    pub(super) pairs: Vec<(f64, f64)>,
    /// The first difference, or the mistake that the run ended with.
    pub(super) wrong: Option<String>,
}

/// The best candidate so far, which others run beside.
pub(super) struct Anchor {
    pub(super) compiled: Compiled,
    /// Its time in units of the time of the pick.
    pub(super) time: f64,
    /// Its time when it was last seen.
    pub(super) run: Duration,
}

impl Trial {
    fn ended(verdict: Verdict) -> Trial {
        Trial { verdict, pairs: Vec::new(), wrong: None }
    }

    fn wrong(at: String) -> Trial {
        Trial { wrong: Some(at), ..Trial::ended(Verdict::Wrong) }
    }

    /// The verdict on a candidate that becomes the code of another one.
    pub(super) fn same() -> Trial {
        Trial::ended(Verdict::Same)
    }

    /// The verdict on a run that ended with an error.
    pub(super) fn failed(error: &Error) -> Trial {
        match error {
            Error::GaveUp { .. } => Trial::ended(Verdict::TooSlow),
            Error::Memory { .. } => Trial::ended(Verdict::TooMuchMemory),
            Error::Internal(defect) => Trial::wrong(defect.to_string()),
            _ => Trial::ended(Verdict::Fault),
        }
    }

    /// The verdict on a schedule that does not compile.
    pub(super) fn refused(error: &Error) -> Trial {
        match error {
            Error::Internal(defect) => Trial::wrong(defect.to_string()),
            _ => Trial::ended(Verdict::Refused),
        }
    }

    /// Runs a candidate beside the best one. `compiling` is the time that it took to compile, since its first run may
    /// compile a variant of the code.
    pub(super) fn new(
        bench: &mut Bench,
        reference: &Reference,
        anchor: &Anchor,
        (compiled, compiling): (&Compiled, Duration),
        loose: bool,
    ) -> Result<Trial, Error> {
        let most = anchor.run * MOST_TIMES + compiling * 3 + Duration::from_millis(50);
        if let Err(error) = bench.first(compiled, most) {
            return Ok(Trial::failed(&error));
        }
        if let Some(at) = reference.difference(bench.outputs(), loose)? {
            return Ok(Trial::wrong(at));
        }
        let (mut verdict, mut pairs) = (Verdict::Measured, Vec::new());
        for n in 1..=PAIRS {
            match pair(bench, (compiled, &anchor.compiled), n % 2 == 1)? {
                Ok(pair) => pairs.push(pair),
                Err(error) => return Ok(Trial::failed(&error)),
            }
            if GIVEN_UP.iter().any(|(after, most)| n == *after && ratio(&least(&pairs)) > *most) {
                verdict = Verdict::Dropped;
                break;
            }
        }
        // The candidate ran last in all odd pairs, and those are where it ends.
        if let Some(at) = reference.difference(bench.outputs(), loose)? {
            return Ok(Trial { pairs, ..Trial::wrong(at) });
        }
        Ok(Trial { verdict, pairs, wrong: None })
    }

    /// Its time in units of that of the best one: least by least.
    pub(super) fn ratio(&self) -> f64 {
        ratio(&least(&self.pairs))
    }

    /// The outcome in units of the time of the pick.
    pub(super) fn outcome(&self, anchor: f64) -> Outcome {
        match self.verdict {
            Verdict::Measured => Outcome::Measured { time: self.ratio() * anchor },
            Verdict::Dropped => Outcome::Dropped { at_least: self.ratio() * anchor },
            verdict => outcome(verdict),
        }
    }
}

/// The outcome of a verdict without a time.
pub(super) fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Same | Verdict::Measured | Verdict::Dropped => Outcome::Same,
        Verdict::Refused => Outcome::Refused,
        Verdict::Fault => Outcome::Fault,
        Verdict::Wrong => Outcome::Wrong,
        Verdict::TooSlow => Outcome::TooSlow,
        Verdict::TooMuchMemory => Outcome::TooMuchMemory,
    }
}

/// One time of the candidate, in nanoseconds, and one of the best, which runs first or last. The inner error is the
/// candidate's.
fn pair(
    bench: &mut Bench,
    (compiled, anchor): (&Compiled, &Compiled),
    is_last: bool,
) -> Result<Result<(f64, f64), Error>, Error> {
    let early = if is_last { Some(bench.sample(anchor)?) } else { None };
    let own = match bench.sample(compiled) {
        Ok(own) => own,
        Err(error) => return Ok(Err(error)),
    };
    let best = match early {
        Some(early) => early,
        None => bench.sample(anchor)?,
    };
    Ok(Ok((nanoseconds(own), nanoseconds(best))))
}

pub(super) fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}

/// The least time of each side.
fn least(pairs: &[(f64, f64)]) -> (f64, f64) {
    pairs.iter().fold((f64::INFINITY, f64::INFINITY), |least, pair| (least.0.min(pair.0), least.1.min(pair.1)))
}

fn ratio((own, best): &(f64, f64)) -> f64 {
    own / best
}

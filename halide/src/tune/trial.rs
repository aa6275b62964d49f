//! A candidate in pairs with the best one.

use super::bench::Bench;
use super::event::Verdict;
use super::reference::Reference;
use crate::compiled::Compiled;
use crate::error::Error;
use halide_auto::tune::Outcome;
use std::time::{Duration, Instant};

/// The pairs of a candidate that is not given up: of short runs, and of those from 50 ms on, which vary less.
const PAIRS: (usize, usize) = (5, 3);

/// The pairs that confirm a candidate: of short runs, and of long ones.
const CONFIRMING: (usize, usize) = (11, 5);

/// The pairs that a candidate may lose when it is confirmed: one of so many. On a busy machine times are as if from two
/// machines, and a candidate that is better by little wins three of four.
const MOST_LOST: usize = 3;

/// Ratios beyond which a candidate is given up, by the number of pairs: one pair says little.
const GIVEN_UP: [(usize, f64); 3] = [(1, 1.8), (2, 1.3), (3, 1.15)];

/// A ratio that is far below 1, also on a busy machine, and the pairs that confirm it.
const FAR: f64 = 0.5;
const FEW: usize = 3;

/// The time that the first run of a candidate may take, in units of the time of the best one.
const MOST_TIMES: u32 = 2;

/// The result of trying a candidate.
pub(super) struct Trial {
    pub(super) verdict: Verdict,
    /// Times in nanoseconds: of the candidate, and of the best one.
    pub(super) pairs: Vec<(f64, f64)>,
    /// True if it did not win most of the pairs that were to confirm it.
    is_unclear: bool,
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

impl Anchor {
    /// A number of pairs for short runs or for long ones.
    fn choose(&self, (short, long): (usize, usize)) -> usize {
        if self.run < Duration::from_millis(50) { short } else { long }
    }
}

impl Trial {
    fn ended(verdict: Verdict) -> Trial {
        Trial { verdict, pairs: Vec::new(), is_unclear: false, wrong: None }
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
        let variants = compiled.variants().len();
        let begun = Instant::now();
        if let Err(error) = bench.first(compiled, most) {
            return Ok(Trial::failed(&error));
        }
        let first = begun.elapsed();
        if let Some(at) = reference.difference(bench.outputs(), loose)? {
            return Ok(Trial::wrong(at));
        }
        // A first run that compiled nothing is no time to go by, but one of twice the best's, and long, is slow.
        if compiled.variants().len() == variants && first > anchor.run * 2 + Duration::from_millis(20) {
            let pairs = vec![(nanoseconds(first), nanoseconds(anchor.run))];
            return Ok(Trial { pairs, ..Trial::ended(Verdict::Dropped) });
        }
        let (mut verdict, mut pairs) = (Verdict::Measured, Vec::new());
        let most = anchor.choose(PAIRS);
        for n in 1..=most {
            match pair(bench, (compiled, &anchor.compiled), n % 2 == 1)? {
                Ok(pair) => pairs.push(pair),
                Err(error) => return Ok(Trial::failed(&error)),
            }
            // Far better than the best: more pairs follow to confirm it.
            if n % 2 == 1 && ratio(&least(&pairs)) < FAR {
                break;
            }
            if GIVEN_UP.iter().any(|(after, most)| n == *after && ratio(&least(&pairs)) > *most) {
                verdict = Verdict::Dropped;
                break;
            }
        }
        // The candidate ran last in odd pairs. One that is given up earlier is not the result anyway.
        if pairs.len() % 2 == 1
            && let Some(at) = reference.difference(bench.outputs(), loose)?
        {
            return Ok(Trial { pairs, ..Trial::wrong(at) });
        }
        Ok(Trial { verdict, pairs, is_unclear: false, wrong: None })
    }

    /// Runs a candidate that seems to be better once more: of many candidates, the one that seems best is mostly one
    /// that was lucky, and each error would be one of all times after it. It must win most of these pairs; otherwise it
    /// counts as no better than the best.
    pub(super) fn confirm(
        &mut self,
        bench: &mut Bench,
        reference: &Reference,
        anchor: &Anchor,
        (compiled, loose): (&Compiled, bool),
    ) -> Result<(), Error> {
        let mut again = Vec::new();
        for n in 1..=anchor.choose(CONFIRMING) {
            match pair(bench, (compiled, &anchor.compiled), n % 2 == 1)? {
                Ok(pair) => again.push(pair),
                Err(error) => {
                    *self = Trial::failed(&error);
                    return Ok(());
                }
            }
            if n == FEW && again.iter().all(|pair| ratio(pair) < FAR) {
                break;
            }
        }
        // The candidate ran last: numbers of pairs that confirm are odd.
        if let Some(at) = reference.difference(bench.outputs(), loose)? {
            *self = Trial::wrong(at);
            return Ok(());
        }
        let lost = again.iter().filter(|(own, best)| own >= best).count();
        self.is_unclear = lost * MOST_LOST > again.len();
        self.pairs = again;
        Ok(())
    }

    /// Its time in units of that of the best one: least by least.
    pub(super) fn ratio(&self) -> f64 {
        let ratio = ratio(&least(&self.pairs));
        if self.is_unclear { ratio.max(1.0) } else { ratio }
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

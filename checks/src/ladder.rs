//! All checks of whole pipelines in turn, until one finds something: the measure of what they find (`fuzz/mutants.sh`).
//!
//! `HALIDE_FUZZ_SECONDS` says for how long. The outcome of every case is printed as a letter, so that what one version
//! of the compiler refuses can be held against another one.

use crate::case::Case;
use crate::engines;
use crate::failure::{Failure, Outcome};
use crate::runs::{Seeds, caught, number};
use crate::watch::Watch;
use crate::{accesses, budgets, edges, externs, families, refusals, schedules, stacks, words, work};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A check of the case that belongs to a seed, and how many cases it has of one turn.
type Check = (&'static str, u64, fn(u64) -> Result<Outcome, Failure>);

/// The checks, which take their turns. What lowering does wrong shows without machine code, so most cases do without.
const CHECKS: [Check; 13] = [
    ("families", 4 * families::COUNT, |seed| families::check(in_a_row(seed))),
    ("edges", edges::COUNT, |seed| edges::check(in_a_row(seed))),
    ("budgets", 2, |seed| budgets::check(in_a_row(seed))),
    ("externs", 1, |seed| externs::check(in_a_row(seed))),
    ("refusals", 1, refused),
    ("lowering", 10, |seed| engines::check_lowering(&Case::random(seed))),
    ("work", 1, recorded),
    ("words", 1, explained),
    ("schedules", 1, |seed| engines::check(&Case::random(seed))),
    ("kernels", 2, |seed| engines::check(&Case::random_gpu(seed))),
    ("changed", 3, |seed| engines::check(&schedules::changed(seed))),
    ("stacks", 1, |seed| stacks::check(&stacks::case(seed / STRIDE))),
    ("accesses", 1, |seed| accesses::check(&Case::random(seed))),
];

/// The checks of records. Tests of their own go through all records, so a run of the default length leaves them out.
const OF_RECORDS: [&str; 3] = ["refusals", "work", "words"];

/// The distance of the seeds that a check has in one turn: those of other turns are others.
const APART: u64 = 1_000_001;

/// Seeds that lie this far apart have all themes in turn, and other classes of structures each time.
const STRIDE: u64 = 5;

/// Recorded cases of one turn.
const RECORDS: usize = 10;

/// Recorded cases of one turn whose words are compared.
const WORDS: usize = 20;

/// Recorded schedules of one turn.
const SCHEDULES: usize = 60;

/// The number of a seed among those of all turns.
fn in_a_row(seed: u64) -> u64 {
    seed % APART / STRIDE * 100 + seed / APART
}

/// Asks for the next recorded schedules whether they are legal.
fn refused(seed: u64) -> Result<Outcome, Failure> {
    static ALL: LazyLock<Vec<refusals::Record>> = LazyLock::new(refusals::records);
    let from = (seed / STRIDE) as usize * SCHEDULES;
    for at in from..from + SCHEDULES {
        ALL[at % ALL.len()].check()?;
    }
    Ok(Outcome::Compared)
}

/// Counts the work of the next recorded cases.
fn recorded(seed: u64) -> Result<Outcome, Failure> {
    static ALL: LazyLock<Vec<work::Record>> = LazyLock::new(work::records);
    let from = (seed / STRIDE) as usize * RECORDS;
    for at in from..from + RECORDS {
        ALL[at % ALL.len()].check()?;
    }
    Ok(Outcome::Compared)
}

/// Asks for what is explained of the next recorded cases.
fn explained(seed: u64) -> Result<Outcome, Failure> {
    match words::check_some((seed / STRIDE) as usize * WORDS, WORDS).into_iter().next() {
        Some(failure) => Err(failure),
        None => Ok(Outcome::Compared),
    }
}

/// Runs all checks on `default` seeds.
///
/// # Panics
/// At the first failure, with the seed.
pub fn in_turn(default: u64) {
    let Seeds { first, count, long } = Seeds::of_run(default);
    let limit = number("HALIDE_FUZZ_SECONDS").map(Duration::from_secs);
    let leaves_out = |name: &str| limit.is_none() && !long && OF_RECORDS.contains(&name);
    let (watch, begun) = (Watch::of_run(), Instant::now());
    let mut outcomes = CHECKS.map(|_| String::new());
    let mut spent = CHECKS.map(|_| Duration::ZERO);
    let rounds = if limit.is_some() { u64::MAX } else { count };
    let mut slowest = (Duration::ZERO, 0);
    for round in 0..rounds {
        if limit.is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        let checks = CHECKS.iter().zip(&mut outcomes).zip(&mut spent);
        for (((name, cases, check), outcomes), spent) in checks.filter(|(((name, ..), _), _)| !leaves_out(name)) {
            for case in 0..*cases {
                let (seed, start) = (first + round * STRIDE + case * APART, Instant::now());
                watch.begin(seed);
                let result = caught(|| check(seed)).and_then(|result| result);
                watch.end();
                *spent += start.elapsed();
                slowest = slowest.max((start.elapsed(), seed));
                outcomes.push(letter(result).unwrap_or_else(|Failure { kind, text }| {
                    let seconds = begun.elapsed().as_secs_f64();
                    let line = text.lines().next().unwrap_or_default();
                    panic!("FOUND\t{name}\t{seed}\t{seconds:.1}\t{kind}\t{line}");
                }));
            }
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("KEPT\t{seconds:.1}\t{slowest:?}");
    for (((name, ..), outcomes), spent) in CHECKS.iter().zip(&outcomes).zip(spent) {
        println!("OUTCOMES\t{name}\t{outcomes}\t{:.1} s", spent.as_secs_f64());
    }
}

/// The letter of an outcome: compared or refused.
fn letter(result: Result<Outcome, Failure>) -> Result<char, Failure> {
    Ok(match result? {
        Outcome::Compared | Outcome::ComparedOnDevice => 'c',
        // Where there is no device, the evaluator has run the kernels.
        Outcome::Refused(why) if why == "no device" => 'c',
        Outcome::Refused(_) => 'r',
    })
}

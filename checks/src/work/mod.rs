//! Work of lowered programs, held against a record (`checks/records/work.txt`): right values by more work than before
//! are a failure. Points stored, iterations, operations, bytes, code, checks, elements of inputs and unproved buffers
//! and loops may fall and never rise, and what was compiled and run stays so.
//!
//! Cases are random ones, random ones with kernels, and families of pipelines, whose lost optimisations show as wider
//! vectors, lanes that are loaded apart, barriers.
//!
//! The record holds the schedules, so that a schedule that has become illegal is seen. `UPDATE_EXPECT=1` counts again,
//! and draws other cases in place of those that are refused.

mod counts;
mod file;

pub use file::records;

use crate::case::Case;
use crate::engines::{Failure, failure};
use crate::families::Member;
use counts::measure;
use halide::prelude::*;
use std::fmt::{self, Write};

/// The counts of one run, in the order of [`NAMES`].
type Counts = [u64; NAMES.len()];

/// Names of the counts: the work of a variant, what its program is made of, and for the main one checks of accesses and
/// unproved orders.
const NAMES: [&str; 14] = [
    "points",
    "iterations",
    "operations",
    "bytes",
    "code",
    "inputs",
    "asserts",
    "bits",
    "apart",
    "barriers",
    "shared",
    "checks",
    "unproved",
    "unfolded",
];

/// The variants of a program: with exact tails, and the main one.
const VARIANTS: [&str; 2] = ["exact", "main"];

/// The most operations of a recorded case, so that all of them take seconds.
const MOST_OPERATIONS: u64 = 60_000;

/// The most instructions and statements of a recorded case.
const MOST_CODE: u64 = 4_000;

/// The sources of the recorded cases of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A random pipeline.
    Case,
    /// The same with kernels.
    Kernels,
    /// A family of pipelines; its seed is that of the record.
    Family(Member),
}

impl Source {
    /// All of them, families last.
    fn all() -> impl Iterator<Item = Source> {
        [Source::Case, Source::Kernels].into_iter().chain(Member::first().map(Source::Family))
    }

    fn name(self) -> &'static str {
        match self {
            Source::Case => "case",
            Source::Kernels => "kernels",
            Source::Family(member) => member.name(),
        }
    }

    fn draw(self, seed: u64, schedule: Option<Schedule>) -> Case {
        match self {
            Source::Case => Case::of_seed(seed, schedule),
            Source::Kernels => Case::gpu_of_seed(seed, schedule),
            Source::Family(member) => member.with_seed(seed).case(schedule),
        }
    }
}

/// A recorded case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    seed: u64,
    source: Source,
    schedule: String,
    /// By variant; the main one need not serve every call.
    counts: [Option<Counts>; 2],
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source.name(), self.seed)
    }
}

impl Record {
    /// Counts the work of the case again.
    pub fn check(&self) -> Result<(), Failure> {
        let schedule: Schedule = self.schedule.parse().map_err(|e| failure("text of a schedule", format!("{e:?}")))?;
        let counts = match measure(self.source.draw(self.seed, Some(schedule)))? {
            Ok(counts) => counts,
            Err(why) => return Err(failure(format!("refused: {why}"), format!("{self} was compiled and run before"))),
        };
        let mut more = String::new();
        for ((variant, before), now) in VARIANTS.iter().zip(self.counts).zip(counts) {
            let Some(before) = before else { continue };
            let Some(now) = now else {
                return Err(failure("another variant", format!("{self}: {variant} served the call before")));
            };
            for ((what, before), now) in NAMES.iter().zip(before).zip(now).filter(|((_, a), b)| b > a) {
                let _ = write!(more, " {variant} {what} {now}, not {before};");
            }
        }
        match more.is_empty() {
            true => Ok(()),
            false => Err(failure("more work", format!("{self}:{more}\n{}", self.schedule))),
        }
    }

    /// The case that belongs to a seed, if it is served and of a size for a record.
    fn draw(seed: u64, source: Source) -> Result<Option<Record>, Failure> {
        Record::count(source.draw(seed, None).schedule.to_string(), seed, source)
    }

    fn count(schedule: String, seed: u64, source: Source) -> Result<Option<Record>, Failure> {
        let Ok(parsed) = schedule.parse() else { return Ok(None) };
        let Ok(counts) = measure(source.draw(seed, Some(parsed)))? else { return Ok(None) };
        let small = |c: &Counts| c[2] <= MOST_OPERATIONS && c[4] <= MOST_CODE;
        let fits = counts.iter().flatten().all(small);
        Ok(fits.then_some(Record { seed, source, schedule, counts }))
    }
}

/// Counts everything again and writes the record: of cases that are served as before the schedules stay, and others are
/// drawn until there are as many as asked for: random cases, those with kernels, and of each family.
///
/// # Panics
/// Where a case fails, or the record cannot be written.
pub fn update(numbers: [usize; 3]) {
    let before = file::try_records().unwrap_or_default();
    let mut all = Vec::new();
    for source in Source::all() {
        let most = match source {
            Source::Case => numbers[0],
            Source::Kernels => numbers[1],
            Source::Family(_) => numbers[2],
        };
        let mut kept: Vec<Record> = Vec::new();
        for record in before.iter().filter(|r| r.source == source).take(most) {
            kept.extend(counted(record.seed, Record::count(record.schedule.clone(), record.seed, source)));
        }
        for seed in 0.. {
            if kept.len() >= most {
                break;
            }
            if kept.iter().all(|r| r.seed != seed) {
                kept.extend(counted(seed, Record::draw(seed, source)));
            }
        }
        kept.sort_by_key(|r| r.seed);
        all.extend(kept);
    }
    file::write(&all);
}

fn counted(seed: u64, result: Result<Option<Record>, Failure>) -> Option<Record> {
    result.unwrap_or_else(|f| panic!("seed {seed}: {}: {}", f.kind, f.text))
}

//! A recorded case.

use super::counts::{Counts, NAMES, OF_LOWERING, measure};
use crate::case::Case;
use crate::failure::{Failure, failure};
use crate::families::Member;
use halide::prelude::*;
use std::fmt::{self, Write};

/// The variants of a program: with exact tails, and the main one.
pub(super) const VARIANTS: [&str; 2] = ["exact", "main"];

/// The most operations of a recorded case, so that all of them take seconds.
const MOST_OPERATIONS: u64 = 60_000;

/// The most instructions and statements of a recorded case.
const MOST_CODE: u64 = 4_000;

/// The sources of the recorded cases of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A random pipeline.
    Case,
    /// The same with kernels.
    Kernels,
    /// A family of pipelines; its seed is that of the record.
    Family(Member),
}

impl Source {
    /// All of them, families last.
    pub(super) fn all() -> impl Iterator<Item = Source> {
        [Source::Case, Source::Kernels].into_iter().chain(Member::first().map(Source::Family))
    }

    pub(super) fn name(self) -> &'static str {
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

/// Returns true if a count is no longer what was recorded: it rose, or with `HALIDE_FUZZ_EXACT`, where the compiler is
/// to be the one that the record is of, it is another one. What lowering looks at may rise by an eighth.
fn is_worse(what: &str, before: u64, now: u64) -> bool {
    if std::env::var_os("HALIDE_FUZZ_EXACT").is_some() {
        return now != before;
    }
    let slack = if OF_LOWERING.contains(&what) { before / 8 } else { 0 };
    now > before.saturating_add(slack)
}

/// A recorded case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub(super) seed: u64,
    pub(super) source: Source,
    pub(super) schedule: String,
    /// By variant; the main one need not serve every call.
    pub(super) counts: [Option<Counts>; 2],
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source.name(), self.seed)
    }
}

impl Record {
    /// The name of the source of the case.
    pub(crate) fn source_name(&self) -> &'static str {
        self.source.name()
    }

    /// The case; `None` where its schedule is none any more.
    pub(crate) fn case(&self) -> Option<Case> {
        let schedule = self.schedule.parse().ok()?;
        Some(self.source.draw(self.seed, Some(schedule)).main_part())
    }

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
            for ((what, before), now) in NAMES.iter().zip(before).zip(now) {
                if is_worse(what, before, now) {
                    let _ = write!(more, " {variant} {what} {now}, not {before};");
                }
            }
        }
        match more.is_empty() {
            true => Ok(()),
            false => Err(failure("more work", format!("{self}:{more}\n{}", self.schedule))),
        }
    }

    /// The case that belongs to a seed, if it is served and of a size for a record.
    pub(super) fn draw(seed: u64, source: Source) -> Result<Option<Record>, Failure> {
        Record::count(source.draw(seed, None).schedule.to_string(), seed, source)
    }

    pub(super) fn count(schedule: String, seed: u64, source: Source) -> Result<Option<Record>, Failure> {
        let Ok(parsed) = schedule.parse() else { return Ok(None) };
        let Ok(counts) = measure(source.draw(seed, Some(parsed)))? else { return Ok(None) };
        let small = |c: &Counts| c[2] <= MOST_OPERATIONS && c[4] <= MOST_CODE;
        let fits = counts.iter().flatten().all(small);
        Ok(fits.then_some(Record { seed, source, schedule, counts }))
    }
}

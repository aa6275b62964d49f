//! Schedules that are legal or not, and why, held against a record (`checks/records/refusals.txt`): what becomes legal
//! or illegal, or is refused for another reason, is a change that somebody must mean.
//!
//! Cases are schedules that somebody changed, the same for a GPU, lines of families, and outputs in the
//! memory of inputs. The record holds the schedules; `UPDATE_EXPECT=1` asks again.

use crate::failure::{Failure, failure};
use crate::families::Member;
use crate::legal::{LEGAL, answer};
use crate::{in_place, schedules};
use halide_ir::target::Gpu;
use std::path::PathBuf;

/// The sources of the recorded schedules of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A schedule that somebody changed.
    Changed,
    /// The same with kernels.
    ChangedKernels,
    /// Lines of a family of pipelines.
    Family,
    /// Outputs in the memory of inputs.
    InPlace,
    /// Lines about storage outside of loops that run at once.
    Levels,
}

impl Source {
    const ALL: [Source; 5] = [Source::Changed, Source::ChangedKernels, Source::Family, Source::InPlace, Source::Levels];

    fn name(self) -> &'static str {
        match self {
            Source::Changed => "changed",
            Source::ChangedKernels => "kernels",
            Source::Family => "family",
            Source::InPlace => "in_place",
            Source::Levels => "levels",
        }
    }

    /// Returns the answer for each schedule of a seed; for those that are given, in place of the ones that would be
    /// drawn.
    fn ask(self, seed: u64, given: Option<&[(String, String)]>) -> Vec<(String, String)> {
        let gpu = match self {
            Source::Changed => None,
            Source::ChangedKernels => Some(Gpu { subgroup: Some(8), ..Gpu::LEAST }),
            Source::Family => return Member::of_schedules(seed).map(Member::answers).unwrap_or_default(),
            Source::InPlace => return in_place::answers(seed),
            Source::Levels => return Member::of_levels(seed).map(Member::answers).unwrap_or_default(),
        };
        let given = given.and_then(|all| all.first()?.0.trim_matches('#').replace(" ; ", "\n").parse().ok());
        let case = schedules::changed_for(seed, gpu, given);
        let text = case.schedule.to_string().trim().replace('\n', " ; ");
        // A schedule may be empty.
        let text = if text.is_empty() { "#".to_string() } else { text };
        vec![(text, answer(&case.pipeline, &case.schedule, &case.target))]
    }
}

/// Schedules of a seed, each with what was said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    source: Source,
    seed: u64,
    said: Vec<(String, String)>,
}

impl Record {
    /// Asks again.
    pub fn check(&self) -> Result<(), Failure> {
        let now = self.source.ask(self.seed, Some(&self.said));
        let name = format!("{} {}", self.source.name(), self.seed);
        if now.len() != self.said.len() {
            return Err(failure("other schedules", format!("{name}: other schedules are drawn")));
        }
        for ((schedule, before), (drawn, answer)) in self.said.iter().zip(&now) {
            if schedule != drawn {
                return Err(failure("other schedules", format!("{name}: {drawn}\nis drawn, not {schedule}")));
            }
            if before != answer {
                let kind = match (before.as_str(), answer.as_str()) {
                    (LEGAL, _) => "illegal now",
                    (_, LEGAL) => "legal now",
                    _ => "another reason",
                };
                return Err(failure(kind, format!("{name}: {answer}\nbefore: {before}\n{schedule}")));
            }
        }
        Ok(())
    }
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("records/refusals.txt")
}

/// Reads the record.
///
/// # Panics
/// Where it cannot be read.
pub fn records() -> Vec<Record> {
    let text = std::fs::read_to_string(path()).unwrap_or_else(|e| panic!("{}: {e}", path().display()));
    let all: Option<Vec<Record>> = text.split("\n\n").filter(|part| !part.trim().is_empty()).map(read).collect();
    all.unwrap_or_else(|| panic!("{} is not what this crate writes", path().display()))
}

/// Reads one case: its kind and seed, and a line for what is said of a schedule before the line of the schedule.
fn read(part: &str) -> Option<Record> {
    let mut lines = part.trim_end().lines();
    let (word, seed) = lines.next()?.split_once(' ')?;
    let source = Source::ALL.into_iter().find(|source| source.name() == word)?;
    let mut said = Vec::new();
    while let (Some(answer), Some(schedule)) = (lines.next(), lines.next()) {
        said.push((schedule.trim().to_string(), answer.to_string()));
    }
    Some(Record { source, seed: seed.parse().ok()?, said })
}

/// Asks for so many cases of each kind, and writes the record. Schedules stay as they are recorded.
///
/// # Panics
/// Where it cannot be written.
pub fn update(numbers: [u64; 5]) {
    let before = if path().exists() { records() } else { Vec::new() };
    let mut text = Vec::new();
    for (source, count) in Source::ALL.into_iter().zip(numbers) {
        for seed in 0..count {
            let known = before.iter().find(|r| (r.source, r.seed) == (source, seed)).map(|r| &r.said[..]);
            let said = source.ask(seed, known).into_iter().map(|(schedule, said)| format!("{said}\n  {schedule}\n"));
            text.push(format!("{} {seed}\n{}", source.name(), said.collect::<String>()));
        }
    }
    std::fs::write(path(), text.join("\n")).unwrap_or_else(|e| panic!("{}: {e}", path().display()));
}

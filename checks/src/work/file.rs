//! The text of a record: cases with a line of counts for each variant, and their schedules.

use super::counts::NAMES;
use super::record::{Record, Source, VARIANTS};
use std::fmt::Write;
use std::path::PathBuf;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("records/work.txt")
}

/// Reads the record.
///
/// # Panics
/// Where it cannot be read.
pub fn records() -> Vec<Record> {
    try_records().unwrap_or_else(|| panic!("{} is not what this crate writes", path().display()))
}

/// Reads the record; `None` where there is none, or one that says other things of cases.
pub(super) fn try_records() -> Option<Vec<Record>> {
    let text = std::fs::read_to_string(path()).ok()?;
    text.split("\n\n").filter(|part| !part.trim().is_empty()).map(read).collect()
}

/// Reads one case: its kind and seed, counts by variant, and the schedule.
fn read(part: &str) -> Option<Record> {
    let mut lines = part.trim().lines();
    let (word, seed) = lines.next()?.split_once(' ')?;
    let source = Source::all().find(|source| source.name() == word)?;
    let mut counts = [None, None];
    let mut schedule = String::new();
    for line in lines {
        let variant = VARIANTS.iter().position(|v| line.split_once('|').is_some_and(|(word, _)| word.trim() == *v));
        match variant {
            Some(n) => {
                let mut numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                // What an older record does not count may be anything.
                numbers.resize(NAMES.len(), u64::MAX);
                counts[n] = Some(numbers.try_into().ok()?);
            }
            None => schedule += &format!("{line}\n"),
        }
    }
    Some(Record { seed: seed.parse().ok()?, source, schedule, counts })
}

fn text(record: &Record) -> String {
    let mut text = format!("{record}\n");
    for (variant, counts) in VARIANTS.iter().zip(record.counts) {
        let Some(counts) = counts else { continue };
        let words: Vec<String> = NAMES.iter().zip(counts).map(|(name, n)| format!("{name} {n}")).collect();
        let _ = writeln!(text, "{variant} | {}", words.join(" "));
    }
    text + record.schedule.trim_end() + "\n"
}

/// Writes a record.
///
/// # Panics
/// Where it cannot be written.
pub(super) fn write(all: &[Record]) {
    let text: Vec<String> = all.iter().map(text).collect();
    let written = std::fs::create_dir_all(path().parent().unwrap_or(&path()));
    let written = written.and_then(|()| std::fs::write(path(), text.join("\n")));
    written.unwrap_or_else(|e| panic!("{}: {e}", path().display()));
}

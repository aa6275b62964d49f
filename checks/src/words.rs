//! Words of `--explain` for recorded cases (`checks/records/words.txt`): the decisions of every pass, which nothing in
//! lowering reads, so a wrong one shows in no value.
//!
//! Cases are those of the record of work (`work`), some of each source; `UPDATE_EXPECT=1` asks again.

use crate::failure::{Failure, failure};
use crate::legal::without_lines;
use crate::work::{self, Record};
use halide::lower::{Accesses, LowerOptions, lower};
use halide::plan;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most cases of a source.
const MOST_CASES: usize = 8;

/// The words of a case, a line for each decision below the name of its pass.
fn words(record: &Record) -> String {
    let Some(case) = record.case() else { return "no schedule\n".to_string() };
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return "illegal schedule\n".to_string();
    };
    let options = LowerOptions { accesses: Accesses::BeforeLoops, ..LowerOptions::default() };
    match lower(&plan, &options) {
        Ok(lowered) => without_lines(&lowered.trace.to_string()),
        Err(errors) => format!("{}\n", errors[0]),
    }
}

/// The recorded cases, by name.
fn cases() -> BTreeMap<String, Record> {
    let mut sources: BTreeMap<String, usize> = BTreeMap::new();
    let mut few = |record: &Record| {
        let count = sources.entry(record.source_name().to_string()).or_default();
        *count += 1;
        *count <= MOST_CASES
    };
    work::records().into_iter().filter(|r| few(r)).map(|r| (r.to_string(), r)).collect()
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("records/words.txt")
}

/// Compares the words of all recorded cases.
///
/// # Panics
/// Where the record cannot be read.
pub fn check() -> Vec<Failure> {
    check_some(0, usize::MAX)
}

/// Compares the words of so many recorded cases, from that of a number on.
///
/// # Panics
/// Where the record cannot be read.
pub(crate) fn check_some(first: usize, count: usize) -> Vec<Failure> {
    let text = std::fs::read_to_string(path()).unwrap_or_else(|e| panic!("{}: {e}", path().display()));
    let before: BTreeMap<&str, &str> = text.split("\n\n").filter_map(|part| part.trim().split_once('\n')).collect();
    let (mut failed, all) = (Vec::new(), cases());
    let first = first % all.len().max(1);
    for (name, record) in all.into_iter().skip(first).take(count) {
        let now = words(&record);
        let Some(before) = before.get(name.as_str()) else {
            failed.push(failure("no words", format!("{name} has no record of what is explained")));
            continue;
        };
        let mut pairs = before.lines().zip(now.lines()).filter(|(a, b)| a != b);
        if let Some((a, b)) = pairs.next() {
            failed.push(failure("other words", format!("{name}:\n{b}\nbefore:\n{a}")));
        } else if before.lines().count() != now.lines().count() {
            failed.push(failure("other words", format!("{name}: more or fewer decisions:\n{now}")));
        }
    }
    failed
}

/// Asks again, and writes the record.
///
/// # Panics
/// Where it cannot be written.
pub fn update() {
    let parts: Vec<String> = cases().iter().map(|(name, record)| format!("{name}\n{}", words(record))).collect();
    std::fs::write(path(), parts.join("\n")).unwrap_or_else(|e| panic!("{}: {e}", path().display()));
}

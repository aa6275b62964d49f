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
mod record;

pub use file::records;
pub use record::Record;

use crate::failure::Failure;
use record::Source;

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
            // Sizes about which it decides are few among many.
            Source::Family(member) if member.name() == "deep" => 3 * numbers[2],
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

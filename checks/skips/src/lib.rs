//! Ledger of skips. The test runner swallows the output of tests that pass, so a test that returns early looks like one
//! that ran. [`skip`] writes a line for each to the file that `HALIDE_SKIPS` names; the program of this crate prints
//! the file and fails where the machine has what a test says that it lacks.
//!
//! A line is `package test`, the [`Need`] and the words of the test, with tabs between them.

mod ledger;
mod machine;
mod need;

pub use ledger::{Entry, Judged, Ledger};
pub use machine::{Has, Machine};
pub use need::Need;

use std::collections::BTreeSet;
use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Mutex;

/// The environment variable that names the ledger. Unset, skips are lines on stderr.
pub const LEDGER: &str = "HALIDE_SKIPS";

/// Records that the current test leaves out, wholly or in part, what `need` is needed for; `why` adds what the test
/// knows.
///
/// # Panics
/// Where the ledger cannot be written. With `CI=true` also for what `.ci/run` installs.
#[track_caller]
pub fn skip(need: Need<'_>, why: impl Display) {
    /// Lines of this process: a test may come by here for each of its cases.
    static WRITTEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let why = why.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let is_ci = env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!(is_ci && need.is_installed_by_ci()), "a test needs {need}, which `.ci/run` installs: {why}");
    let thread = std::thread::current();
    let package = env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "?".into());
    let line = format!("{package} {}\t{need}\t{why}\n", thread.name().unwrap_or("?"));
    if !WRITTEN.lock().unwrap_or_else(|e| e.into_inner()).insert(line.clone()) {
        return;
    }
    match env::var_os(LEDGER) {
        None => eprint!("SKIPPED: {line}"),
        Some(path) => {
            // One write a line, so that those of several processes do not mix.
            let file = OpenOptions::new().create(true).append(true).open(&path);
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            written.unwrap_or_else(|e| panic!("the ledger {} cannot be written: {e}", path.display()));
        }
    }
}

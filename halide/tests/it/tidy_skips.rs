//! Rules for what tests leave out: few files ask what a machine has, and these tell the ledger of skips.

use crate::tidy::{code, is_test, none, read, sources};
use std::collections::BTreeSet;

/// Questions to the machine, as they stand in code.
const QUESTIONS: [&str; 7] = [
    "Gpu::open(",
    ".request_adapter(",
    "is_x86_feature_detected!",
    "CpuFeatures::host()",
    ".available()",
    ".features()",
    "#[ignore",
];

/// Files of tests and examples that ask, with what for. Whoever asks calls `halide_skips::skip` where the answer is no,
/// or expects another result.
const ASKERS: [(&str, &str); 16] = [
    ("apps/tests/it/gpu.rs", "a device"),
    ("backends/cpu/tests/it/arithmetic.rs", "the instructions that are expected"),
    ("backends/cpu/tests/it/dot.rs", "the instructions that are expected"),
    ("backends/cpu/tests/it/harness.rs", "extensions of the processor"),
    ("backends/cpu/tests/it/pairs.rs", "a tier that every machine has"),
    ("backends/cpu/tests/it/running.rs", "the error of a machine without an extension"),
    ("backends/gpu/tests/it/runner.rs", "a device without our runtime"),
    ("backends/gpu/tests/it/runtime.rs", "a device by name"),
    ("backends/gpu/tests/it/support.rs", "a device"),
    ("checks/src/device.rs", "a device"),
    ("checks/src/tiers.rs", "extensions of the processor"),
    ("halide/examples/gpu.rs", "a device; `.ci/run` reads what it prints"),
    ("halide/tests/it/floats.rs", "the rounding that is expected"),
    ("halide/tests/it/gpu.rs", "a device"),
    ("halide/tests/it/gpu_lanes.rs", "64-bit integers of the device"),
    ("halide/tests/page/main.rs", "a device"),
];

#[test]
fn few_tests_ask_what_a_machine_has() {
    let (mut found, mut asking) = (Vec::new(), BTreeSet::new());
    let is_about_tests = |path: &str| is_test(path) || path.starts_with("checks/src/") || path.contains("/examples/");
    for (path, text) in sources().into_iter().filter(|(path, _)| is_about_tests(path)) {
        for (line, code) in code(&text).filter(|(_, code)| QUESTIONS.iter().any(|q| code.contains(q))) {
            match ASKERS.iter().find(|(file, _)| path == *file) {
                Some((file, _)) => drop(asking.insert(*file)),
                None => found.push(format!("{path}:{line}: {}", code.trim())),
            }
        }
    }
    let idle = ASKERS.iter().filter(|(file, _)| !asking.contains(file));
    found.extend(idle.map(|(file, _)| format!("{file} asks no more; take it off the list")));
    none(found, "questions to the machine outside of the files that tell the ledger");
}

/// The names that stand as the part `at` between quotes in the rows between two lines of a file.
fn rows(path: &str, from: &str, at: usize) -> BTreeSet<String> {
    let text = read(path);
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("{path} has `{from}`"));
    let rows = rest.lines().skip(1).take_while(|line| !["}", "];"].contains(line));
    rows.filter_map(|row| Some(row.split('"').nth(at)?.to_string())).collect()
}

/// A skip for an extension that the ledger does not know is no reason, and one that no code uses is none either.
#[test]
fn the_ledger_knows_every_extension() {
    let ours = rows("halide-ir/src/features.rs", "\nfeatures! {", 1);
    let known = rows("checks/skips/src/machine.rs", "\nconst EXTENSIONS:", 1);
    assert!(ours.len() > 10, "{ours:?}");
    assert_eq!(ours, known, "the rows of `features!`, and EXTENSIONS of the ledger");
}

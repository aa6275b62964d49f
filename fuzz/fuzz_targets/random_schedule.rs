//! Random pipelines under random legal schedules give the same values on every engine. The input is a seed.
#![no_main]

use halide_checks::case::Case;
use halide_checks::engines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|seed: u64| {
    let case = Case::random(seed);
    if let Err(failure) = engines::check(&case) {
        panic!("{}\n{case}\n{}", failure.kind, failure.text);
    }
});

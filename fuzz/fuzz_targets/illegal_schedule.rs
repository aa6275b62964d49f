//! Schedules that somebody changed are refused with reasons, or right. The input is a seed.
#![no_main]

use halide_checks::{engines, schedules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|seed: u64| {
    schedules::any_numbers(seed).unwrap_or_else(|e| panic!("{e}"));
    let case = schedules::changed(seed);
    if let Err(failure) = engines::check(&case) {
        panic!("{}\n{case}\n{}", failure.kind, failure.text);
    }
});

//! Random expressions and programs of loop IR mean the same after they were simplified. The input is a seed.
#![no_main]

use halide_checks::algebra;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|seed: u64| {
    algebra::expression(seed).and_then(|()| algebra::program(seed)).unwrap_or_else(|e| panic!("{e}"))
});

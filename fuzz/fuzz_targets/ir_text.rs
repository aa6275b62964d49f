//! Any text as loop IR.
#![no_main]

use halide_checks::text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| text::ir(input).unwrap_or_else(|e| panic!("{e}")));

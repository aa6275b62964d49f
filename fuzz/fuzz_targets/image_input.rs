//! Any bytes as an image file.
#![no_main]

use halide_checks::image_input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| image_input::decode(bytes).unwrap_or_else(|e| panic!("{e}")));

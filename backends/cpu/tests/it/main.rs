//! Programs made by hand, compiled, run and held against `halide_core::value`.

mod arithmetic;
mod atomics;
mod checks;
mod cleanup;
mod code_map;
mod conditions;
mod control;
mod device;
mod divide64;
mod dot;
#[cfg(target_os = "linux")]
mod guarded;
#[cfg(target_os = "linux")]
mod guards;
mod harness;
mod large;
mod limits;
mod lookup;
mod memory;
mod nests;
mod pairs;
mod products;
mod random;
mod running;
mod stack;
mod wide;
mod widened;

/// Records the tests that this build leaves out.
#[test]
fn tests_that_are_not_compiled() {
    if !cfg!(target_os = "linux") {
        halide_skips::skip(halide_skips::Need::System("linux"), "memory between guard pages");
    }
}

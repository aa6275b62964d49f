//! Kernels made by hand: as shaders they are valid, look as expected, and compute what `halide_core::value` says; and
//! the runtime that runs kernels, with shaders of its own.

mod arithmetic;
mod atomics;
mod check;
mod control;
mod convert;
mod errors;
mod golden;
mod harness;
mod lowered;
mod math;
mod memory;
mod random;
mod range;
mod runner;
#[cfg(feature = "runtime")]
mod runtime;
#[cfg(feature = "runtime")]
mod runtime_errors;
#[cfg(feature = "runtime")]
mod runtime_memory;
mod spirv;
#[cfg(feature = "runtime")]
mod support;

/// Records the tests that this build leaves out.
#[test]
fn tests_that_are_not_compiled() {
    if !cfg!(feature = "runtime") {
        halide_skips::skip(halide_skips::Need::Feature("runtime"), "runs of whole programs");
    }
}

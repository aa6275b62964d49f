//! Kernels made by hand: as shaders they are valid, look as expected, and compute what `halide_core::value` says.

mod arithmetic;
mod check;
mod convert;
mod harness;
mod math;
mod runner;
mod spirv;

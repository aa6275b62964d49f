//! Kernels made by hand: as shaders they are valid, look as expected, and compute what `halide_core::value` says.

mod arithmetic;
mod harness;
mod runner;
mod spirv;

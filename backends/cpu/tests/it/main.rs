//! Programs made by hand, compiled, run and held against `halide_core::value`.

mod arithmetic;
mod harness;

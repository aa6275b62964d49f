//! Programs made by hand, compiled, run and held against `halide_core::value`.

mod arithmetic;
mod atomics;
mod checks;
mod cleanup;
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

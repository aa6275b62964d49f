//! The environment that compiled code runs in: one [`Run`] per call, one [`Worker`] per thread that takes part in it,
//! memory, parallel loops and faults. [`entry`] and [`device`] have the functions that compiled code calls.
//!
//! Most of the crate's unsafe code is here; the rest is in `codegen::jit`, and where code is told to profilers.

#![allow(unsafe_code)]

pub(crate) mod call;
pub(crate) mod call_shape;
pub(crate) mod device;
pub(crate) mod entry;
mod heap;
mod linked;
mod parallel;
mod profile;
mod run;
mod stack;
#[cfg(test)]
mod tests;

pub(crate) use entry::guarded;
pub(crate) use heap::Pool;
pub use linked::{EntryFn, LinkedEntry};
pub(crate) use parallel::within;
pub use profile::Sampler;
pub(crate) use run::{Line, Run, Worker};

//! The environment that compiled code runs in: one [`Run`] per call, one [`Worker`] per thread that takes part in it,
//! memory, parallel loops and faults. [`entry`] and [`device`] have the functions that compiled code calls.
//!
//! This is one of the two places of the crate with unsafe code; the other is `codegen::jit`.

#![allow(unsafe_code)]

pub(crate) mod call;
pub(crate) mod call_shape;
pub(crate) mod device;
pub(crate) mod entry;
mod heap;
mod parallel;
mod profile;
mod run;
mod stack;
#[cfg(test)]
mod tests;

pub(crate) use entry::guarded;
pub(crate) use heap::Pool;
pub(crate) use parallel::within;
pub use profile::Sampler;
pub(crate) use run::{Line, Run, Worker};

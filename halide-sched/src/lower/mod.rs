//! Lowering passes.

pub(crate) mod copy;
pub mod flatten_storage;
pub mod instrument;
pub mod interleave;
pub(crate) mod lanes;
pub mod outline_tasks;
pub mod share;
pub(crate) mod terms;
pub mod trace;
pub mod uniquify;
pub mod unroll;
pub mod vectorize;
pub(crate) mod walk;

#[cfg(test)]
mod late_tests;

//! Lowering passes.

pub(crate) mod copy;
pub mod flatten_storage;
pub(crate) mod lanes;
pub mod outline_tasks;
pub mod trace;
pub mod uniquify;
pub mod unroll;
pub mod vectorize;
pub(crate) mod walk;

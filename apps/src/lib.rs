//! Example pipelines with their schedules.

pub mod app;
pub mod filters;

pub use halide_tool::{files, input, job, params};

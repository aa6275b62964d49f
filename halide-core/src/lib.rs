//! The algorithm language of halide: what a pipeline computes, and an interpreter that defines it.
//!
//! Nothing here can observe a schedule, a loop or a target.

pub mod buffer;
pub mod error;
pub mod ids;
pub mod interp;
pub mod math;
pub mod ops;
pub mod pipeline;
pub mod types;
pub mod value;

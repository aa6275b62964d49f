//! Tests of scheduling and lowering.

mod lowering;
mod matrix;

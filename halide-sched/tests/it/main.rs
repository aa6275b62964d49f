//! Tests of scheduling and lowering.

mod directives;
mod lowering;
mod matrix;
mod scale;

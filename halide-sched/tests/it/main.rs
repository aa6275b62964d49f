//! Tests of scheduling and lowering.

mod directives;
mod found;
mod lowering;
mod matrix;
mod scale;

//! Tests of scheduling and lowering.

mod directives;
mod found;
mod hoisting;
mod lowering;
mod matrix;
mod scale;

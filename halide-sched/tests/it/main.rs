//! Tests of scheduling and lowering.

mod directives;
mod found;
mod hoisting;
mod lifetimes;
mod lowering;
mod matrix;
mod scale;
mod values;

//! Tests of scheduling and lowering.

mod directives;
mod found;
mod gpu;
mod gpu_lanes;
mod hints;
mod hoisting;
mod lifetimes;
mod lowering;
mod matrix;
mod reductions;
mod restated;
mod scale;
mod specialised;
mod together;
mod values;

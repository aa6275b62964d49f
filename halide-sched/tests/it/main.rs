//! Tests of scheduling and lowering.

mod counts;
mod directives;
mod extents;
mod found;
mod gpu;
mod gpu_lanes;
mod hoisting;
mod lifetimes;
mod lowering;
mod matrix;
mod ragged;
mod recurrences;
mod reductions;
mod scale;
mod triangles;
mod values;

//! Tests of scheduling and lowering.

mod counts;
mod directives;
mod extents;
mod found;
mod gpu;
mod gpu_lanes;
mod hints;
mod hoisting;
mod lifetimes;
mod lowering;
mod matrix;
mod ragged;
mod recurrences;
mod reductions;
mod restated;
mod scale;
mod specialised;
mod together;
mod triangles;
mod values;

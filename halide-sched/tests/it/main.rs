//! Tests of scheduling and lowering.

mod bounds;
mod counts;
mod directives;
mod early;
mod extents;
mod found;
mod gpu;
mod gpu_lanes;
mod hints;
mod hoisting;
mod lifetimes;
mod likely;
mod lowering;
mod matrix;
mod ragged;
mod recurrences;
mod reductions;
mod refused;
mod restated;
mod scale;
mod sliding;
mod specialised;
mod support;
mod together;
mod triangles;
mod values;

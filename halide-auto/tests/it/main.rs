//! Tests of schedules that are chosen, and of tile sizes by model.

mod chosen;
mod corners;
mod keeping;
mod kernels;
mod num_vec;
mod patterns;
mod price;
mod priced;
mod properties;
mod rules;
mod select;
mod simulated;
mod small;
mod support;
mod tiled;
mod tune;

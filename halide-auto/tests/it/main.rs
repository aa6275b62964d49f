//! Tests of tile sizes by model.

mod corners;
mod num_vec;
mod patterns;
mod price;
mod properties;
mod rules;
mod select;
mod simulated;
mod support;

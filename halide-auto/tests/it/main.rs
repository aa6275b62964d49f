//! Tests of tile sizes by model.

mod num_vec;
mod support;

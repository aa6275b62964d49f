//! Vectors: lanes in place of loops, dense and interleaved accesses, intrinsics.

pub mod find_intrinsics;
pub mod interleave;
pub mod join_sums;
pub(crate) mod lanes;
pub mod vectorize;

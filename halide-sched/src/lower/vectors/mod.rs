//! Vectors: lanes in place of loops, dense and interleaved accesses, intrinsics.

pub mod find_intrinsics;
pub mod interleave;
pub mod join_sums;
pub(crate) mod lanes;
pub mod privatize;
pub(crate) mod some_lane;
pub mod vectorize;

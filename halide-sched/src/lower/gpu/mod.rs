//! Kernels: blocks and threads, barriers, and copies between host and device.

pub mod offload;
pub mod place_copies;

//! The GPU backend: kernels of the loop IR as naga modules, and the runtime that has wgpu run them.
//!
//! [`codegen`] makes a module of a [`Kernel`](halide_sched::ir::Kernel) and needs no driver.

pub mod codegen;
mod error;

pub use error::{Feature, GpuError};

//! The GPU backend: kernels of the loop IR as naga modules, and the runtime that has wgpu run them.
//!
//! [`codegen`] makes a module of a [`Kernel`](halide_ir::Kernel) and needs no driver; [`runtime`] opens a device
//! and is the [`Device`](halide_ir::device::Device) of runs on it.

pub mod codegen;
mod error;
#[cfg(feature = "runtime")]
pub mod runtime;
mod tuning;

pub use error::{Feature, GpuError, Limit};

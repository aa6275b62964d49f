//! GPUs: the list of those there are, and the choice of one.
//!
//! ```no_run
//! use halide::gpu::{Choice, Gpu};
//! let gpu = Gpu::open(&Choice::from_env())?;
//! println!("{:?}", gpu.describe());
//! # Ok::<(), halide::gpu::GpuError>(())
//! ```
//!
//! [`Compiler::gpu`](crate::Compiler::gpu) compiles a pipeline whose schedule has `gpu_blocks` or `gpu_tile` for one,
//! and [`Compiler::compile_async`](crate::Compiler::compile_async) does so where nobody may wait. Buffers are copied to
//! and from it as needed, inputs once for as long as they do not change.

use crate::error::Error;
use std::future::Future;

pub use halide_gpu::GpuError;
#[cfg(not(target_arch = "wasm32"))]
pub use halide_gpu::runtime::list_devices;
pub use halide_gpu::runtime::{Choice, DeviceBuffer, DeviceInfo, DeviceKind, Gpu, GpuStats, list_devices_async};

/// Waits for `future`, which waits for `gpu` only, and returns its result.
///
/// # Errors
/// In a browser, where nobody may wait.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn waiting<T>(gpu: &Gpu, future: impl Future<Output = T>) -> Result<T, Error> {
    Ok(gpu.wait(future))
}
#[cfg(target_arch = "wasm32")]
pub(crate) fn waiting<T>(_: &Gpu, _: impl Future<Output = T>) -> Result<T, Error> {
    Err(Error::CannotWait)
}

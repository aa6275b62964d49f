//! Running kernels with wgpu.
//!
//! - [`Gpu`] is an open device (`gpu`), found by a [`Choice`] (`choice`); `health` is what its callbacks said, `scopes`
//!   the boundary behind which wgpu's errors and panics become values, `pool` its memory that is used again.
//! - [`GpuProgram`] has the kernels of a program as pipelines (`program`, `pipeline`), which a device makes once
//!   (`cache`).
//! - [`GpuRun`] is one run (`run`): which copy of each buffer is where and newest (`slot`, `residency`), what is to be
//!   done (`batch`), how long kernels take (`timing`) and what was done (`stats`).
//! - Copies of inputs stay with the host's memory (`copies`), and results may stay on the device as [`DeviceBuffer`]s
//!   (`resident`).
//!
//! All of this is async and never blocks; what it waits for are callbacks (`wait`). Threads use the functions of the
//! same names without `_async` (`blocking`), where also the [`Device`](halide_ir::device::Device) is that host code
//! calls.
//!
//! **Two copies.** A run knows for each buffer which copy is the newest: the host's, the device's or both; a copy moves
//! when the other side needs it. Commands are recorded as plain data and handed to wgpu in batches, each inside one set
//! of error scopes. A slab of device memory goes back to the pool when no recorded command names it, since the device
//! runs what is submitted in order. The device's copy of an input is kept with the host's memory
//! (`AnyBuffer::companion_or`) until a mutable view of it is made: that is the only road to writing it, so an
//! unchanged input is never copied twice.

mod batch;
#[cfg(not(target_arch = "wasm32"))]
mod blocking;
mod cache;
mod choice;
mod clock;
mod copies;
mod gpu;
mod health;
mod pipeline;
mod pool;
mod program;
mod residency;
mod resident;
mod run;
mod scopes;
mod slot;
mod stats;
mod timing;
mod wait;

#[cfg(not(target_arch = "wasm32"))]
pub use blocking::list_devices;
pub use choice::{Choice, DeviceInfo, DeviceKind};
pub use gpu::{Gpu, list_devices_async};
pub use program::GpuProgram;
pub use resident::DeviceBuffer;
pub use run::GpuRun;
pub use stats::GpuStats;

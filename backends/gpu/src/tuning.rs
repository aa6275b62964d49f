//! The constants of the GPU backend that were chosen, rather than given by an interface or a driver.
//!
//! Each has its unit and the reason for it, and the measurement behind it where one is on record; "by reasoning" says
//! that none is. None is made for one app or one size of image.

/// Sets of blocks that are looked at before the rest is no longer halved, when it is decided whether coordinates fit 32
/// bits: a look goes through the whole kernel, so this bounds the time before a dispatch. By reasoning.
pub(crate) const RANGE_LOOKS: usize = 4000;

/// Bytes of device memory that are kept for later runs, for each use: an eighth of what a small device has (4 GiB), so
/// that it matters to nobody else on the machine. By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const IDLE_BYTES: u64 = 512 << 20;

/// Times that a device is asked whether it is gone after a failure, with other threads let on in between. By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const LOST_POLLS: usize = 100;

/// Pipelines that a device keeps, also when no program has them any more: some programs' worth. By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const KEPT_PIPELINES: usize = 128;

/// Commands after which work is handed to the device without being asked for results, so that it starts,
/// and memory comes back. By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const BATCH_COMMANDS: usize = 256;

/// Bytes that wait to be copied after which work is handed to the device, so that staging memory comes back.
/// By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const BATCH_STAGED_BYTES: u64 = 64 << 20;

/// Pieces that a grid is dispatched in, of as many blocks as the device takes at once; more is an error. By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const DISPATCH_PARTS: u64 = 1 << 16;

/// Sets of arguments that are remembered for each kernel as ones whose coordinates fit: runs repeat them, and a
/// pipeline launches a kernel at a few sizes. By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const REMEMBERED_ARGUMENTS: usize = 16;

/// Kernels that are timed for each submission: four times [`BATCH_COMMANDS`], since copies come in between, at 16 bytes
/// each. By reasoning.
#[cfg(feature = "runtime")]
pub(crate) const TIMED_KERNELS: u32 = 1024;

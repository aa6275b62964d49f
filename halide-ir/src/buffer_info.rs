//! Buffers of a program: role, layout and memory.

use halide_core::ids::ImageId;
use halide_core::types::ScalarType;

/// The properties of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// For messages and printing; unique.
    pub name: String,
    /// Element type.
    pub elem: ScalarType,
    /// Number of dimensions.
    pub dims: usize,
    /// The role: input, output or internal.
    pub role: BufferRole,
    /// Storage order: the dimension with the smallest stride first.
    pub order: Vec<usize>,
    /// Per dimension: the row length in elements is rounded up to a multiple of this (1: not).
    pub align: Vec<i64>,
    /// Per dimension: the circular factor that `fold_storage` chose.
    pub fold: Vec<Option<i64>>,
    /// Inputs and outputs: dimensions whose stride is the constant 1 (checked on entry), so that access is dense.
    pub unit_stride: Option<usize>,
    /// The memory in which the user wants an allocation to live.
    pub memory: Memory,
    /// Outputs: what it holds before the run matters.
    pub keeps: bool,
    /// The stores to it that are non-temporal, on machines that have such stores.
    pub stream: Stream,
    /// The side that uses it; known from `offload` on.
    pub side: Side,
}

/// The roles of buffers: given by the caller, or allocated by the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRole {
    /// Given by the caller, read only.
    Input(ImageId),
    /// Given by the caller, written: position among all output buffers.
    Output(u32),
    /// Allocated by the program.
    Internal,
}

/// The stores to a buffer that are non-temporal: these do not read what they overwrite, and leave the caches to data
/// that is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// None: the values are soon read again, or the schedule says nothing and they may be.
    Never,
    /// Stores to a buffer that is far larger than any cache: the program does not read it.
    IfLarge,
    /// All: the schedule says so.
    Always,
}

/// The kinds of memory that an allocation may live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// The compiler chooses.
    Auto,
    /// The heap.
    Heap,
    /// The stack; needs a constant bound.
    Stack,
    /// Registers; needs a constant bound and constant indices after unrolling.
    Register,
    /// Memory that the threads of a block share; needs a constant bound.
    Shared,
    /// The memory of the device, also for what a kernel computes for itself; elsewhere the heap.
    Global,
}

/// The sides that use a buffer: host code, kernels or both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Side {
    /// Host code only.
    #[default]
    Host,
    /// Host code and kernels: there are two copies.
    Both,
    /// Kernels only: the host has no memory for it.
    Device,
}

/// The states of a buffer's two copies that a `Reside` brings about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Residency {
    /// The host's copy is the newest: waits for kernels that write the buffer, and copies if they did.
    OnHost,
    /// The host has changed its copy, which was the newest, so the device's is out of date.
    ChangedOnHost,
    /// The device's copy is the newest: copies if the host changed its own. Dispatching a kernel does so anyway.
    OnDevice,
}

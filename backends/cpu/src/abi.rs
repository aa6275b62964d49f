//! The conventions between compiled code and the runtime; Cranelift's view of them is in `codegen::abi`.
//!
//! - The **argument block** is an array of 64-bit words, read only during a run: the bits of each parameter, then for
//!   each input and output the address of its first element and min, extent and stride of each dimension
//!   ([`ArgLayout`]).
//! - The **entry** is `fn(worker) -> i64`; a **task** is `fn(worker, closure, iteration) -> i64`. Both return 0, or 1
//!   after a fault that the run has recorded, or where the flag that ends a run early is raised (`codegen::poll`).
//! - A **closure** is an array of 64-bit words: the task's captured symbols, then the addresses of its captured
//!   buffers.
//! - The words of a **dispatch** are the extents of the grid, then the kernel's captures, then its parameters.
//! - The words of a **call** of a closure are, for each box, the address of its buffer's first element, and for each
//!   dimension the first coordinate and the extent of the box, and the first coordinate, the extent and the stride of
//!   the memory.
//! - [`RuntimeFn`] are the functions that compiled code calls.

use crate::runtime::{Worker, call, device, entry};
use halide_core::ids::{Id, ParamId};
use halide_core::pipeline::DimField;
use halide_ir::{BufId, BufferRole, Program};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// Offset of the argument block's address in a worker.
pub(crate) const WORKER_ARGS: i32 = offset_of!(Worker<'static>, args) as i32;
/// Offset of the counters' address in a worker.
pub(crate) const WORKER_COUNTERS: i32 = offset_of!(Worker<'static>, counters) as i32;

/// Offset in a worker of the address of the flag that ends its run.
pub(crate) const WORKER_STOP: i32 = offset_of!(Worker<'static>, stop) as i32;

/// Offset in a worker of the address of the word in which its thread says where it is.
pub(crate) const WORKER_MARK: i32 = offset_of!(Worker<'static>, mark) as i32;

/// The layout of the argument block, in words.
#[derive(Clone, Debug)]
pub(crate) struct ArgLayout {
    params: usize,
    /// First word and number of dimensions of each external buffer.
    buffers: BTreeMap<BufId, (usize, usize)>,
    /// External buffers in the order in which callers give them: inputs, then outputs.
    pub(crate) order: Vec<BufId>,
    /// The length of the block.
    pub(crate) words: usize,
}

impl ArgLayout {
    /// The layout for `program`.
    pub(crate) fn new(program: &Program) -> ArgLayout {
        let mut external: Vec<(BufferRole, BufId)> = program
            .buffers
            .enumerate()
            .filter(|(_, info)| info.role != BufferRole::Internal)
            .map(|(id, info)| (info.role, id))
            .collect();
        external.sort_by_key(|(role, id)| match role {
            BufferRole::Input(image) => (0, image.index(), *id),
            BufferRole::Output(position) => (1, *position as usize, *id),
            BufferRole::Internal => (2, 0, *id),
        });
        let order: Vec<BufId> = external.into_iter().map(|(_, id)| id).collect();
        let mut words = program.params.len();
        let mut buffers = BTreeMap::new();
        for &id in &order {
            let dims = program.buffers[id].dims;
            buffers.insert(id, (words, dims));
            words += 1 + 3 * dims;
        }
        ArgLayout { params: program.params.len(), buffers, order, words }
    }
    /// The word of a parameter.
    pub(crate) fn param(&self, id: ParamId) -> Option<usize> {
        (id.index() < self.params).then_some(id.index())
    }
    /// The word of a buffer's address; `None` for internal buffers.
    pub(crate) fn data(&self, buf: BufId) -> Option<usize> {
        self.buffers.get(&buf).map(|(first, _)| *first)
    }
    /// The word of a dimension's property.
    pub(crate) fn field(&self, buf: BufId, dim: usize, field: DimField) -> Option<usize> {
        let (first, dims) = *self.buffers.get(&buf)?;
        let place = match field {
            DimField::Min => 0,
            DimField::Extent => 1,
            DimField::Stride => 2,
        };
        (dim < dims).then_some(first + 1 + 3 * dim + place)
    }
}

/// A function of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum RuntimeFn {
    Allocate,
    Release,
    FreeEarly,
    Parallel,
    Fail,
    Print,
    Lock,
    Unlock,
    MathF64,
    Fma,
    HalfFromF64,
    HalfFromInt,
    Dispatch,
    Reside,
    DeviceBegin,
    DeviceEnd,
    Call,
}

impl RuntimeFn {
    pub(crate) const ALL: [RuntimeFn; 17] = [
        RuntimeFn::Allocate,
        RuntimeFn::Release,
        RuntimeFn::FreeEarly,
        RuntimeFn::Parallel,
        RuntimeFn::Fail,
        RuntimeFn::Print,
        RuntimeFn::Lock,
        RuntimeFn::Unlock,
        RuntimeFn::MathF64,
        RuntimeFn::Fma,
        RuntimeFn::HalfFromF64,
        RuntimeFn::HalfFromInt,
        RuntimeFn::Dispatch,
        RuntimeFn::Reside,
        RuntimeFn::DeviceBegin,
        RuntimeFn::DeviceEnd,
        RuntimeFn::Call,
    ];
    /// Its name, and its address in this process. Objects call it by its name behind `halide_rt_`.
    pub(crate) fn describe(self) -> (&'static str, *const u8) {
        match self {
            RuntimeFn::Allocate => ("allocate", entry::allocate as *const u8),
            RuntimeFn::Release => ("release", entry::release as *const u8),
            RuntimeFn::FreeEarly => ("free_early", entry::free_early as *const u8),
            RuntimeFn::Parallel => ("parallel", entry::parallel as *const u8),
            RuntimeFn::Fail => ("fail", entry::fail as *const u8),
            RuntimeFn::Print => ("print", entry::print as *const u8),
            RuntimeFn::Lock => ("lock", entry::lock as *const u8),
            RuntimeFn::Unlock => ("unlock", entry::unlock as *const u8),
            RuntimeFn::MathF64 => ("math_f64", entry::math_f64 as *const u8),
            RuntimeFn::Fma => ("fma", entry::fma as *const u8),
            RuntimeFn::HalfFromF64 => ("half_from_f64", entry::half_from_f64 as *const u8),
            RuntimeFn::HalfFromInt => ("half_from_int", entry::half_from_int as *const u8),
            RuntimeFn::Dispatch => ("dispatch", device::dispatch as *const u8),
            RuntimeFn::Reside => ("reside", device::reside as *const u8),
            RuntimeFn::DeviceBegin => ("device_begin", device::begin as *const u8),
            RuntimeFn::DeviceEnd => ("device_end", device::end as *const u8),
            RuntimeFn::Call => ("call", call::call as *const u8),
        }
    }
}

//! The loop IR: what lowering works on and what backends compile.
//!
//! Expressions are values without effects; statements form a tree and hold all effects. A [`Program`] carries its
//! [`Stage`]; `verify` states and checks what holds at each one, `eval` runs a program of any stage from `Bounded` on.

pub mod build;
pub mod device;
pub mod eval;
mod expr;
mod fault;
pub mod features;
pub mod footprint;
pub mod hash;
pub mod intrinsic;
mod kernel;
pub mod lanes;
mod loops;
pub mod parse;
pub mod print;
mod same;
#[cfg(test)]
mod samples;
pub mod spelling;
mod step;
mod stmt;
mod sym;
pub mod target;
mod typing;
pub mod verify;
pub mod visit;
mod words;

pub use expr::{Elem, Expr, ExprKind, Intrinsic, Type};
pub use kernel::{Kernel, KernelBuffer, Residency, Shared, Side, Writes};
pub use loops::{LoopInfo, Partition, PrefetchBound, PrefetchRequest, loops_in};
pub use step::{NotOne, Step};
pub use stmt::{Cache, For, ForKind, Stmt, Task};
pub use sym::{BufId, DimField, Edge, FaultId, KernelId, LoopId, PrintId, Scope, Sym, TaskId};

use halide_core::ids::{FuncId, IdVec, ImageId, ParamId};
pub use halide_core::pipeline::Piece;
use halide_core::types::ScalarType;
use std::collections::BTreeSet;

/// The stages of the lowering of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// Loops and realizations as scheduled; bounds are free symbols.
    Nest,
    /// Every symbol is bound; storage is multi-dimensional.
    Bounded,
    /// Storage is linear.
    Flat,
    /// No vectorized or unrolled loops; expressions may be vectors.
    Shaped,
    /// Parallel loops are tasks.
    Final,
}

/// A program: a statement and the tables that its ids index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The stage of lowering that it has reached.
    pub stage: Stage,
    /// The statement that it runs.
    pub body: Stmt,
    /// Every buffer.
    pub buffers: IdVec<BufId, BufferInfo>,
    /// The buffer of each input image.
    pub image_buffers: IdVec<ImageId, BufId>,
    /// The name of each Func.
    pub func_names: IdVec<FuncId, String>,
    /// The buffers of each Func, one per tuple element (also of inlined Funcs, which no statement uses).
    pub func_buffers: IdVec<FuncId, Vec<BufId>>,
    /// Names and types of scalar parameters.
    pub params: IdVec<ParamId, (String, ScalarType)>,
    /// Every loop, copies of loops among them.
    pub loops: IdVec<LoopId, LoopInfo>,
    /// Funcs whose memory is allocated outside of all loops, though they are stored inside.
    pub hoisted: BTreeSet<FuncId>,
    /// The errors that can occur at run time.
    pub faults: IdVec<FaultId, Fault>,
    /// The lines that are printed: texts, and the places of values.
    pub prints: IdVec<PrintId, Vec<Piece>>,
    /// Outlined parallel loops (Final stage).
    pub tasks: IdVec<TaskId, Task>,
    /// Code for a graphics processor (from `Shaped` on).
    pub kernels: IdVec<KernelId, Kernel>,
    /// Names of counters, in the order of their numbers.
    pub counters: Vec<String>,
    /// The next free number for `Sym::Temp`.
    pub next_temp: u32,
}

impl Program {
    /// Returns a program of a stage that does nothing.
    pub fn empty(stage: Stage) -> Program {
        Program {
            stage,
            body: build::nothing(),
            buffers: IdVec::new(),
            image_buffers: IdVec::new(),
            func_names: IdVec::new(),
            func_buffers: IdVec::new(),
            params: IdVec::new(),
            loops: IdVec::new(),
            hoisted: BTreeSet::new(),
            faults: IdVec::new(),
            prints: IdVec::new(),
            tasks: IdVec::new(),
            kernels: IdVec::new(),
            counters: Vec::new(),
            next_temp: 0,
        }
    }

    /// Returns the name of a Func: of its buffer, if the program was made without names.
    pub fn func_name(&self, func: FuncId) -> &str {
        let own = self.func_names.get(func);
        own.unwrap_or_else(|| &self.buffers[self.func_buffers[func][0]].name)
    }
}

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

/// An error at run time, with the meaning of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An input does not cover what is read. Args: needed min, needed max, buffer's min, buffer's max.
    InputTooSmall {
        /// The input.
        buf: BufId,
        /// The dimension in which it is too small.
        dim: usize,
    },
    /// An output's region does not suit the schedule. Args: needed min, needed max, buffer's min, buffer's max.
    OutputRegion {
        /// The output.
        buf: BufId,
        /// The dimension of the region.
        dim: usize,
        /// The requirement of the schedule: `split(x, xo, xi, 8, RoundUp) needs a multiple of 8`.
        reason: String,
    },
    /// The stride of an input or output is not what the code was compiled for. Args: expected, actual.
    Stride {
        /// The input or output.
        buf: BufId,
        /// The dimension of the stride.
        dim: usize,
    },
    /// A property of the caller's buffer is not what a rule of the algorithm says. Args: needed, actual.
    Rule {
        /// The caller's buffer.
        buf: BufId,
        /// The dimension that the rule constrains.
        dim: usize,
        /// The property that the rule constrains.
        field: DimField,
        /// True if every multiple of the needed value will do.
        multiple: bool,
        /// The place in the source at which the rule was made.
        at: String,
    },
    /// Coordinates leave the range of i32, or an operand of their arithmetic is too large for 64 bits. Args: min, max.
    IndexOverflow {
        /// The Func or image that they are of.
        name: String,
        /// The dimension of the coordinates.
        dim: usize,
    },
    /// An allocation would be too large, or memory is exhausted. Args: bytes.
    OutOfMemory {
        /// The buffer that is allocated.
        buf: BufId,
    },
    /// A promise of the schedule does not hold (bound, align_bounds, explicit fold, split factor). Args: as the text
    /// says.
    Promise {
        /// The promise, with the place of the directive.
        what: String,
    },
    /// Something that the algorithm requires does not hold; or it does not at a point that was computed and that nobody
    /// needs, which makes no difference. The interpreter tells which.
    Require {
        /// The place of the requirement in the source, and its text.
        what: String,
    },
    /// A question that implies accesses which are not proved to be in bounds was answered with no. Another variant
    /// checks each of them.
    Unproved,
    /// An access outside of a buffer, which lowering should have made impossible. Args: the least and the greatest
    /// index of its lanes, the first and the last of the buffer.
    Access {
        /// The buffer.
        buf: BufId,
        /// The innermost loop around the access: `blur_y.xi`; empty outside of loops.
        at: String,
    },
    /// The shape is one that this variant of the code does not serve (extent below a factor). Another variant does.
    NotThisVariant,
}

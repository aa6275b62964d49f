//! Structured symbols: what a name in loop IR stands for. Text appears only when something is printed.

use halide_core::declare_ids;
use halide_core::ids::FuncId;
pub use halide_core::pipeline::DimField;

declare_ids! {
    /// One loop of one program. Unique: two copies of a loop (specialisations, partitions) have two ids.
    LoopId, "L";
    /// One storage object: an input, an output or an internal allocation; one per tuple element.
    BufId, "b";
    /// One row of [`super::Program::faults`].
    FaultId, "fault";
    /// One row of [`super::Program::prints`].
    PrintId, "print";
    /// One outlined parallel body, [`super::Program::tasks`].
    TaskId, "task";
    /// One piece of code for a GPU, [`super::Program::kernels`].
    KernelId, "kernel";
    /// One closure of the caller, [`super::Program::callees`].
    CalleeId, "callee";
}

/// The body of a loop, or the whole program: where a bound is valid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// The outermost scope: constant for the whole run.
    Root,
    /// Inside the body of this loop: constant for one iteration.
    Body(LoopId),
}

/// The ends of an inclusive interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Edge {
    /// The first coordinate.
    Min,
    /// The last coordinate (inclusive).
    Max,
}

/// The kinds of symbols. Every symbol is a scalar of kind Index, but for `Temp`, which has the type of its binding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sym {
    /// The variable of a loop.
    Loop(LoopId),
    /// An edge of the region of one stage of a Func that one iteration of `at` computes.
    Bound {
        /// The Func of the region.
        func: FuncId,
        /// The stage; 0 is the pure definition.
        stage: u16,
        /// The dimension.
        dim: u16,
        /// The end of the region.
        edge: Edge,
        /// The scope whose iteration computes the region.
        at: Scope,
    },
    /// An edge of what is allocated for a Func in the scope that stores it.
    Stored {
        /// The Func of the storage.
        func: FuncId,
        /// The dimension.
        dim: u16,
        /// The end of the storage.
        edge: Edge,
        /// The scope in which it is allocated.
        at: Scope,
    },
    /// A property of a buffer: given by the caller for inputs and outputs, bound by a `Let` for allocations.
    Buffer {
        /// The buffer.
        buf: BufId,
        /// The dimension.
        dim: u16,
        /// The property; strides are in elements.
        field: DimField,
    },
    /// A value named by a pass; numbered uniquely within one program.
    Temp(u32),
}

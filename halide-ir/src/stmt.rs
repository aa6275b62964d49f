//! Statements of loop IR: loops, stores, allocations, checks.

use super::buffer_info::Residency;
use super::callee::CallArg;
use super::expr::Expr;
use super::sym::{BufId, CalleeId, FaultId, KernelId, LoopId, PrintId, Sym, TaskId};
use halide_core::ids::FuncId;

/// The ways in which the iterations of a loop run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ForKind {
    /// One after the other.
    Serial,
    /// In any order, on several threads.
    Parallel,
    /// As lanes of vectors (gone after `vectorize`).
    Vectorized,
    /// Copied out (gone after `unroll`).
    Unrolled,
    /// Blocks of threads of a GPU. Loops over blocks nest directly in each other.
    GpuBlocks,
    /// Threads of a block. Between two such loops that follow each other, all threads meet.
    GpuThreads,
    /// Threads of a block that are lanes of one subgroup (gone after `offload`, which says so of the kernel).
    GpuLanes,
}

impl ForKind {
    /// Returns true if iterations run at the same time.
    pub fn is_concurrent(self) -> bool {
        match self {
            ForKind::Parallel | ForKind::Vectorized => true,
            ForKind::GpuBlocks | ForKind::GpuThreads | ForKind::GpuLanes => true,
            ForKind::Serial | ForKind::Unrolled => false,
        }
    }
    /// Returns true if iterations run as threads of a block.
    pub fn is_gpu_threads(self) -> bool {
        matches!(self, ForKind::GpuThreads | ForKind::GpuLanes)
    }
    /// Returns true if a GPU runs the loop.
    pub fn is_gpu(self) -> bool {
        self == ForKind::GpuBlocks || self.is_gpu_threads()
    }
    /// Returns true if iterations run on threads: of this machine or of a GPU.
    pub fn is_threads(self) -> bool {
        self.is_concurrent() && self != ForKind::Vectorized
    }
}

/// A cache of a core, the nearer one first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cache {
    /// The one that loads look in first: tens of kilobytes.
    First,
    /// The one behind it: a megabyte or so.
    Second,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// In order; empty does nothing. Blocks are flat: no block directly holds a block.
    Block(Vec<Stmt>),
    /// Names values for `body`; a binding sees those before it. Each symbol is bound once in a program after
    /// `uniquify`.
    Let {
        /// Symbol and value, in order.
        bindings: Vec<(Sym, Expr)>,
        /// The statement in which they are visible.
        body: Box<Stmt>,
    },
    /// A loop over `min .. min + extent`; `Sym::Loop(id)` is its variable.
    For(Box<For>),
    /// Runs one side.
    If {
        /// Scalar `Bool`.
        cond: Expr,
        /// The statement that runs if it holds.
        then: Box<Stmt>,
        /// The statement that runs if it does not; often empty.
        otherwise: Box<Stmt>,
    },
    /// Ends the run with a fault unless `cond` holds. `args` are what the fault's message shows.
    Assert {
        /// Scalar `Bool`.
        cond: Expr,
        /// The fault that ends the run.
        fault: FaultId,
        /// Scalar Index values for the message.
        args: Vec<Expr>,
    },
    /// Prints a line where `when` holds.
    Print {
        /// The line to print.
        line: PrintId,
        /// Scalar `Bool`.
        when: Expr,
        /// Scalar data, one value for each place of the line.
        args: Vec<Expr>,
    },
    /// Marks the statements that compute a Func; has no effect.
    Produce {
        /// The Func that is computed.
        func: FuncId,
        /// All its stages.
        body: Box<Stmt>,
    },
    /// Runs `body` as one step with respect to every other `Atomic` of the Func: names and stores (until
    /// `flatten_storage`, provides) of one point, which may load what they store. Nothing else touches that element
    /// while iterations run that hold such a statement.
    Atomic {
        /// The Func that the step belongs to.
        func: FuncId,
        /// The statements of the step.
        body: Box<Stmt>,
    },
    /// Storage of a Func for the time of `body` (until `flatten_storage`).
    Realize {
        /// The Func that is stored; one buffer per tuple element.
        func: FuncId,
        /// Minimum and extent of each dimension.
        bounds: Vec<(Expr, Expr)>,
        /// Scalar `Bool`, the same for the whole run: the storage is empty unless it holds. `None` is always.
        when: Option<Expr>,
        /// The statement during which the storage exists.
        body: Box<Stmt>,
    },
    /// A multi-dimensional store of every tuple element; all values and coordinates are evaluated first.
    Provide {
        /// The Func that is stored to.
        func: FuncId,
        /// One Index coordinate per dimension.
        args: Vec<Expr>,
        /// One value per tuple element; an element that is not stored is not listed.
        values: Vec<(BufId, Expr)>,
        /// `Bool` lanes; where false, nothing is stored. `None` is all true.
        mask: Option<Expr>,
    },
    /// Linear storage of `count` elements for the time of `body`.
    Alloc {
        /// The buffer that is allocated.
        buf: BufId,
        /// Scalar Index: number of elements.
        count: Expr,
        /// An upper bound of `count` that holds always, where one is known; then it may live on the stack.
        constant: Option<u64>,
        /// The statement during which the allocation exists.
        body: Box<Stmt>,
    },
    /// Gives the memory of an allocation back before the end of its `Alloc`, in the same loops and branches as that;
    /// nothing after it uses the buffer. Made by `last_use`.
    Free {
        /// The buffer whose memory is given back.
        buf: BufId,
    },
    /// A linear store in elements. A lane whose mask is false is not written.
    Store {
        /// The buffer that is stored to.
        buf: BufId,
        /// Index lanes.
        index: Expr,
        /// Data lanes.
        value: Expr,
        /// `Bool` lanes; `None` is all true.
        mask: Option<Expr>,
    },
    /// Asks for the element to be brought into a cache, with what lies in the same cache line; has no effect. There
    /// need not be such an element.
    Prefetch {
        /// The buffer of the element.
        buf: BufId,
        /// Scalar Index: one coordinate per dimension, and from `flatten_storage` on one number of elements from the
        /// first.
        at: Vec<Expr>,
        /// The cache that the element is brought into.
        cache: Cache,
    },
    /// Calls a closure over a box, which is that of the buffers that it writes: all elements of the box. Of the other
    /// buffers it reads all elements of theirs. Does nothing where an extent of the first box is <= 0. A failure of the
    /// closure ends the run.
    Call {
        /// The closure.
        callee: CalleeId,
        /// The buffers that it writes, then those that it reads, each once.
        args: Vec<CallArg>,
    },
    /// Adds `amount` (scalar Index) to counter `counter` of the run; made by `instrument`.
    Count {
        /// Index of the counter: a row of [`super::Program::counters`].
        counter: u32,
        /// The amount that is added.
        amount: Expr,
    },
    /// Runs a task for every value of `min .. min + extent`, in parallel (Final stage).
    Launch {
        /// The task that runs.
        task: TaskId,
        /// First value of the task's loop variable.
        min: Expr,
        /// Number of values.
        extent: Expr,
    },
    /// Runs a kernel for every block of a grid (from `Shaped` on). The host goes on at once; what it then needs of the
    /// kernel's results a `Reside` waits for.
    Dispatch {
        /// The kernel that runs.
        kernel: KernelId,
        /// Scalar Index: number of blocks for each block loop of the kernel, innermost first; <= 0 is none.
        grid: Vec<Expr>,
    },
    /// Keeps the two copies of a buffer that both sides use in step (from `Shaped` on).
    Reside {
        /// The buffer: not one of `Side::Host`.
        buf: BufId,
        /// The state of the copies from here on.
        what: Residency,
    },
    /// All threads of a block meet here and see what the others wrote (in kernels, outside of loops over threads).
    Barrier,
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct For {
    /// Its identity; `Sym::Loop(id)` is its variable.
    pub id: LoopId,
    /// The way in which iterations run.
    pub kind: ForKind,
    /// Scalar Index: first value.
    pub min: Expr,
    /// Scalar Index: number of values; <= 0 is none.
    pub extent: Expr,
    /// Scalar `Bool`, asked before each iteration: where it does not hold, the loop ends. It sees memory as the
    /// iterations before left it, and not the loop's variable. `None` always holds. Of serial loops, from `Shaped` on.
    pub condition: Option<Expr>,
    /// The body, which each iteration runs.
    pub body: Stmt,
}

/// The body of a parallel loop as a function of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Task {
    /// `Sym::Loop` of this loop is its variable.
    pub id: LoopId,
    /// Scalar symbols bound outside and used inside, with their types.
    pub captures: Vec<(Sym, super::expr::Type)>,
    /// Internal buffers allocated outside and used inside.
    pub buffers: Vec<BufId>,
    /// The body of one iteration.
    pub body: Stmt,
}

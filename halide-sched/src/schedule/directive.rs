//! The words of a schedule. One variant per directive; names are text here and resolved by `plan`.

use halide_core::error::Location;
pub use halide_ir::{Partition, PrefetchBound};

/// One directive with its subject and place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Directive {
    /// The stage or Func whose loops or storage it speaks of.
    pub subject: Subject,
    /// The word and its arguments.
    pub verb: Verb,
    /// The place at which it was written; not part of equality of schedules.
    pub at: Option<Location>,
}

/// The stage a directive speaks of: `f`, `f.update(1)`, or a specialisation of it, `f.specialize(COND)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject {
    /// Name of the Func. `g.in(f)` names the wrapper that `in_` made of `g` for `f`; `g.in()` the global one.
    pub func: String,
    /// 0 is the pure definition, `k` the k-th update (`update(k - 1)` in text and builder).
    pub stage: usize,
    /// The chain of specialisations (by position, from 0, in the order they were written) this speaks of; empty is the
    /// general case.
    pub specializations: Vec<usize>,
}

/// A number that a directive takes: a constant or a scalar integer parameter by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Amount {
    /// Known now.
    Const(i64),
    /// Known when the pipeline runs.
    Param(String),
    /// As many elements of the Func as one vector register of the target holds.
    Natural,
}

/// A condition that a specialisation tests once per run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// A comparison of two terms.
    Compare(CompareOp, Term, Term),
    /// A `bool` parameter by name.
    Param(String),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// Either.
    Or(Box<Condition>, Box<Condition>),
    /// The opposite.
    Not(Box<Condition>),
    /// The error of an expression that is no condition: building a schedule never fails, so `plan` reports it.
    Invalid(String),
}

/// Comparison operators of a [`Condition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // The names are the documentation.
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An integer term of a [`Condition`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A constant.
    Const(i64),
    /// A scalar integer parameter by name.
    Param(String),
    /// `NAME.min(d)`, `NAME.extent(d)` or `NAME.stride(d)` of an input image or an output Func.
    Dim(String, halide_core::pipeline::DimField, usize),
    /// Sum, difference, product, Euclidean quotient or remainder (`+ - * / %`).
    Binary(char, Box<Term>, Box<Term>),
}

/// The tail strategies: the treatment of a split whose factor does not divide the extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tail {
    /// Safe for every size; chosen by `plan` (see there).
    Auto,
    /// The extent must be, or is made, a multiple of the factor.
    RoundUp,
    /// A condition inside guards every store (and what it needs).
    GuardWithIf,
    /// Loads and stores are masked.
    Predicate,
    /// Loads are masked; stores must fit: the storage is a multiple of the factor.
    PredicateLoads,
    /// Stores are masked; loads may run over: inputs must be large enough for a multiple of the factor.
    PredicateStores,
    /// The last iteration is shifted inwards and computes some points again; the extent must be, or is made, at least
    /// the factor.
    ShiftInwards,
    /// As `ShiftInwards`, but points computed again keep their first value; for updates.
    ShiftInwardsAndBlend,
    /// As `RoundUp`, but points beyond the end keep what was there.
    RoundUpAndBlend,
}

impl Tail {
    /// All tail strategies.
    pub const ALL: [Tail; 9] = {
        use Tail::*;
        [
            Auto,
            RoundUp,
            GuardWithIf,
            Predicate,
            PredicateLoads,
            PredicateStores,
            ShiftInwards,
            ShiftInwardsAndBlend,
            RoundUpAndBlend,
        ]
    };
}

/// A value that leaves others as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identity {
    /// A number.
    Const(i64),
    /// The lowest value of the element's type.
    Lowest,
    /// The highest one.
    Highest,
}

impl Identity {
    /// Its word in text, if it is not a number.
    pub fn word(self) -> &'static str {
        match self {
            Identity::Const(_) => "",
            Identity::Lowest => "lowest",
            Identity::Highest => "highest",
        }
    }
}

/// The alignment of two loops that run as one: the choice of iterations that come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Align {
    /// Iterations of the same value of the loops' variables.
    #[default]
    NoAlign,
    /// The first ones, and so on.
    AlignStart,
    /// The last ones, and those before them.
    AlignEnd,
}

/// The ways in which a loop runs, as directives say them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopKind {
    /// One iteration after the other.
    Serial,
    /// On several threads.
    Parallel,
    /// As vector lanes.
    Vectorized,
    /// Copied out.
    Unrolled,
    /// As blocks of threads of a graphics processor.
    GpuBlocks,
    /// As threads of a block.
    GpuThreads,
    /// As threads of a block that are lanes of one subgroup.
    GpuLanes,
}

impl LoopKind {
    /// Returns true if iterations run at the same time.
    pub fn is_concurrent(self) -> bool {
        match self {
            LoopKind::Parallel | LoopKind::Vectorized => true,
            LoopKind::GpuBlocks | LoopKind::GpuThreads | LoopKind::GpuLanes => true,
            LoopKind::Serial | LoopKind::Unrolled => false,
        }
    }
    /// Returns true if iterations run as threads of a block.
    pub fn is_gpu_threads(self) -> bool {
        matches!(self, LoopKind::GpuThreads | LoopKind::GpuLanes)
    }
    /// Returns true if a GPU runs the loop.
    pub fn is_gpu(self) -> bool {
        self == LoopKind::GpuBlocks || self.is_gpu_threads()
    }
}

/// A loop of another stage: where something is computed or stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The Func whose loop it is.
    pub func: String,
    /// The stage of that Func.
    pub stage: usize,
    /// The name of the loop.
    pub var: String,
}

/// The kinds of memory of a Func.
pub use halide_ir::Memory;

/// The words of directives, with their arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Fields are the directive's arguments, in order; `schedule::build` documents each word.
pub enum Verb {
    Split {
        var: String,
        outer: String,
        inner: String,
        factor: Amount,
        tail: Tail,
    },
    Fuse {
        inner: String,
        outer: String,
        fused: String,
    },
    Rename {
        from: String,
        to: String,
    },
    /// Innermost first.
    Reorder(Vec<String>),
    /// Kind of a loop; with a factor, the loop is split first and the inner part gets the kind (outer for `Parallel`).
    Mark {
        kind: LoopKind,
        var: String,
        factor: Option<Amount>,
        tail: Tail,
    },
    Partition {
        var: String,
        how: Partition,
    },
    ComputeRoot,
    ComputeAt(Site),
    ComputeInline,
    /// The loop `site` and those around it run as one with the loops of the subject that have their names.
    ComputeWith {
        site: Site,
        align: Align,
        /// Alignments of loops by name, for which `align` does not count.
        each: Vec<(String, Align)>,
    },
    StoreRoot,
    StoreAt(Site),
    HoistStorageRoot,
    HoistStorage(Site),
    /// Innermost (smallest stride) first.
    ReorderStorage(Vec<String>),
    AlignStorage {
        var: String,
        multiple: i64,
    },
    FoldStorage {
        var: String,
        factor: i64,
        forward: bool,
    },
    /// Room for this many coordinates.
    BoundStorage {
        var: String,
        extent: i64,
    },
    StoreIn(Memory),
    SetEstimate {
        var: String,
        min: i64,
        extent: i64,
    },
    /// First coordinate and extent of every dimension.
    SetEstimates(Vec<(i64, i64)>),
    Prefetch {
        what: String,
        at: String,
        from: String,
        offset: i64,
        bound: PrefetchBound,
    },
    /// Values are stored past the caches.
    StreamStores,
    /// The update is an associative operation with this identity.
    Monoid {
        identity: Vec<Identity>,
        commutes: bool,
    },
    /// Brings the newest values of the Func to the device, or to the host, as soon as they are computed.
    Copy {
        to_device: bool,
    },
    /// The stage is a kernel of one block of one thread.
    GpuSingleThread,
    Bound {
        var: String,
        min: Amount,
        extent: Amount,
    },
    BoundExtent {
        var: String,
        extent: Amount,
    },
    AlignBounds {
        var: String,
        modulus: i64,
        remainder: i64,
    },
    AlignExtent {
        var: String,
        modulus: i64,
    },
    /// Calls of the subject from `consumers` (empty: from all) go through a wrapper.
    In {
        consumers: Vec<String>,
    },
    /// Calls of the subject from `consumers` go to a copy of it.
    CloneIn {
        consumers: Vec<String>,
    },
    /// The reduction is done in parts: one for each value of `rvars`, which become `vars` of a new Func.
    Rfactor {
        rvars: Vec<String>,
        vars: Vec<String>,
    },
    /// A copy of the stage's schedule so far for the case that the condition holds.
    Specialize(Condition),
    /// Ends the run with this message where no specialisation applies.
    SpecializeFail(String),
    /// Sets the rewrites that are allowed for the floats of the stage.
    Float(FloatMode),
    /// Iterations of the stage that run at once may touch the same element.
    AllowRaceConditions,
    /// Each iteration of the update changes an element in one step, so that several may run at once.
    Atomic {
        /// The schedule vouches that the order of the iterations does not matter.
        any_order: bool,
    },
}

/// The rewrites of float arithmetic that lowering and backends may do in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum FloatMode {
    /// IEEE, as written.
    #[default]
    Strict,
    /// `a * b + c` may be computed with one rounding.
    Contract,
    /// Sums may also be reordered.
    Relaxed,
}

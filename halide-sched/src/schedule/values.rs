//! The values that directives take as arguments; names are text here and resolved by `plan`.

pub use halide_ir::{ForKind as LoopKind, Memory, Partition, PrefetchBound};

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

/// The tail strategies: the treatment of a split whose factor does not divide the extent. As written; a plan has
/// [`PlanTail`](crate::plan::PlanTail), in which `Auto` is resolved.
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
    /// The factor is the number of chunks, whose sizes differ by at most one: longer ones come first.
    Balanced,
}

impl Tail {
    /// All tail strategies.
    pub const ALL: [Tail; 10] = {
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
            Balanced,
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

impl Site {
    /// Loop `var` of `stage`, a stage by the name of its Func and its number.
    pub(super) fn new((func, stage): (String, usize), var: String) -> Site {
        Site { func, stage, var }
    }
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

impl FloatMode {
    /// The argument of `float(..)`.
    pub fn word(self) -> &'static str {
        match self {
            FloatMode::Strict => "strict",
            FloatMode::Contract => "contract",
            FloatMode::Relaxed => "relaxed",
        }
    }
}

impl CompareOp {
    /// The operator as text.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

impl Tail {
    /// Returns the word of the tail strategy.
    pub fn word(self) -> &'static str {
        match self {
            Tail::Auto => "Auto",
            Tail::RoundUp => "RoundUp",
            Tail::GuardWithIf => "GuardWithIf",
            Tail::Predicate => "Predicate",
            Tail::PredicateLoads => "PredicateLoads",
            Tail::PredicateStores => "PredicateStores",
            Tail::ShiftInwards => "ShiftInwards",
            Tail::ShiftInwardsAndBlend => "ShiftInwardsAndBlend",
            Tail::RoundUpAndBlend => "RoundUpAndBlend",
            Tail::Balanced => "Balanced",
        }
    }
}

//! Reasons that several mistakes share.

use halide_core::types::ScalarType;

/// A reason for which the order of a reduction cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderReason {
    /// The result depends on the order.
    NotCommutative,
    /// Only parts that follow each other may be combined: the first of several that are as good counts.
    InOrder,
    /// It is a float sum or the like, whose rounding depends on the order.
    Floats,
}

impl OrderReason {
    /// Returns the reason as the predicate of a sentence about the update.
    pub(crate) fn text(self) -> &'static str {
        match self {
            OrderReason::NotCommutative => "is no associative and commutative operation on the old value alone",
            OrderReason::InOrder => "takes the first of several that are as good",
            OrderReason::Floats => "rounds differently in another order",
        }
    }
}

/// A reason for which a GPU cannot change an element in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepReason {
    /// It has so many values.
    Tuple(usize),
    /// It is larger than a word.
    Wide(ScalarType),
}

impl StepReason {
    /// Returns the reason as a clause about the element.
    pub(crate) fn text(self) -> String {
        match self {
            StepReason::Tuple(values) => format!("the element has {values} values"),
            StepReason::Wide(ty) => format!("the element is {ty}, of more than 32 bits"),
        }
    }
}

/// The kinds of memory that the iterations of a parallel or vectorized loop would share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// Values that updates change.
    Updates,
    /// A circular buffer.
    Fold,
    /// Memory that each iteration uses for values of its own.
    Memory,
}

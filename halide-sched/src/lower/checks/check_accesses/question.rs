//! Questions that a program asks itself, and their places.

use halide_ir::{BufId, Expr, LoopId};

/// The place of a question: its function, the statement behind it, and the number of that one's bindings before it.
pub(super) type Place = (u32, u32, u32);

/// A question that a program asks itself.
#[derive(Clone, Debug)]
pub(super) enum Question {
    /// A condition that implies some accesses.
    Inequality(Expr),
    /// One access that is to be inside of its buffer.
    Index(IndexQuestion),
}

/// An index that is to be inside of a buffer in each lane that the mask leaves.
#[derive(Clone, Debug)]
pub(super) struct IndexQuestion {
    pub(super) buf: BufId,
    pub(super) index: Expr,
    pub(super) mask: Option<Expr>,
    /// The size of the buffer, if the program allocates it.
    pub(super) count: Option<Expr>,
    pub(super) innermost: Option<LoopId>,
}

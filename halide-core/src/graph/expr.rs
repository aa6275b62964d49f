//! Handles of expressions.

use std::marker::PhantomData;

/// An expression: a copyable handle into this thread's arena.
///
/// Operators and the functions of [`expr`](crate::expr) make expressions of others; literals take the type that they
/// meet.
/// ```
/// use halide_core::{Expr, expr::{ExprMethods, select, sqrt}, types::{F32, I32}, vars};
/// let x = vars!(x);
/// let even: Expr = (x % 2).eq(0);
/// let e = select(even, x, x - 1);
/// assert_eq!((e.ty(), sqrt(e).ty()), (Some(I32), Some(F32)));
/// ```
#[derive(Clone, Copy)]
pub struct Expr {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    /// Handles mean nothing on another thread, so they cannot be sent there.
    pub(crate) here: PhantomData<*const ()>,
}

impl Expr {
    /// The identity of the handle.
    pub(crate) fn key(self) -> (u32, u32) {
        (self.slot, self.generation)
    }
    /// Returns true if both are the same node; equal expressions that were written twice are two nodes.
    pub fn is_node(self, other: Expr) -> bool {
        self.key() == other.key()
    }
}

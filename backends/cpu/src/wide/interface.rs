//! Interface of a kernel and the code around it: captures, claims of memory, checks before a call, and refusals.

use crate::shared::linear::Sums;
use crate::shared::marks::Marks;
use halide_core::ids::ParamId;
use halide_ir::code_place::CodePlace;
use halide_ir::{BufId, Expr, FaultId, Sym, Type};

/// The loads of a kernel that are made in one way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loads {
    /// The way.
    pub(crate) way: &'static str,
    /// The operations of the machine for eight lanes, about.
    pub(crate) operations: usize,
    /// The number of loads.
    pub(crate) count: usize,
}

/// The reason that a loop is left to Cranelift.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal(pub(crate) String);

/// Something, or why not.
pub(super) type Emitted<T> = Result<T, Refusal>;

pub(super) fn refuse<T>(why: impl Into<String>) -> Emitted<T> {
    Err(Refusal(why.into()))
}

/// A value that a kernel gets from the code around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Capture {
    /// The value of a symbol, as its lanes lie in memory.
    Sym(Sym, Type),
    /// The value of a parameter.
    Param(ParamId),
    /// The address of a buffer.
    Buffer(BufId),
    /// All bits if a buffer is too small for non-temporal stores, and none if not.
    Small {
        /// The buffer.
        buf: BufId,
        /// All bits as well if rows are whole pages apart.
        apart: bool,
    },
    /// The address of a piece of [`Kernel::heap`], by its number.
    Heap(usize),
    /// The address of the flag that ends the run early.
    Stop,
    /// The address of the word in which this thread says where it is.
    Mark,
    /// Nothing at first; a kernel that was left by a check puts here its fault's number and 1, how many numbers it
    /// speaks of, and these.
    Failed,
}

/// Memory that an allocation inside of a kernel needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Claim {
    /// The buffer that is allocated.
    pub(crate) buf: BufId,
    /// The number of elements, or more than that.
    pub(crate) count: Expr,
    /// It is never used if this does not hold.
    pub(crate) when: Option<Expr>,
}

/// A check that is made before a kernel is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Check {
    /// It is not made if this does not hold.
    pub(crate) when: Option<Expr>,
    /// The condition that must hold.
    pub(crate) cond: Expr,
    /// The fault if it does not.
    pub(crate) fault: FaultId,
    /// The numbers that the fault speaks of.
    pub(crate) args: Vec<Expr>,
}

/// The facts about the code around it that a kernel may ask for.
pub(crate) trait Surroundings {
    /// Returns true if a buffer that is allocated outside is in memory.
    fn in_memory(&self, buf: BufId) -> bool;
    /// Returns the number of elements of an allocation outside, if that is known.
    fn elements(&self, buf: BufId) -> Option<u64>;
    /// Returns the definitions of names of index arithmetic.
    fn definitions(&self) -> &Sums;
    /// Returns the marks that code leaves, if it leaves any, and the number of the definition around.
    fn marks(&self) -> Option<(&Marks, u64)>;
    /// Returns the place of the code around.
    fn code_place(&self) -> CodePlace;
}

//! The signatures of closures that compiled code calls.

use halide_core::externs::ExternDef;
use halide_core::ids::{Id, IdVec};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::{BufId, CalleeId, Program};

/// The signature of a closure: the boxes that a call of it hands over.
#[derive(Clone)]
pub(crate) struct CallShape {
    /// The number of boxes that it writes, the first ones.
    pub(super) results: usize,
    /// True if it is handed what these hold.
    pub(super) updates: bool,
    /// The numbers of the parameters that it is told.
    pub(super) params: Vec<usize>,
    pub(super) args: Vec<ArgShape>,
}

/// A box that is handed over.
#[derive(Clone)]
pub(super) struct ArgShape {
    pub(super) buf: BufId,
    pub(super) ty: ScalarType,
    pub(super) dims: usize,
}

impl CallShape {
    /// Returns the signature of every closure of a program.
    pub(crate) fn all(program: &Program) -> IdVec<CalleeId, CallShape> {
        let arg =
            |buf: &BufId| ArgShape { buf: *buf, ty: program.buffers[*buf].elem, dims: program.buffers[*buf].dims };
        let row = |callee: &halide_ir::Callee| CallShape {
            results: callee.results,
            updates: callee.updates,
            params: callee.params.iter().map(|param| param.index()).collect(),
            args: callee.buffers.iter().map(arg).collect(),
        };
        program.callees.iter().map(row).collect()
    }
    /// The number of words that a call hands over.
    pub(super) fn words(&self) -> usize {
        self.args.iter().map(|arg| 1 + WORDS_OF_DIM * arg.dims).sum()
    }
}

/// The words of a dimension: first coordinate and extent of the box; first coordinate, extent and stride of the memory.
pub(crate) const WORDS_OF_DIM: usize = 5;

/// The closures of a run, with their signatures and the values of the program's parameters.
#[derive(Clone, Copy)]
pub(crate) struct Callees<'a> {
    pub(crate) shapes: &'a IdVec<CalleeId, CallShape>,
    pub(crate) closures: &'a [ExternDef],
    pub(crate) params: &'a [Scalar],
}

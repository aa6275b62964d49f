//! Closures of the caller that a program calls, and the boxes of buffers that it hands to them: of extern stages, and
//! of instructions.

use super::expr::Expr;
use super::sym::BufId;
use halide_core::ids::ParamId;

/// A closure that a program calls. It is no part of the program: whoever runs it gives the closures, in the order of
/// [`Program::callees`](super::Program::callees).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Callee {
    /// The name of the extern stage, or of the instruction.
    pub name: String,
    /// The buffers that it is handed boxes of: those that it writes, then those that it reads.
    pub buffers: Vec<BufId>,
    /// The number of buffers that it writes.
    pub results: usize,
    /// True if it changes what these hold, false if it writes them without a look at that.
    pub updates: bool,
    /// The parameters whose values it is told.
    pub params: Vec<ParamId>,
}

/// A box of a buffer that a closure is handed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CallArg {
    /// The buffer, that of the row of the closure.
    pub buf: BufId,
    /// Scalar Index: the first coordinate and the extent of each dimension of the box; an extent <= 0 is none.
    pub bounds: Vec<(Expr, Expr)>,
    /// Scalar Index: the first coordinate, the extent and the stride of each dimension of the buffer's memory (from
    /// `Flat` on; empty before).
    pub memory: Vec<[Expr; 3]>,
}

impl CallArg {
    /// Every expression, in evaluation order.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.bounds.iter().flat_map(|(min, extent)| [min, extent]).chain(self.memory.iter().flatten())
    }
    /// The same of what `f` makes of every expression.
    pub fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> CallArg {
        CallArg {
            buf: self.buf,
            bounds: self.bounds.iter().map(|(min, extent)| (f(min), f(extent))).collect(),
            memory: self.memory.iter().map(|[min, extent, stride]| [f(min), f(extent), f(stride)]).collect(),
        }
    }
}

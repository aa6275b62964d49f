//! Memory that an iteration of a loop has for itself.

use halide_core::ids::{FuncId, IdVec};
use halide_ir::{BufId, Program, Stmt};
use std::collections::BTreeSet;

/// The buffers that statements have for themselves.
pub(super) struct Transient {
    buffers: IdVec<FuncId, Vec<BufId>>,
    /// The Funcs whose values end with the iteration that computes them.
    funcs: BTreeSet<FuncId>,
}

impl Transient {
    pub(super) fn new(program: &Program, funcs: &BTreeSet<FuncId>) -> Transient {
        Transient { buffers: program.func_buffers.clone(), funcs: funcs.clone() }
    }
    /// The buffers that live in the body of a loop in which `s` stands: `s` allocates them, or computes all of their
    /// values that there are, so that no later iteration sees these although the memory is allocated further out.
    pub(super) fn own<'t>(&'t self, s: &'t Stmt) -> &'t [BufId] {
        let of = |func: &FuncId| self.buffers.get(*func).map_or(&[][..], Vec::as_slice);
        match s {
            Stmt::Alloc { buf, .. } => std::slice::from_ref(buf),
            Stmt::Realize { func, .. } => of(func),
            Stmt::Produce { func, .. } if self.funcs.contains(func) => of(func),
            _ => &[],
        }
    }
}

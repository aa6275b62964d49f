//! The open loops and branches of a kernel under construction.

use super::super::machine::BlockId;
use halide_ir::visit::for_each_stmt;
use halide_ir::{BufId, LoopId, Stmt};
use std::collections::BTreeSet;

/// An open loop or branch.
pub(super) struct Level {
    /// The block that gets more code.
    pub(super) block: BlockId,
    /// The number of loops around its code.
    pub(super) loops: usize,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// The whole kernel.
    First,
    /// Runs if a condition holds.
    Branch,
    /// A loop, which stores to these buffers.
    Loop(LoopId, BTreeSet<BufId>),
}

impl Level {
    /// The outermost level.
    pub(super) fn first() -> Level {
        Level { block: BlockId(0), loops: 0, kind: Kind::First }
    }
}

/// Every buffer that statements store to.
pub(super) fn stored(all: &[&Stmt]) -> BTreeSet<BufId> {
    fn walk(s: &Stmt, into: &mut BTreeSet<BufId>) {
        if let Stmt::Store { buf, .. } = s {
            into.insert(*buf);
        }
        for_each_stmt(s, |inner| walk(inner, into));
    }
    let mut bufs = BTreeSet::new();
    all.iter().for_each(|s| walk(s, &mut bufs));
    bufs
}

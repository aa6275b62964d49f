//! The open loops and branches of a kernel under construction.

use super::super::machine::BlockId;
use halide_ir::{BufId, LoopId};
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

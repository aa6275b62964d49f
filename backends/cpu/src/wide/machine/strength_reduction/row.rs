//! Addresses in a loop that are the same but for constants.

use super::super::inst::{Arg, BlockId, Mem};
use super::super::value::Value;

/// An address of a loop: its block, instruction and argument.
pub(super) type Site = (BlockId, usize, usize);

/// The addresses of a loop that are the same but for constants.
pub(super) struct Row {
    pub(super) value: Value,
    /// The same in terms of values around the function.
    pub(super) opened: Value,
    /// Each with its constant, in the order of the loop.
    pub(super) sites: Vec<(Site, i64)>,
}

/// The memory that an argument is.
pub(super) fn as_memory(arg: &Arg) -> Option<&Mem> {
    match arg {
        Arg::Mem(mem) => Some(mem),
        _ => None,
    }
}

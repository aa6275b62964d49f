//! The places of buffers in a kernel.

use super::builder::V;
use halide_ir::Writes;
use halide_ir::lanes::Held;
use naga::{GlobalVariable, Handle, LocalVariable};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The location of a buffer: memory of the device or of a block, an array, or variables.
#[derive(Clone)]
pub(super) enum Place {
    /// In memory of the device: words, of which small elements share one.
    Buffer {
        array: Handle<GlobalVariable>,
        /// The number of the element at the smallest coordinates, a U32.
        offset: V,
        reads: bool,
        writes: Writes,
    },
    /// In the memory of the block: a word for each element of up to 32 bits, two for others.
    Shared { array: Handle<GlobalVariable>, first_word: u32 },
    /// In an array of the thread, of registers.
    Array(Handle<LocalVariable>),
    /// In variables of the lanes of a subgroup, a part of the elements in each.
    Lanes { held: Held, variables: Rc<[Handle<LocalVariable>]> },
    /// Each element in a variable of the thread.
    Registers(BTreeMap<i64, Handle<LocalVariable>>),
}

/// The elements of an access.
pub(super) enum At {
    /// Consecutive ones from this on.
    Dense(V),
    /// One for each lane.
    Each(Vec<V>),
}

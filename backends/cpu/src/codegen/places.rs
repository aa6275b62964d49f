//! The places of buffers in a function, and its stack slots.

use crate::shared::lane::Lane;
use crate::shared::pieces::Piece;
use cranelift_codegen::ir::{StackSlot, Value};
use cranelift_frontend::Variable;
use std::rc::Rc;

/// The location of a buffer.
#[derive(Clone)]
pub(super) enum Place {
    /// In memory.
    Memory(Area),
    /// In registers: every access has a constant index.
    Registers(Rc<RegisterBuffer>),
}

/// A buffer in memory.
#[derive(Clone, Copy)]
pub(super) struct Area {
    /// The address of element 0.
    pub(super) base: Value,
    /// The number of its alias region.
    pub(super) region: u32,
    /// True if nobody writes it during a run.
    pub(super) readonly: bool,
    /// True if 15 bytes after the last element may be read.
    pub(super) slack: bool,
}

/// A buffer in registers.
pub(super) struct RegisterBuffer {
    pub(super) lane: Lane,
    pub(super) pieces: Vec<(Piece, Vec<Variable>)>,
}

/// The stack slots of one function.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) used: u64,
    /// Slots of allocations that have ended, with their sizes: another may take their place.
    pub(super) free: Vec<(StackSlot, u64)>,
    /// Short-lived scratch space by purpose.
    pub(super) scratch: Vec<(Scratch, StackSlot, u32)>,
}

/// The purposes of scratch space; two purposes never share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scratch {
    /// Lanes of data.
    Data,
    /// Lanes of a mask.
    Mask,
    /// Offsets of lanes.
    Offsets,
    /// The arguments of a fault.
    Fault,
}

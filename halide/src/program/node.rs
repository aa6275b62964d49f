//! Programs that were checked: steps by number, in loops.

use super::bind::BoundStep;
use super::describe::When;
use super::slots::SlotId;
use halide_core::error::Location;

/// A description without mistakes.
pub(super) struct Checked {
    /// All steps, in the order in which they were added.
    pub(super) steps: Vec<BoundStep>,
    pub(super) body: Vec<Node>,
    /// For each slot, the slots whose values its region depends on.
    pub(super) sizers: Vec<Vec<SlotId>>,
}

/// A part of a checked program.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// The step of this number.
    Step(usize),
    Repeat {
        times: Count,
        body: Vec<Node>,
        at: Location,
    },
    /// Parts that run in one iteration of the loop around them.
    Once {
        when: When,
        body: Vec<Node>,
    },
}

/// The number of times that a loop runs.
#[derive(Clone, Debug)]
pub(super) enum Count {
    Constant(u64),
    Param(String),
    While { slot: SlotId, every: u64, most: u64 },
}

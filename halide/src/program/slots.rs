//! The slots of programs.

use halide_core::buffer::Region;
use halide_core::error::Location;
use halide_core::types::ScalarType;

/// The number of a slot in the order in which they were declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SlotId(pub(super) usize);

/// A named buffer of a program.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) ty: ScalarType,
    pub(super) dims: usize,
    pub(super) size: SlotSize,
    /// The place of the declaration.
    pub(super) at: Location,
}

/// The region of a slot.
#[derive(Clone, Debug)]
pub(super) enum SlotSize {
    /// The region of the buffer that the call gives.
    Given,
    /// Known when the program is described.
    Fixed(Region),
    /// The region of another slot.
    Like(SlotId),
    /// The region that the steps need that read the slot.
    Readers,
}

/// Returns the slot called `name`.
pub(super) fn find(slots: &[Slot], name: &str) -> Option<SlotId> {
    slots.iter().position(|slot| slot.name == name).map(SlotId)
}

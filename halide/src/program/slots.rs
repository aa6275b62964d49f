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
    /// From 0 on, of so many coordinates in each dimension, whenever a step writes the slot.
    Sized(Vec<Extent>),
}

/// The extent of a dimension of a slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    Fixed(i64),
    /// The value of this slot, an integer without dimensions.
    Slot(SlotId),
}

/// The extent of a dimension of a slot of [`Program::sized`](super::Program::sized): a number, or the name of a slot
/// that holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotExtent {
    /// A number of coordinates.
    Fixed(i64),
    /// The value of this slot, an integer without dimensions.
    Slot(String),
}

/// Makes an extent of a number.
impl From<i32> for SlotExtent {
    fn from(extent: i32) -> SlotExtent {
        SlotExtent::Fixed(extent.into())
    }
}

/// Makes an extent of the name of a slot.
impl From<&str> for SlotExtent {
    fn from(slot: &str) -> SlotExtent {
        SlotExtent::Slot(slot.to_string())
    }
}

/// Returns the slot called `name`.
pub(super) fn find(slots: &[Slot], name: &str) -> Option<SlotId> {
    slots.iter().position(|slot| slot.name == name).map(SlotId)
}

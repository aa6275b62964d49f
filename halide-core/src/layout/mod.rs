//! Layouts: the dimensions of a buffer in blocks and in another order, as a value.
//!
//! A [`Layout`] says how an array of named dimensions lies in a buffer whose dimensions are parts of these: `c.i`, the
//! place in a block, and `c.o`, the number of the block, of a dimension `c` that is split, and the others as they are.
//! Blocks count from coordinate 0. It packs and unpacks buffers, and an input image that has one
//! ([`ImageParam::with_layout`](crate::ImageParam::with_layout)) is read at the coordinates of the array.
//!
//! What a pipeline itself keeps has a layout by its schedule (`split_storage`, `reorder_storage`); a layout of what
//! callers give is part of the algorithm.

mod copy;
pub(crate) mod error;
mod parts;
#[cfg(test)]
mod tests;

pub use error::LayoutError;
pub use parts::Layout;
pub(crate) use parts::{Part, Place};

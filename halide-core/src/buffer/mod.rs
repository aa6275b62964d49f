//! Buffers: N-dimensional arrays with a min, an extent and a stride per dimension.
//!
//! A buffer is a value. Clones and views (crop, slice, transpose, translate, embed) share memory; the first write to
//! shared memory copies, so nobody sees another's writes. A mutable view ([`AnyBufferMut`], [`BufferMut`]) writes into
//! a part of an existing buffer in place. [`AnyBuffer`] knows its element type at run time, [`Buffer`] at compile time.
//!
//! Extent 0 is an empty buffer; a negative extent is an error, and so is memory that cannot be had.
//!
//! ```
//! use halide_core::buffer::{Buffer, Region};
//! let photo = Buffer::from_fn(&Region::of_extents([4, 3]), |at| at[0] + 10 * at[1])?;
//! let mut corner = photo.crop(&Region::of_spans([(2, 2), (1, 2)]))?;
//! corner.set([3, 2], -1)?;
//! assert_eq!(corner.to_vec(), [12, 13, 22, -1]);
//! assert_eq!(photo.get([3, 2]), Some(23));
//! # Ok::<(), halide_core::buffer::BufferError>(())
//! ```

mod any;
mod borrowed;
mod copy;
mod element;
mod error;
mod raw;
mod region;
mod shape;
#[cfg(test)]
mod tests;
mod typed;
mod view_mut;

pub use any::AnyBuffer;
pub use error::BufferError;
pub use raw::{ALIGNMENT, Memory, RawBuffer, prefer_large_pages};
pub(crate) use region::advance;
pub use region::{Coordinate, Extents, Region, RegionPoints, Span};
pub use shape::Dim;
pub use typed::Buffer;
pub use view_mut::{AnyBufferMut, BufferMut};

//! Buffers whose element type is known at compile time.

use super::any::AnyBuffer;
use super::error::BufferError;
use super::region::{Coordinate, Region};
use super::view_mut::BufferMut;
use crate::value::Element;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A buffer of `T`. It dereferences to [`AnyBuffer`], which has the questions that do not concern elements.
///
/// ```
/// use halide_core::buffer::{Buffer, Region};
/// let mut image = Buffer::<u16>::new([4, 3])?;
/// image.set([3, 2], 7)?;
/// assert_eq!((image.get([3, 2]), image.get([4, 2])), (Some(7), None));
/// let row = image.slice(1, 2)?;
/// assert_eq!(row.to_vec(), [0, 0, 0, 7]);
/// let moved = Buffer::from_fn(&Region::of_spans([(-1, 3)]), |at| at[0])?;
/// assert_eq!((moved.min(0), moved.extent(0), moved.to_vec()), (-1, 3, vec![-1, 0, 1]));
/// # Ok::<(), halide_core::buffer::BufferError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Buffer<T: Element> {
    any: AnyBuffer,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// A zeroed buffer with mins 0; the first dimension is innermost in memory.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn new<C: Coordinate>(extents: impl AsRef<[C]>) -> Result<Buffer<T>, BufferError> {
        AnyBuffer::new(T::TYPE, extents).map(Buffer::wrap)
    }
    /// A zeroed buffer over `region`; the first dimension is innermost in memory.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn with_region(region: &Region) -> Result<Buffer<T>, BufferError> {
        AnyBuffer::with_region(T::TYPE, region).map(Buffer::wrap)
    }
    /// A zeroed buffer with mins 0 whose last dimension, the channels, is innermost in memory.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn interleaved<C: Coordinate>(extents: impl AsRef<[C]>) -> Result<Buffer<T>, BufferError> {
        AnyBuffer::interleaved(T::TYPE, &Region::of_extents(extents)).map(Buffer::wrap)
    }
    /// A buffer with mins 0 of `elements`, first dimension innermost.
    ///
    /// # Errors
    /// Another number of elements than the extents say, or extents as for [`Buffer::new`].
    pub fn from_slice<C: Coordinate>(extents: impl AsRef<[C]>, elements: &[T]) -> Result<Buffer<T>, BufferError> {
        let mut buffer = Buffer::new(extents)?;
        buffer.copy_from_slice(elements)?;
        Ok(buffer)
    }
    /// A buffer with mins 0 of `elements`, in the order in which an interleaved buffer has them: last dimension
    /// innermost, then the first.
    ///
    /// # Errors
    /// Another number of elements than the extents say, or extents as for [`Buffer::new`].
    pub fn from_interleaved<C: Coordinate>(extents: impl AsRef<[C]>, elements: &[T]) -> Result<Buffer<T>, BufferError> {
        let mut buffer = Buffer::interleaved(extents)?;
        buffer.copy_from_slice(elements)?;
        Ok(buffer)
    }
    /// A buffer over `region` of `f` of the coordinates.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn from_fn(region: &Region, f: impl FnMut(&[i32]) -> T) -> Result<Buffer<T>, BufferError> {
        let mut buffer = Buffer::with_region(region)?;
        buffer.view_mut()?.fill_with(f);
        Ok(buffer)
    }

    /// The buffer with its element type known at run time.
    pub fn as_any(&self) -> &AnyBuffer {
        &self.any
    }
    /// The buffer with its element type known at run time, without a copy of the handle.
    pub fn into_any(self) -> AnyBuffer {
        self.any
    }
    /// The element at a point; `None` outside.
    pub fn get<C: Coordinate>(&self, at: impl AsRef<[C]>) -> Option<T> {
        let index = self.any.shape.index(at.as_ref())?;
        Some(self.any.elements::<T>()[index])
    }
    /// Writes an element.
    ///
    /// # Errors
    /// A point outside, or no memory for a copy where memory is shared.
    pub fn set<C: Coordinate>(&mut self, at: impl AsRef<[C]>, value: T) -> Result<(), BufferError> {
        self.view_mut()?.set(at, value)
    }
    /// Writes one value to every element.
    ///
    /// # Errors
    /// No memory for a copy where memory is shared.
    pub fn fill(&mut self, value: T) -> Result<(), BufferError> {
        self.view_mut()?.fill_with(|_| value);
        Ok(())
    }
    /// A view for writing in place; memory that is shared is copied first.
    ///
    /// # Errors
    /// No memory for the copy.
    pub fn view_mut(&mut self) -> Result<BufferMut<'_, T>, BufferError> {
        self.any.view_mut()?.typed()
    }
    /// Every point with its element, first dimension fastest.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<i32>, T)> + '_ {
        self.any.coords().filter_map(|at| self.get(&at).map(|value| (at, value)))
    }
    /// The elements, first dimension fastest, whatever their order in memory.
    pub fn to_vec(&self) -> Vec<T> {
        let (mut out, elements) = (Vec::new(), self.any.elements::<T>());
        self.any.shape.walk(|_, index| out.push(elements[index]));
        out
    }
    /// The elements as one slice, first dimension innermost, when they lie so in memory without gaps.
    pub fn as_slice(&self) -> Option<&[T]> {
        if !self.any.shape.is_dense() {
            return None;
        }
        let (start, len) = (self.any.shape.offset as usize, self.any.len() as usize);
        Some(if len == 0 { &[] } else { &self.any.elements::<T>()[start..start + len] })
    }

    /// The part inside `region`, which must be inside this buffer.
    ///
    /// # Errors
    /// A region that is not inside, or has another number of dimensions.
    pub fn crop(&self, region: &Region) -> Result<Buffer<T>, BufferError> {
        self.any.crop(region).map(Buffer::wrap)
    }
    /// The plane at coordinate `at` of `dim`, without that dimension.
    ///
    /// # Errors
    /// A dimension or a coordinate that the buffer does not have.
    pub fn slice(&self, dim: usize, at: i64) -> Result<Buffer<T>, BufferError> {
        self.any.slice(dim, at).map(Buffer::wrap)
    }
    /// The same elements with the dimensions in another order: dimension `i` is this buffer's `order[i]`.
    ///
    /// # Errors
    /// An order that does not name each dimension once.
    pub fn transpose(&self, order: &[usize]) -> Result<Buffer<T>, BufferError> {
        self.any.transpose(order).map(Buffer::wrap)
    }
    /// The same elements with `offsets` added to the coordinates.
    ///
    /// # Errors
    /// Another number of offsets than dimensions, or coordinates outside i32.
    pub fn translate<C: Coordinate>(&self, offsets: impl AsRef<[C]>) -> Result<Buffer<T>, BufferError> {
        self.any.translate(offsets).map(Buffer::wrap)
    }
    /// The same elements with other first coordinates.
    ///
    /// # Errors
    /// Another number of mins than dimensions, or coordinates outside i32.
    pub fn with_mins<C: Coordinate>(&self, mins: impl AsRef<[C]>) -> Result<Buffer<T>, BufferError> {
        self.any.with_mins(mins).map(Buffer::wrap)
    }
    /// The same elements with a new dimension of extent 1, before dimension `dim`, at coordinate `at`.
    ///
    /// # Errors
    /// A dimension further than one behind the last, or a coordinate outside i32.
    pub fn embed(&self, dim: usize, at: i64) -> Result<Buffer<T>, BufferError> {
        self.any.embed(dim, at).map(Buffer::wrap)
    }
    /// See [`AnyBuffer::split`].
    ///
    /// # Errors
    /// As [`AnyBuffer::split`].
    pub fn split(&self, dim: usize, factor: i64) -> Result<Buffer<T>, BufferError> {
        self.any.split(dim, factor).map(Buffer::wrap)
    }
    /// See [`AnyBuffer::join`].
    ///
    /// # Errors
    /// As [`AnyBuffer::join`].
    pub fn join(&self, dim: usize) -> Result<Buffer<T>, BufferError> {
        self.any.join(dim).map(Buffer::wrap)
    }

    fn wrap(any: AnyBuffer) -> Buffer<T> {
        Buffer { any, element: PhantomData }
    }
    /// Fills a dense buffer in the order of its memory.
    fn copy_from_slice(&mut self, elements: &[T]) -> Result<(), BufferError> {
        let (expected, found) = (self.any.len(), elements.len() as u64);
        if expected != found {
            return Err(BufferError::WrongLength { expected, found });
        }
        let order = self.any.shape.memory_order();
        let view = self.any.view_mut()?.transpose(&order)?;
        if let Some(to) = view.typed::<T>()?.as_mut_slice() {
            to.copy_from_slice(elements);
        }
        Ok(())
    }
}

impl AnyBuffer {
    /// The buffer with its element type known at compile time.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn typed<T: Element>(&self) -> Result<Buffer<T>, BufferError> {
        Buffer::try_from(self.clone())
    }
}

impl<T: Element> Deref for Buffer<T> {
    type Target = AnyBuffer;
    fn deref(&self) -> &AnyBuffer {
        &self.any
    }
}

impl<T: Element> From<Buffer<T>> for AnyBuffer {
    fn from(buffer: Buffer<T>) -> AnyBuffer {
        buffer.any
    }
}

impl<T: Element> From<&Buffer<T>> for AnyBuffer {
    fn from(buffer: &Buffer<T>) -> AnyBuffer {
        buffer.any.clone()
    }
}

impl From<&AnyBuffer> for AnyBuffer {
    fn from(buffer: &AnyBuffer) -> AnyBuffer {
        buffer.clone()
    }
}

impl<T: Element> TryFrom<AnyBuffer> for Buffer<T> {
    type Error = BufferError;
    fn try_from(any: AnyBuffer) -> Result<Buffer<T>, BufferError> {
        let (expected, found) = (any.ty, T::TYPE);
        if expected == found { Ok(Buffer::wrap(any)) } else { Err(BufferError::WrongType { expected, found }) }
    }
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

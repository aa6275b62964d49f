//! Buffers whose element type is known at run time.

use super::element::with_element;
use super::error::BufferError;
use super::raw::{Memory, RawBuffer, Storage};
use super::region::{Coordinate, Region, RegionPoints};
use super::shape::{Dim, Shape};
use crate::types::ScalarType;
use crate::value::{Element, Scalar};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A buffer whose element type is known at run time.
///
/// ```
/// use halide_core::{buffer::AnyBuffer, types::U16};
/// let mut buffer = AnyBuffer::new(U16, [4, 3])?;
/// buffer.fill(7u16.into())?;
/// assert_eq!((buffer.ty(), buffer.extent(1), buffer.get([3, 2])), (U16, 3, Some(7u16.into())));
/// assert_eq!(buffer.typed::<u16>()?.get([0, 0]), Some(7));
/// # Ok::<(), halide_core::buffer::BufferError>(())
/// ```
#[derive(Clone)]
pub struct AnyBuffer {
    pub(super) ty: ScalarType,
    pub(super) storage: Arc<Storage>,
    pub(super) shape: Shape,
}

impl AnyBuffer {
    /// A zeroed buffer with mins 0; the first dimension is innermost in memory.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn new<C: Coordinate>(ty: ScalarType, extents: impl AsRef<[C]>) -> Result<AnyBuffer, BufferError> {
        AnyBuffer::with_region(ty, &Region::of_extents(extents))
    }
    /// A zeroed buffer over `region`; the first dimension is innermost in memory.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn with_region(ty: ScalarType, region: &Region) -> Result<AnyBuffer, BufferError> {
        let order: Vec<usize> = (0..region.dims()).collect();
        AnyBuffer::with_layout(ty, region, &order)
    }
    /// A zeroed buffer whose last dimension, the channels, is innermost in memory.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn interleaved(ty: ScalarType, region: &Region) -> Result<AnyBuffer, BufferError> {
        let mut order: Vec<usize> = (0..region.dims()).collect();
        order.rotate_right(region.dims().min(1));
        AnyBuffer::with_layout(ty, region, &order)
    }
    /// A zeroed buffer whose dimensions lie in memory in `order`, innermost first.
    ///
    /// # Errors
    /// An order that does not name each dimension once, a negative extent, coordinates outside i32, or more memory than
    /// there is.
    pub fn with_layout(ty: ScalarType, region: &Region, order: &[usize]) -> Result<AnyBuffer, BufferError> {
        let shape = Shape::dense(region, order)?;
        let storage = Storage::zeroed(shape.dense_bytes(ty)?)?;
        Ok(AnyBuffer { ty, storage: Arc::new(storage), shape })
    }
    /// A zeroed buffer over `region` with these distances in elements between neighbours, one per dimension.
    ///
    /// # Errors
    /// Strides below 1, or with which two elements would be at one place.
    pub fn with_strides(ty: ScalarType, region: &Region, strides: &[i64]) -> Result<AnyBuffer, BufferError> {
        let shape = Shape::strided(region, strides)?;
        let storage = Storage::zeroed(shape.spread_bytes(ty)?)?;
        Ok(AnyBuffer { ty, storage: Arc::new(storage), shape })
    }
    /// A zeroed buffer with these dimensions, strides too; where no memory can have those strides, without gaps but in
    /// their order.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, or more memory than there is.
    pub fn like(ty: ScalarType, dims: &[Dim]) -> Result<AnyBuffer, BufferError> {
        let (shape, bytes) = AnyBuffer::shape_like(ty, dims)?;
        Ok(AnyBuffer { ty, storage: Arc::new(Storage::zeroed(bytes)?), shape })
    }
    /// [`AnyBuffer::like`], of memory that the system gives when it is touched: for buffers whose dimensions matter
    /// and whose elements nobody reads.
    ///
    /// # Errors
    /// As of [`AnyBuffer::like`].
    pub fn untouched_like(ty: ScalarType, dims: &[Dim]) -> Result<AnyBuffer, BufferError> {
        let (shape, bytes) = AnyBuffer::shape_like(ty, dims)?;
        Ok(AnyBuffer { ty, storage: Arc::new(Storage::untouched(bytes)?), shape })
    }
    /// The shape of [`AnyBuffer::like`], and its bytes.
    fn shape_like(ty: ScalarType, dims: &[Dim]) -> Result<(Shape, usize), BufferError> {
        let region: Region = dims.iter().map(|d| d.span()).collect();
        let strides: Vec<i64> = dims.iter().map(|d| d.stride).collect();
        let shape = match Shape::strided(&region, &strides) {
            Err(BufferError::Strides { .. }) => {
                let mut order: Vec<usize> = (0..dims.len()).collect();
                order.sort_by_key(|&d| dims[d].stride.unsigned_abs());
                Shape::dense(&region, &order)?
            }
            made => made?,
        };
        let bytes = shape.spread_bytes(ty)?;
        Ok((shape, bytes))
    }
    /// A buffer over `region`, the first dimension innermost in memory and without gaps, whose elements have these
    /// bytes; any byte other than 0 is true.
    ///
    /// # Errors
    /// Another number of bytes than the elements have, or a region as for [`AnyBuffer::with_region`].
    pub fn from_bytes(ty: ScalarType, region: &Region, bytes: &[u8]) -> Result<AnyBuffer, BufferError> {
        let order: Vec<usize> = (0..region.dims()).collect();
        let shape = Shape::dense(region, &order)?;
        let expected = shape.dense_bytes(ty)?;
        if bytes.len() != expected {
            let size = ty.bytes();
            let (expected, found) = ((expected / size) as u64, (bytes.len() / size) as u64);
            return Err(BufferError::WrongLength { expected, found });
        }
        let mut storage = Storage::zeroed(expected)?;
        storage.fill_bytes(ty, bytes);
        Ok(AnyBuffer { ty, storage: Arc::new(storage), shape })
    }

    /// The element type.
    pub fn ty(&self) -> ScalarType {
        self.ty
    }
    /// The dimensions.
    pub fn dims(&self) -> &[Dim] {
        &self.shape.dims
    }
    /// The coordinates it has.
    pub fn region(&self) -> Region {
        self.shape.region()
    }
    /// The first coordinate of a dimension; 0 for a dimension it does not have.
    pub fn min(&self, dim: usize) -> i64 {
        self.shape.dims.get(dim).map_or(0, |d| d.min)
    }
    /// The number of coordinates of a dimension; 1 for a dimension it does not have.
    pub fn extent(&self, dim: usize) -> i64 {
        self.shape.dims.get(dim).map_or(1, |d| d.extent)
    }
    /// The distance in elements between neighbours in a dimension; 0 for a dimension it does not have.
    pub fn stride(&self, dim: usize) -> i64 {
        self.shape.dims.get(dim).map_or(0, |d| d.stride)
    }
    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.region().points().unwrap_or(u64::MAX)
    }
    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Every point, first dimension fastest.
    pub fn coords(&self) -> RegionPoints {
        self.region().coords()
    }
    /// Returns true if two buffers share memory, so that a write to one would copy.
    pub fn shares_memory(&self, other: &AnyBuffer) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Returns true if no other buffer shares its memory, so that a write copies nothing.
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.storage) == 1
    }

    /// The element at a point; `None` outside.
    pub fn get<C: Coordinate>(&self, at: impl AsRef<[C]>) -> Option<Scalar> {
        let index = self.shape.index(at.as_ref())?;
        Some(self.scalar_at(index))
    }
    /// The raw view for reading. Valid while this buffer (or a clone) lives.
    pub fn raw(&self) -> RawBuffer {
        self.storage.raw(self.ty, self.shape.offset, &self.shape.dims)
    }

    /// The memory that this buffer shares with its clones and views.
    pub fn memory(&self) -> Memory<'_> {
        let size = self.ty.bytes();
        let used = self.shape.used();
        let used = used.start * size..used.end * size;
        Memory { bytes: self.storage.bytes(), used, first: self.shape.offset as usize * size }
    }
    /// The companion of type `T` that is kept with this memory by this buffer or one that shares it, if no mutable view
    /// was made since.
    pub fn companion<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.storage.companion()
    }
    /// The companion of type `T`, which is `new` if there is none yet. It is kept with the memory until that goes or a
    /// mutable view of it is made, whichever is first.
    pub fn companion_or<T: Any + Send + Sync>(&self, new: impl FnOnce() -> T) -> Arc<T> {
        self.storage.companion_or(new)
    }

    /// The part inside `region`, which must be inside this buffer.
    ///
    /// # Errors
    /// A region that is not inside, or has another number of dimensions.
    pub fn crop(&self, region: &Region) -> Result<AnyBuffer, BufferError> {
        Ok(self.with_shape(self.shape.crop(region)?))
    }
    /// The plane at coordinate `at` of `dim`, without that dimension.
    ///
    /// # Errors
    /// A dimension or a coordinate that the buffer does not have.
    pub fn slice(&self, dim: usize, at: i64) -> Result<AnyBuffer, BufferError> {
        Ok(self.with_shape(self.shape.slice(dim, at)?))
    }
    /// The same elements with the dimensions in another order: dimension `i` is this buffer's `order[i]`.
    ///
    /// # Errors
    /// An order that does not name each dimension once.
    pub fn transpose(&self, order: &[usize]) -> Result<AnyBuffer, BufferError> {
        Ok(self.with_shape(self.shape.transpose(order)?))
    }
    /// The same elements with `offsets` added to the coordinates.
    ///
    /// # Errors
    /// Another number of offsets than dimensions, or coordinates outside i32.
    pub fn translate<C: Coordinate>(&self, offsets: impl AsRef<[C]>) -> Result<AnyBuffer, BufferError> {
        let offsets = offsets.as_ref();
        self.shape.expect_dims(offsets.len())?;
        let moved = self.dims().iter().zip(offsets).map(|(d, o)| d.min.saturating_add(o.to_i64()));
        self.with_mins(moved.collect::<Vec<i64>>())
    }
    /// The same elements with other first coordinates.
    ///
    /// # Errors
    /// Another number of mins than dimensions, or coordinates outside i32.
    pub fn with_mins<C: Coordinate>(&self, mins: impl AsRef<[C]>) -> Result<AnyBuffer, BufferError> {
        let mins: Vec<i64> = mins.as_ref().iter().map(|m| m.to_i64()).collect();
        Ok(self.with_shape(self.shape.with_mins(&mins)?))
    }
    /// The same elements with a new dimension of extent 1, before dimension `dim`, at coordinate `at`.
    ///
    /// # Errors
    /// A dimension further than one behind the last, or a coordinate outside i32.
    pub fn embed(&self, dim: usize, at: i64) -> Result<AnyBuffer, BufferError> {
        Ok(self.with_shape(self.shape.embed(dim, at)?))
    }
    /// The same elements with dimension `dim` in blocks of `factor` coordinates: dimension `dim` is the place in a
    /// block, and dimension `dim + 1` the number of the block, counted from coordinate 0.
    ///
    /// ```
    /// use halide_core::buffer::Buffer;
    /// let row = Buffer::from_slice([6], &[0, 1, 2, 3, 4, 5])?;
    /// let pairs = row.split(0, 2)?;
    /// assert_eq!((pairs.extent(0), pairs.extent(1), pairs.get([1, 2])), (2, 3, Some(5)));
    /// assert_eq!(pairs.join(0)?, row);
    /// assert!(row.split(0, 4).is_err()); // a block would be cut
    /// # Ok::<(), halide_core::buffer::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// A dimension that the buffer does not have, a factor below 1, or a first coordinate or an extent that is no
    /// multiple of it.
    pub fn split(&self, dim: usize, factor: i64) -> Result<AnyBuffer, BufferError> {
        Ok(self.with_shape(self.shape.split(dim, factor)?))
    }
    /// The same elements with dimension `dim` and the next as one: the places in blocks, and the blocks.
    ///
    /// # Errors
    /// Dimensions that the buffer does not have, places that do not begin at 0, or blocks that do not follow each other
    /// as places do, so that no single stride leads from element to element.
    pub fn join(&self, dim: usize) -> Result<AnyBuffer, BufferError> {
        Ok(self.with_shape(self.shape.join(dim)?))
    }

    /// The first point, in the order of [`AnyBuffer::coords`], whose elements are not [`Scalar::same`]; `None` when the
    /// buffers agree. Buffers of different types or regions are compared where both have elements.
    pub fn first_difference(&self, other: &AnyBuffer) -> Option<(Vec<i32>, Scalar, Scalar)> {
        let mut first = None;
        self.shape.walk(|at, index| {
            if first.is_none()
                && let Some(theirs) = other.get(at)
                && !theirs.same(self.scalar_at(index))
            {
                first = Some((at.to_vec(), self.scalar_at(index), theirs));
            }
        });
        first
    }

    fn with_shape(&self, shape: Shape) -> AnyBuffer {
        AnyBuffer { ty: self.ty, storage: self.storage.clone(), shape }
    }
    fn scalar_at(&self, index: usize) -> Scalar {
        with_element!(self.ty, T => Scalar::from(self.storage.elements::<T>()[index]))
    }
    pub(super) fn elements<T: Element>(&self) -> &[T] {
        self.storage.elements()
    }
}

impl PartialEq for AnyBuffer {
    /// One type, one region, and elements that are [`Scalar::same`]; strides do not matter.
    fn eq(&self, other: &AnyBuffer) -> bool {
        self.ty == other.ty && self.region() == other.region() && self.first_difference(other).is_none()
    }
}

impl Eq for AnyBuffer {}

impl fmt::Debug for AnyBuffer {
    /// Type and region, and the elements of a small buffer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ty, self.region())?;
        if self.len() > 64 {
            return Ok(());
        }
        let mut list = f.debug_list();
        self.shape.walk(|_, index| {
            list.entry(&format_args!("{}", self.scalar_at(index)));
        });
        list.finish()
    }
}

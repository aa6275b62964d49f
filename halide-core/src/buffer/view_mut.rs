//! Views that write into a part of a buffer in place.

use super::any::AnyBuffer;
use super::copy::copy_elements;
use super::element::with_element;
use super::error::BufferError;
use super::raw::{RawBuffer, Storage};
use super::region::{Coordinate, Region};
use super::shape::{Dim, Shape};
use crate::types::ScalarType::{self, Bool};
use crate::value::{Element, Scalar};
use std::marker::PhantomData;
use std::sync::Arc;

impl AnyBuffer {
    /// Writes an element of the buffer's type.
    ///
    /// # Errors
    /// A point outside, a value of another type, or no memory for a copy where memory is shared.
    pub fn set<C: Coordinate>(&mut self, at: impl AsRef<[C]>, value: Scalar) -> Result<(), BufferError> {
        self.view_mut()?.set(at, value)
    }
    /// Writes one value of the buffer's type to every element.
    ///
    /// # Errors
    /// A value of another type, or no memory for a copy where memory is shared.
    pub fn fill(&mut self, value: Scalar) -> Result<(), BufferError> {
        self.view_mut()?.fill(value)
    }
    /// A view for writing in place; memory that is shared is copied first.
    ///
    /// # Errors
    /// No memory for the copy.
    pub fn view_mut(&mut self) -> Result<AnyBufferMut<'_>, BufferError> {
        if Arc::get_mut(&mut self.storage).is_none() {
            *self = self.compact()?;
        }
        // Memory of one's own has no other owner; the error cannot be met.
        let storage = Arc::get_mut(&mut self.storage).ok_or(BufferError::OutOfMemory { bytes: 0 })?;
        Ok(AnyBufferMut::new(self.ty, storage, self.shape.clone()))
    }
    /// A copy with memory of its own and no gaps; dimensions keep their order in memory.
    ///
    /// # Errors
    /// No memory for the copy.
    pub fn compact(&self) -> Result<AnyBuffer, BufferError> {
        let mut copy = AnyBuffer::with_layout(self.ty, &self.region(), &self.shape.memory_order())?;
        copy.view_mut()?.copy_from(self)?;
        Ok(copy)
    }
}

/// A mutable view of a buffer, or of a part of it, whose element type is known at run time.
pub struct AnyBufferMut<'a> {
    ty: ScalarType,
    storage: &'a mut Storage,
    shape: Shape,
}

impl<'a> AnyBufferMut<'a> {
    /// Every road to writing leads through here, so what was kept with the memory is forgotten here.
    pub(super) fn new(ty: ScalarType, storage: &'a mut Storage, shape: Shape) -> AnyBufferMut<'a> {
        storage.drop_companions();
        AnyBufferMut { ty, storage, shape }
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
    /// The part inside `region`, which must be inside this view.
    ///
    /// # Errors
    /// A region that is not inside, or has another number of dimensions.
    pub fn crop(self, region: &Region) -> Result<AnyBufferMut<'a>, BufferError> {
        let shape = self.shape.crop(region)?;
        Ok(AnyBufferMut { shape, ..self })
    }
    /// The plane at coordinate `at` of `dim`, without that dimension.
    ///
    /// # Errors
    /// A dimension or a coordinate that the view does not have.
    pub fn slice(self, dim: usize, at: i64) -> Result<AnyBufferMut<'a>, BufferError> {
        let shape = self.shape.slice(dim, at)?;
        Ok(AnyBufferMut { shape, ..self })
    }
    /// The same elements with the dimensions in another order: dimension `i` is this view's `order[i]`.
    ///
    /// # Errors
    /// An order that does not name each dimension once.
    pub fn transpose(self, order: &[usize]) -> Result<AnyBufferMut<'a>, BufferError> {
        let shape = self.shape.transpose(order)?;
        Ok(AnyBufferMut { shape, ..self })
    }
    /// The element at a point; `None` outside.
    pub fn get<C: Coordinate>(&self, at: impl AsRef<[C]>) -> Option<Scalar> {
        let index = self.shape.index(at.as_ref())?;
        Some(with_element!(self.ty, T => Scalar::from(self.storage.elements::<T>()[index])))
    }
    /// Writes an element of the buffer's type.
    ///
    /// # Errors
    /// A point outside, or a value of another type.
    pub fn set<C: Coordinate>(&mut self, at: impl AsRef<[C]>, value: Scalar) -> Result<(), BufferError> {
        self.expect_type(value.ty())?;
        let index = self.shape.checked_index(at.as_ref())?;
        with_element!(self.ty, T => self.storage.elements_mut::<T>()[index] = T::from_bits64(value.bits()));
        Ok(())
    }
    /// Writes one value of the buffer's type to every element.
    ///
    /// # Errors
    /// A value of another type.
    pub fn fill(&mut self, value: Scalar) -> Result<(), BufferError> {
        self.expect_type(value.ty())?;
        with_element!(self.ty, T => {
            let (elements, value) = (self.storage.elements_mut::<T>(), T::from_bits64(value.bits()));
            self.shape.walk(|_, index| elements[index] = value);
        });
        Ok(())
    }
    /// Writes the elements of `source`, of one type with this view, at every point of this view; `source` has them all.
    ///
    /// # Errors
    /// A source of another type, or without elements at some point of this view.
    pub fn copy_from(&mut self, source: &AnyBuffer) -> Result<(), BufferError> {
        self.expect_type(source.ty)?;
        let from = source.shape.crop(&self.region())?;
        with_element!(self.ty, T => {
            copy_elements(source.elements::<T>(), &from, self.storage.elements_mut::<T>(), &self.shape);
        });
        Ok(())
    }
    /// A copy with memory of its own and, where memory can have them, the same strides.
    ///
    /// # Errors
    /// No memory for the copy.
    pub fn to_buffer(&self) -> Result<AnyBuffer, BufferError> {
        let mut copy = AnyBuffer::like(self.ty, &self.shape.dims)?;
        let view = copy.view_mut()?;
        with_element!(self.ty, T => {
            copy_elements(self.storage.elements::<T>(), &self.shape, view.storage.elements_mut::<T>(), &view.shape);
        });
        drop(view);
        Ok(copy)
    }
    /// The raw view for writing. Valid while this view's borrow lasts.
    pub fn raw_mut(&mut self) -> RawBuffer {
        self.storage.raw(self.ty, self.shape.offset, &self.shape.dims)
    }
    /// The address of the element at the min coordinates, or where it would be.
    pub fn first_address(&self) -> usize {
        let start = self.storage.bytes().as_ptr() as usize;
        start.wrapping_add((self.shape.offset as usize).wrapping_mul(self.ty.bytes()))
    }
    /// The memory from the lowest element of this view to the end of its highest, what is between elements included.
    /// `None` for `Bool`, whose bytes may not be any: see [`AnyBufferMut::copy_from_bytes`].
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        let (size, used) = (self.ty.bytes(), self.shape.used());
        let all = self.storage.bytes_mut();
        (self.ty != Bool).then(|| &mut all[used.start * size..used.end * size])
    }
    /// The number of bytes from the lowest element of this view to the end of its highest.
    pub fn used_bytes(&self) -> usize {
        self.shape.used().len() * self.ty.bytes()
    }
    /// Writes what [`AnyBufferMut::bytes_mut`] stands for: as many bytes. Bytes of `Bool` other than 0 become `true`.
    ///
    /// # Errors
    /// Another number of bytes.
    pub fn copy_from_bytes(&mut self, bytes: &[u8]) -> Result<(), BufferError> {
        let (expected, found) = (self.used_bytes() as u64, bytes.len() as u64);
        if expected != found {
            return Err(BufferError::WrongLength { expected, found });
        }
        let used = self.shape.used();
        match self.bytes_mut() {
            Some(own) => own.copy_from_slice(bytes),
            None => {
                let own = &mut self.storage.elements_mut::<bool>()[used];
                own.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from != 0);
            }
        }
        Ok(())
    }
    /// A view of the same elements, for as long as this one is not used.
    pub fn reborrow(&mut self) -> AnyBufferMut<'_> {
        AnyBufferMut { ty: self.ty, storage: self.storage, shape: self.shape.clone() }
    }
    /// The view with its element type known at compile time.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn typed<T: Element>(self) -> Result<BufferMut<'a, T>, BufferError> {
        self.expect_type(T::TYPE)?;
        Ok(BufferMut { any: self, element: PhantomData })
    }

    fn expect_type(&self, found: ScalarType) -> Result<(), BufferError> {
        if self.ty == found { Ok(()) } else { Err(BufferError::WrongType { expected: self.ty, found }) }
    }
}

/// A mutable view of a buffer, or of a part of it.
pub struct BufferMut<'a, T: Element> {
    any: AnyBufferMut<'a>,
    element: PhantomData<T>,
}

impl<'a, T: Element> BufferMut<'a, T> {
    /// The view with its element type known at run time.
    pub fn into_any(self) -> AnyBufferMut<'a> {
        self.any
    }
    /// The coordinates it has.
    pub fn region(&self) -> Region {
        self.any.region()
    }
    /// The part inside `region`, which must be inside this view.
    ///
    /// # Errors
    /// A region that is not inside, or has another number of dimensions.
    pub fn crop(self, region: &Region) -> Result<BufferMut<'a, T>, BufferError> {
        self.any.crop(region)?.typed()
    }
    /// The plane at coordinate `at` of `dim`, without that dimension.
    ///
    /// # Errors
    /// A dimension or a coordinate that the view does not have.
    pub fn slice(self, dim: usize, at: i64) -> Result<BufferMut<'a, T>, BufferError> {
        self.any.slice(dim, at)?.typed()
    }
    /// The element at a point; `None` outside.
    pub fn get<C: Coordinate>(&self, at: impl AsRef<[C]>) -> Option<T> {
        let index = self.any.shape.index(at.as_ref())?;
        Some(self.any.storage.elements::<T>()[index])
    }
    /// A reference to the element at a point; `None` outside.
    pub fn get_mut<C: Coordinate>(&mut self, at: impl AsRef<[C]>) -> Option<&mut T> {
        let index = self.any.shape.index(at.as_ref())?;
        Some(&mut self.any.storage.elements_mut::<T>()[index])
    }
    /// Writes an element.
    ///
    /// # Errors
    /// A point outside.
    pub fn set<C: Coordinate>(&mut self, at: impl AsRef<[C]>, value: T) -> Result<(), BufferError> {
        let index = self.any.shape.checked_index(at.as_ref())?;
        self.any.storage.elements_mut::<T>()[index] = value;
        Ok(())
    }
    /// Writes `f` of its coordinates to every element, first dimension fastest.
    pub fn fill_with(&mut self, mut f: impl FnMut(&[i32]) -> T) {
        let elements = self.any.storage.elements_mut::<T>();
        self.any.shape.walk(|at, index| elements[index] = f(at));
    }
    /// The elements as one slice, first dimension innermost, when they lie so in memory without gaps.
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        if !self.any.shape.is_dense() {
            return None;
        }
        let (start, len) = (self.any.shape.offset as usize, self.any.shape.region().points()? as usize);
        Some(if len == 0 { &mut [] } else { &mut self.any.storage.elements_mut::<T>()[start..start + len] })
    }
}

//! Buffers in memory of somebody else: of callers of code that was linked ahead of time, which are not in Rust.

#![allow(unsafe_code)]

use super::any::AnyBuffer;
use super::error::BufferError;
use super::raw::Storage;
use super::region::Region;
use super::shape::{Dim, Shape};
use crate::types::ScalarType;
use std::sync::Arc;

impl AnyBuffer {
    /// A buffer in memory of somebody else, which frees it: with these dimensions, strides too, and the element at the
    /// min coordinates at `data`.
    ///
    /// # Errors
    /// A negative extent, coordinates outside i32, strides below 1, or with which two elements would be at one place.
    ///
    /// # Safety
    /// The memory from the first element to the last is initialised, aligned for the type, and stays for as long as the
    /// buffer and its clones and views do. Meanwhile nobody else writes it, and if a mutable view of the buffer is
    /// made, nobody else reads it. Bytes of `Bool` are 0 or 1. `data` may be anything if there are no elements, and is
    /// not null if there are.
    pub unsafe fn borrowed(ty: ScalarType, dims: &[Dim], data: *mut u8) -> Result<AnyBuffer, BufferError> {
        let region: Region = dims.iter().map(|d| d.span()).collect();
        let strides: Vec<i64> = dims.iter().map(|d| d.stride).collect();
        let shape = Shape::strided(&region, &strides)?;
        let size = shape.spread_bytes(ty)?;
        // SAFETY: the caller says so of all `size` bytes, which are those from the first element to the last.
        let storage = unsafe { Storage::borrowed(data, size) };
        Ok(AnyBuffer { ty, storage: Arc::new(storage), shape })
    }
}

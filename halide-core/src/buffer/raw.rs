//! The memory of buffers: the only unsafe code of this crate, and the raw view that compiled code works on.
//!
//! Storage is allocated zeroed and is always initialised. It is written through `&mut Storage` (which a buffer gets
//! only while nobody shares it) or through a [`RawBuffer`] made from a mutable view, whose user promises the same.

#![allow(unsafe_code)]

use super::error::BufferError;
use super::shape::Dim;
use crate::tuning::LARGE_PAGES_FROM;
use crate::types::ScalarType;
use crate::value::Element;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// The alignment of every buffer in bytes: a cache line, and the widest vector.
pub const ALIGNMENT: usize = 64;

/// Asks the system to back memory of a few megabytes and more by large pages. Code that walks down an image is at
/// another 4 KiB page with every line, and would wait for addresses to be looked up more than for the pixels.
///
/// To be called before the memory is touched. Advice only: nothing else changes, whatever the arguments are.
pub fn prefer_large_pages(data: NonNull<u8>, bytes: usize) {
    // Miri does not know the call.
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes >= LARGE_PAGES_FROM {
        const PAGE: usize = 4096;
        let skipped = data.addr().get().next_multiple_of(PAGE) - data.addr().get();
        let whole = (bytes - skipped) / PAGE * PAGE;
        // SAFETY: this advice changes neither the contents nor the protection of memory, and is refused for addresses
        // that are not mapped.
        unsafe { libc::madvise(data.as_ptr().wrapping_add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(any(not(target_os = "linux"), miri))]
    let _ = (data, bytes);
}

/// Something that others keep with the memory of a buffer for as long as nobody may have written it, such as a copy of
/// it on a device.
type Companion = Arc<dyn Any + Send + Sync>;

/// A zeroed, aligned allocation.
pub(crate) struct Storage {
    data: NonNull<u8>,
    /// The number of bytes from `data` on.
    size: usize,
    /// The whole allocation, in which `data` is the first address that is a multiple of [`ALIGNMENT`]; `None` of memory
    /// that somebody else frees.
    allocated: Option<(NonNull<u8>, Layout)>,
    /// One of each type.
    companions: Mutex<Vec<Companion>>,
}

// SAFETY: a `Storage` owns its memory, which shared references only read: it is written through an exclusive reference
// or a raw view derived from one. What is kept with it is behind a lock and `Send + Sync` itself.
unsafe impl Send for Storage {}
// SAFETY: as above; concurrent reads of initialised memory are sound.
unsafe impl Sync for Storage {}

impl Storage {
    /// Zeroed memory of at least `bytes`, rounded up to whole cache lines.
    pub(crate) fn zeroed(bytes: usize) -> Result<Storage, BufferError> {
        let (size, layout) = Storage::layout(bytes, 0, ALIGNMENT)?;
        let failed = BufferError::OutOfMemory { bytes };
        let data = if size < LARGE_PAGES_FROM {
            // SAFETY: the size of `layout` is at least ALIGNMENT, so not zero.
            NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(failed)?
        } else {
            // SAFETY: as above.
            let data = NonNull::new(unsafe { alloc(layout) }).ok_or(failed)?;
            prefer_large_pages(data, size);
            // SAFETY: `size` bytes were just allocated there.
            unsafe { data.write_bytes(0, size) };
            data
        };
        Ok(Storage { data, size, allocated: Some((data, layout)), companions: Mutex::default() })
    }
    /// The same, of memory that the system zeroes when it is touched, where it does so. It does not where more than
    /// the alignment of any type is asked for, so the first cache line is found here.
    pub(crate) fn untouched(bytes: usize) -> Result<Storage, BufferError> {
        let (size, layout) = Storage::layout(bytes, ALIGNMENT, align_of::<u128>())?;
        // SAFETY: the size of `layout` is at least ALIGNMENT, so not zero.
        let allocated = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(BufferError::OutOfMemory { bytes })?;
        let before = allocated.addr().get().next_multiple_of(ALIGNMENT) - allocated.addr().get();
        // SAFETY: `before` is less than ALIGNMENT, by which the allocation is larger than `size`.
        let data = unsafe { allocated.add(before) };
        Ok(Storage { data, size, allocated: Some((allocated, layout)), companions: Mutex::default() })
    }
    /// Memory of somebody else, which frees it; no elements if `data` is null.
    ///
    /// # Safety
    /// As of [`AnyBuffer::borrowed`](super::AnyBuffer::borrowed).
    pub(super) unsafe fn borrowed(data: *mut u8, size: usize) -> Storage {
        let data = NonNull::new(data).filter(|_| size > 0);
        let size = if data.is_some() { size } else { 0 };
        let data = data.unwrap_or(NonNull::<[u64; 8]>::dangling().cast());
        Storage { data, size, allocated: None, companions: Mutex::default() }
    }
    /// The whole cache lines that hold `bytes`, and the layout of an allocation that is larger by `more`.
    fn layout(bytes: usize, more: usize, align: usize) -> Result<(usize, Layout), BufferError> {
        let size = bytes.max(1).checked_next_multiple_of(ALIGNMENT);
        let layout = |size: usize| Some((size, Layout::from_size_align(size.checked_add(more)?, align).ok()?));
        size.and_then(layout).ok_or(BufferError::OutOfMemory { bytes })
    }
    /// The memory as elements. The caller (the buffer) asks only for the type it was made with.
    pub(crate) fn elements<T: Element>(&self) -> &[T] {
        let count = self.size / size_of::<T>();
        // SAFETY: the memory is initialised, aligned for `T`, lives as long as `self`, is not written while `self` is
        // shared, and every bit pattern is a `T`; for `bool` the memory holds only 0 and 1, because it starts zeroed,
        // has always had this type, and raw writers promise so.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr().cast::<T>(), count) }
    }
    /// The memory as elements, for writing.
    pub(crate) fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        let count = self.size / size_of::<T>();
        // SAFETY: as for `elements`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr().cast::<T>(), count) }
    }
    /// The memory as bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is initialised, lives as long as `self`, and is not written while `self` is shared.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.size) }
    }
    /// Copies bytes to the start of the memory: elements of the type that it was made with.
    pub(crate) fn fill_bytes(&mut self, ty: ScalarType, bytes: &[u8]) {
        let count = bytes.len().min(self.size);
        // SAFETY: the memory is initialised, lives as long as `self`, and is borrowed exclusively; every bit pattern is
        // an element, but for `bool`, for which only 0 and 1 are put there.
        let to = unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), count) };
        match ty {
            ScalarType::Bool => to.iter_mut().zip(bytes).for_each(|(to, b)| *to = u8::from(*b != 0)),
            _ => to.copy_from_slice(&bytes[..count]),
        }
    }
    /// The memory as bytes, for writing. The caller does so for types whose bytes may be any.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.size) }
    }
    /// The companion of a type that is kept with the memory.
    pub(crate) fn companion<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let companions = self.companions.lock().unwrap_or_else(PoisonError::into_inner);
        companions.iter().find_map(|companion| companion.clone().downcast().ok())
    }
    /// Keeps a companion, unless there is one of its type; returns the one that is kept.
    pub(crate) fn companion_or<T: Any + Send + Sync>(&self, new: impl FnOnce() -> T) -> Arc<T> {
        let mut companions = self.companions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = companions.iter().find_map(|companion| companion.clone().downcast().ok());
        known.unwrap_or_else(|| {
            let new = Arc::new(new());
            companions.push(new.clone());
            new
        })
    }
    /// Forgets what is kept with the memory, because whoever borrows it exclusively may write it.
    pub(crate) fn drop_companions(&mut self) {
        self.companions.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
    /// The raw view of the elements of `dims` whose first is element `offset`.
    pub(crate) fn raw(&self, ty: ScalarType, offset: i64, dims: &[Dim]) -> RawBuffer {
        let data = self.data.as_ptr().wrapping_offset((offset * ty.bytes() as i64) as isize);
        RawBuffer { data, ty, dims: dims.to_vec() }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some((allocated, layout)) = self.allocated {
            // SAFETY: it was allocated with this layout and is freed once.
            unsafe { dealloc(allocated.as_ptr(), layout) }
        }
    }
}

/// The memory that a buffer shares with its clones and views, and where in it this buffer's own elements are.
#[derive(Clone)]
pub struct Memory<'a> {
    /// All of the memory: it starts at an address that is a multiple of [`ALIGNMENT`], and so does its end, unless it
    /// is [borrowed](super::AnyBuffer::borrowed).
    pub bytes: &'a [u8],
    /// The bytes from the lowest element of this buffer to the end of its highest; empty if it has none.
    pub used: Range<usize>,
    /// The first byte of the element at the min coordinates; strides count from here. Not to be read if an extent is 0.
    pub first: usize,
}

impl fmt::Debug for Memory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} bytes, first {}", self.used, self.bytes.len(), self.first)
    }
}

/// The address, element type and dimensions of a buffer, for compiled code.
///
/// Dereferencing `data` is unsafe, and whoever does so promises: the buffer that the view was made from is alive;
/// accesses stay within `dims`; writes happen only through a view made by `raw_mut` while its borrow lasts, and put
/// only 0 and 1 into `Bool` elements.
#[derive(Clone, Debug)]
pub struct RawBuffer {
    /// The element at the min coordinates. Not to be read when an extent is 0.
    pub data: *mut u8,
    /// The element type.
    pub ty: ScalarType,
    /// Mins, extents and strides in elements.
    pub dims: Vec<Dim>,
}

// SAFETY: a `RawBuffer` is an address and numbers; using the address is unsafe and carries the promises above.
unsafe impl Send for RawBuffer {}
// SAFETY: as above.
unsafe impl Sync for RawBuffer {}

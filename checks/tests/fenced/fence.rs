//! An allocator that puts memory of images and of stages between pages that fault when touched.
//!
//! Such memory is what is aligned to cache lines. Of a piece whose size is no multiple of these, up to a line less one
//! byte behind it is not guarded. Small allocations of stages share blocks of the runtime, which are guarded as wholes,
//! but for feature `apart-allocations`.

#![allow(unsafe_code)]

use halide_core::buffer::ALIGNMENT;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    fn mmap(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: c_long) -> *mut c_void;
    fn mprotect(at: *mut c_void, len: usize, prot: c_int) -> c_int;
    fn munmap(at: *mut c_void, len: usize) -> c_int;
}

/// A multiple of every page size in use.
pub(crate) const PAGE: usize = 65536;

/// The allocator.
pub(crate) struct Fence {
    /// True if pieces begin at the start of a page; otherwise they end at the end of one.
    at_start: AtomicBool,
}

impl Fence {
    pub(crate) const fn new() -> Fence {
        Fence { at_start: AtomicBool::new(false) }
    }

    /// Chooses the end of pieces that is guarded exactly, from now on.
    pub(crate) fn guard_start(&self, start: bool) {
        self.at_start.store(start, Ordering::Relaxed);
    }
}

/// The bytes of whole pages, and of whole cache lines, that a piece takes.
fn room(layout: Layout) -> Option<(usize, usize)> {
    Some((layout.size().checked_next_multiple_of(PAGE)?, layout.size().checked_next_multiple_of(layout.align())?))
}

fn is_fenced(layout: Layout) -> bool {
    layout.align() >= ALIGNMENT && layout.align() <= PAGE
}

// SAFETY: pieces are fresh anonymous memory of their own, aligned by construction, and unmapped once by `dealloc`,
// which finds where the mapping begins from the address and the layout; all others are the system's.
unsafe impl GlobalAlloc for Fence {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_fenced(layout) {
            // SAFETY: as the caller promises.
            return unsafe { System.alloc(layout) };
        }
        let Some((pages, bytes)) = room(layout) else { return std::ptr::null_mut() };
        let Some(all) = pages.checked_add(3 * PAGE) else { return std::ptr::null_mut() };
        // SAFETY: asks for fresh private anonymous memory without access rights.
        let whole = unsafe { mmap(std::ptr::null_mut(), all, 0, 0x22, -1, 0) } as *mut u8;
        if whole as isize == -1 {
            return std::ptr::null_mut();
        }
        // Mappings begin at multiples of the machine's pages, which may be smaller.
        let before = (whole as usize).next_multiple_of(PAGE) - whole as usize;
        let first = whole.wrapping_add(before + PAGE);
        // SAFETY: parts of what was just mapped, in front of the first page that is used and behind the last guard.
        let made = unsafe {
            (before == 0 || munmap(whole.cast(), before) == 0)
                && munmap(first.wrapping_add(pages + PAGE).cast(), PAGE - before) == 0
                && mprotect(first.cast(), pages, 3) == 0
        };
        if !made {
            return std::ptr::null_mut();
        }
        let at_start = self.at_start.load(Ordering::Relaxed);
        if at_start { first } else { first.wrapping_add(pages - bytes) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match room(layout).filter(|_| is_fenced(layout)) {
            Some((pages, _)) => {
                let first = at.wrapping_sub(at as usize % PAGE);
                // SAFETY: what `alloc` mapped and did not give back: the pages of the piece and a guard on both sides.
                unsafe { munmap(first.wrapping_sub(PAGE).cast(), pages + 2 * PAGE) };
            }
            // SAFETY: as the caller promises.
            None => unsafe { System.dealloc(at, layout) },
        }
    }
}

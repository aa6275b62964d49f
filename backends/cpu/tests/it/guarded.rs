//! Memory between two pages that fault when touched.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_long, c_void};

unsafe extern "C" {
    fn mmap(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: c_long) -> *mut c_void;
    fn mprotect(at: *mut c_void, len: usize, prot: c_int) -> c_int;
    fn munmap(at: *mut c_void, len: usize) -> c_int;
}

/// A multiple of every page size in use.
const SIZE: usize = 65536;

/// Readable and writable memory; what is before and behind it faults.
pub(crate) struct Guarded(*mut u8);

impl Guarded {
    pub(crate) fn new() -> Guarded {
        // SAFETY: asks for fresh private anonymous memory without access rights.
        let whole = unsafe { mmap(std::ptr::null_mut(), 3 * SIZE, 0, 0x22, -1, 0) } as *mut u8;
        assert!(whole as isize != -1);
        // SAFETY: the middle third of what was just mapped.
        assert_eq!(unsafe { mprotect(whole.wrapping_add(SIZE).cast(), SIZE, 3) }, 0);
        Guarded(whole)
    }
    /// The first bytes.
    pub(crate) fn start(&self) -> *mut u8 {
        self.0.wrapping_add(SIZE)
    }
    /// The last `bytes` bytes.
    pub(crate) fn end(&self, bytes: usize) -> *mut u8 {
        self.0.wrapping_add(2 * SIZE - bytes)
    }
    /// Writes bytes at an address that `start` or `end` gave.
    pub(crate) fn fill(&self, at: *mut u8, bytes: &[u8]) {
        self.check(at, bytes.len());
        // SAFETY: inside the accessible memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) }
    }
    /// Reads bytes at an address that `start` or `end` gave.
    pub(crate) fn read(&self, at: *mut u8, bytes: usize) -> Vec<u8> {
        self.check(at, bytes);
        // SAFETY: inside the accessible memory, which was mapped as zeros.
        unsafe { std::slice::from_raw_parts(at, bytes) }.to_vec()
    }
    fn check(&self, at: *mut u8, bytes: usize) {
        assert!(at >= self.start() && at as usize + bytes <= self.end(0) as usize);
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size, unmapped once.
        unsafe { munmap(self.0.cast(), 3 * SIZE) };
    }
}

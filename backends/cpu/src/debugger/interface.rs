//! The interface by which a process tells debuggers of code that it made: a list of object files in memory, and a
//! function that does nothing, at which debuggers stop the process to read the list.
//!
//! The list is one for the process, and names and layouts are given: it is the one global beside the arena of
//! expressions. A program may have only one such list, so this is behind a feature.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::fmt;
use std::hint::black_box;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// An entry of the list, as debuggers read it.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    object: *const u8,
    size: u64,
}

/// The list, as debuggers read it.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

/// Actions of a debugger on the relevant entry.
const NOTHING: u32 = 0;
const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

#[repr(transparent)]
struct List(UnsafeCell<Descriptor>);

// SAFETY: it is changed under `LOCK` only, and read by debuggers while the process stands still.
unsafe impl Sync for List {}

/// The list that debuggers look for by its name.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static __jit_debug_descriptor: List = List(UnsafeCell::new(Descriptor {
    version: 1,
    action: NOTHING,
    relevant: ptr::null_mut(),
    first: ptr::null_mut(),
}));

static LOCK: Mutex<()> = Mutex::new(());

/// The function at which debuggers stop.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // Otherwise a call of a function without effects is no call.
    black_box(&__jit_debug_descriptor);
}

/// Code that debuggers know as long as this lives.
pub struct Registered {
    entry: *mut Entry,
    _object: Box<[u8]>,
}

// SAFETY: the entry is looked at under `LOCK` only, by whatever thread, and the object never changes.
unsafe impl Send for Registered {}
// SAFETY: as above; a shared reference gives access to nothing.
unsafe impl Sync for Registered {}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registered({} bytes)", self._object.len())
    }
}

impl Registered {
    /// Tells debuggers of an object file.
    pub(super) fn new(object: Vec<u8>) -> Registered {
        let object = object.into_boxed_slice();
        let entry = Entry {
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
            object: object.as_ptr(),
            size: object.len() as u64,
        };
        let entry = Box::into_raw(Box::new(entry));
        let _locked = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock is held, so nobody else has a reference to the list or an entry; entries of the list live,
        // since they leave it before they are freed.
        unsafe {
            let list = &mut *__jit_debug_descriptor.0.get();
            (*entry).next = list.first;
            if let Some(next) = list.first.as_mut() {
                next.previous = entry;
            }
            list.first = entry;
            list.relevant = entry;
            list.action = REGISTER;
        }
        __jit_debug_register_code();
        Registered { entry, _object: object }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let _locked = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `new`; this entry is in the list, since only this takes it out.
        unsafe {
            let list = &mut *__jit_debug_descriptor.0.get();
            let (next, previous) = ((*self.entry).next, (*self.entry).previous);
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => list.first = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            list.relevant = self.entry;
            list.action = UNREGISTER;
        }
        __jit_debug_register_code();
        // SAFETY: as in `new`. The entry was made by `Box::into_raw`, and is in no list any more; debuggers have read
        // it.
        unsafe {
            let list = &mut *__jit_debug_descriptor.0.get();
            (list.action, list.relevant) = (NOTHING, ptr::null_mut());
            drop(Box::from_raw(self.entry));
        }
    }
}

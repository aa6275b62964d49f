//! Code that a linker made part of the program: the place where runs enter it.

use super::run::Worker;
use std::ffi::c_void;

/// The type of the first function of a variant, which takes a worker.
pub type EntryFn = unsafe extern "C" fn(*mut c_void) -> i64;

/// The entry of code that was compiled into an object ([`crate::object`]).
#[derive(Clone, Copy, Debug)]
pub struct LinkedEntry(EntryFn);

impl LinkedEntry {
    /// The entry of code at this address.
    ///
    /// # Safety
    /// The code is the first function of a variant of an object of this version of the crate, stays there, and is run
    /// with the tables of that variant only.
    pub unsafe fn new(code: EntryFn) -> LinkedEntry {
        LinkedEntry(code)
    }
    /// Runs the code with `worker`. Returns 0, or 1 after a fault that the worker's run has recorded.
    pub(crate) fn enter(self, worker: &mut Worker<'_>) -> i64 {
        let worker: *mut Worker<'_> = worker;
        // SAFETY: whoever made the entry says that this is an entry, which takes a worker that nobody else uses
        // meanwhile; that the arguments of its run fit its program, `Executable::run` has checked.
        unsafe { (self.0)(worker.cast()) }
    }
}

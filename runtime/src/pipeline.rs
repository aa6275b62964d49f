//! The symbol of a pipeline in an object: finds its tables and its code.

#![allow(unsafe_code)]

use crate::error::CallError;
use crate::loaded::{Loaded, RunOptions};
use halide_core::buffer::AnyBufferMut;
use halide_core::interp::Inputs;
use halide_cpu::object::{Descriptor, LinkedEntry};
use std::fmt;
use std::sync::atomic::Ordering;

/// A pipeline that was compiled into an object: the type of the symbol `NAME_pipeline`. It cannot be made otherwise.
#[repr(transparent)]
pub struct Pipeline(Descriptor);

// SAFETY: the pointers lead to constants of the object; what is loaded is `Sync`, and set once.
unsafe impl Sync for Pipeline {}

impl Pipeline {
    /// Runs the pipeline: computes the outputs for all coordinates of the views, in place, one view per tuple element
    /// of each output.
    ///
    /// # Errors
    /// An input is missing, unknown, of another type or too small; views of another number, type or shape than the
    /// outputs; a rule or a promise that does not hold; a lack of memory; a machine without instructions that the code
    /// uses, or an object of another version.
    pub fn run(
        &self,
        inputs: &Inputs,
        outputs: &mut [AnyBufferMut<'_>],
        options: &RunOptions,
    ) -> Result<(), CallError> {
        self.loaded()?.run(inputs, outputs, options)
    }

    /// Frees the memory that is kept from runs for the next one.
    pub fn free_memory(&self) {
        let loaded = self.0.loaded.load(Ordering::Acquire).cast::<Loaded>();
        // SAFETY: it is null, or was set by `loaded`, and is never freed.
        if let Some(loaded) = unsafe { loaded.as_ref() } {
            loaded.free_memory();
        }
    }

    /// The tables and the code, which are read once and kept for as long as the process lives.
    pub(crate) fn loaded(&self) -> Result<&Loaded, CallError> {
        let known = self.0.loaded.load(Ordering::Acquire).cast::<Loaded>();
        // SAFETY: it is null, or was set below, and is never freed.
        if let Some(known) = unsafe { known.as_ref() } {
            return Ok(known);
        }
        // SAFETY: the linker put the addresses of the object's constants there: so many bytes of tables.
        let tables = unsafe { std::slice::from_raw_parts(self.0.tables, self.0.bytes) };
        // SAFETY: the same of the addresses of so many functions.
        let code = unsafe { std::slice::from_raw_parts(self.0.code, self.0.variants) };
        // SAFETY: each is the first function of its variant, in the order of the tables, by which alone it is run. The
        // object is of this version, or `Loaded::new` says that it is not.
        let code: Vec<LinkedEntry> = code.iter().map(|code| unsafe { LinkedEntry::new(*code) }).collect();
        let made = Box::into_raw(Box::new(Loaded::new(tables, &code)?));
        let null = std::ptr::null_mut();
        match self.0.loaded.compare_exchange(null, made.cast(), Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it was just made, and is never freed.
            Ok(_) => Ok(unsafe { &*made }),
            Err(first) => {
                // SAFETY: made above, and nobody else knows it.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: another thread has made it, and it is never freed.
                Ok(unsafe { &*first.cast::<Loaded>() })
            }
        }
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pipeline with {} variants", self.0.variants)
    }
}

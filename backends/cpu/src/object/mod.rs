//! Code that is compiled ahead of time: objects that a linker makes part of a program without a compiler in it.
//!
//! An object has the machine code of one or more variants of a pipeline, and *tables*: all that runs ask for beside
//! code, as bytes. A symbol `NAME_pipeline` stands for both, as a [`Descriptor`]. `file` writes the object; the crate
//! `halide-runtime` finds the tables through the descriptor, checks calls against them and runs the code.
//!
//! A run begins with the first variant. Where it ends with a fault that another variant is without, `next` of its
//! tables says which one serves the call.

#[cfg(feature = "compile")]
mod file;
mod interface;
mod tables;

pub use crate::runtime::{EntryFn, LinkedEntry};
#[cfg(feature = "compile")]
pub use file::object_file;
pub use tables::{Descriptor, ObjectTables, TablesError, VariantTables};

/// The declarations of the runtime, in C.
pub const RUNTIME_HEADER: &str = include_str!("halide_runtime.h");

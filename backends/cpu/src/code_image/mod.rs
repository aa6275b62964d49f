//! Machine code before it is linked: functions, and the places in them that hold addresses of others.
//!
//! An image has no addresses of its own process, so it may be kept in a file ([`bytes`]) and linked by another process
//! of the same build.

mod bytes;

use crate::options::{CodeNotes, CompileStats};

/// The machine code of a program, to be linked with the runtime by [`CodeImage::link`](CodeImage::link).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeImage {
    /// Runs start with the first one.
    pub(crate) functions: Vec<ImageFunction>,
    /// The cost of making the code; of an image that was read, without the times.
    pub(crate) stats: CompileStats,
    pub(crate) notes: CodeNotes,
}

/// The machine code of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageFunction {
    /// A power of two.
    pub(crate) align: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) addresses: Vec<ImageAddress>,
}

/// A place of eight bytes that holds an address once code is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageAddress {
    /// The first of its bytes in the function.
    pub(crate) offset: u32,
    pub(crate) of: Callee,
    pub(crate) addend: i64,
}

/// A function that machine code calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function of the image, by its position.
    Image(u32),
    /// A function of the runtime, by its position among them.
    Runtime(u32),
    /// A function of the system that Cranelift calls by this name.
    System(String),
}

impl CodeImage {
    /// Returns the number of functions.
    pub fn functions(&self) -> usize {
        self.functions.len()
    }
    /// Returns the bytes of stack that the code needs.
    pub fn stack(&self) -> u64 {
        self.stats.stack
    }
}

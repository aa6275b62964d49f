//! Code for a GPU, as `lower/gpu/offload` makes it of loops over blocks.

use super::expr::Type;
use super::lanes::Held;
use super::stmt::Stmt;
use super::sym::{BufId, LoopId, Sym};
use halide_core::ids::ParamId;

/// The code that every thread of every block of a grid runs.
///
/// The body is *block code*: each of its statements is reached by all threads of the block together. Loops of kind
/// `GpuThreads` are its *phases*: up to three nested directly in each other, the innermost first dimension of the block
/// first; the thread at position `t` of a dimension runs iteration `min + t` if `t < extent`, and otherwise waits
/// behind the loop. All phases of a kernel have the same number of loops; one that needs fewer has outer ones with one
/// iteration. Stores and loops without phases in them stand in phases only; between phases that touch the same memory
/// stands a `Barrier`. An `Alloc` in block code is shared by the threads of a block (a row of `shared`), or held by the
/// lanes of each row (a row of `lanes`, which no barrier is needed for: a phase that loads an element that another lane
/// holds stands behind the one that stores it). One inside a phase belongs to one thread and has a constant size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// For messages and printing, unique: the Func that it computes, and a number where there are several: `blur_y`,
    /// `blur_y.1`.
    pub name: String,
    /// The loops over blocks, innermost first, at most 3: `Sym::Loop` of each counts blocks from 0.
    pub blocks: Vec<LoopId>,
    /// Threads of a block per dimension, innermost first; at least 1 each.
    pub threads: [u32; 3],
    /// Scalar symbols that the host gives: everything bound outside of the kernel that it uses, properties of inputs
    /// and outputs among them.
    pub captures: Vec<(Sym, Type)>,
    /// Parameters that it uses.
    pub params: Vec<ParamId>,
    /// Buffers from outside that it uses.
    pub buffers: Vec<KernelBuffer>,
    /// The places of its block code's allocations in the memory that the threads of a block share.
    pub shared: Vec<Shared>,
    /// The size of that memory in words of 32 bits.
    pub shared_words: u32,
    /// Values that the threads of a row, those that differ in their first position only, hold for each other if they
    /// are lanes of a subgroup. Their number, `threads[0]`, is a power of two.
    pub lanes: Option<Vec<Held>>,
    /// The block code.
    pub body: Stmt,
}

/// A buffer from outside that a kernel uses, with the kinds of its accesses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KernelBuffer {
    /// The buffer.
    pub buf: BufId,
    /// True if the kernel loads from it.
    pub reads: bool,
    /// The way in which the kernel stores to it.
    pub writes: Writes,
    /// Strides of the caller's, in elements, that `Writes::Words` takes to be multiples of a word. Where one is not,
    /// the kernel stores pieces.
    pub word_strides: Vec<Sym>,
}

/// The ways in which a kernel stores to a buffer of elements that may be smaller than a word of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Writes {
    /// Not at all.
    None,
    /// Whole words only, at addresses that are multiples of a word if the buffer's first element is at one.
    Words,
    /// Parts of words too, while other threads may write other parts of the same words; or words that atomic steps
    /// change.
    Pieces,
}

/// A place in the memory that the threads of a block share. Elements of 8 and 16 bits take a word each there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shared {
    /// The allocation.
    pub buf: BufId,
    /// Its first word. Allocations that are never alive at the same time may overlap.
    pub first_word: u32,
    /// The number of words that it takes.
    pub words: u32,
}

//! The layout of a kernel's bindings.
//!
//! All are in bind group 0. Binding 0 is the *scalars*, a read-only `array<u32>`; binding `1 + i` is buffer `i` of the
//! kernel, an `array<u32>` whatever its elements are, with the bytes that the host has. The words of the scalars are
//!
//! - word 0: zero. The compiler of the driver does not know that, so what is combined with it is opaque to it;
//! - words 1 to 3: the number of the first block of the dispatch in each dimension, see [`parts`];
//! - then a word for each buffer: how many elements into its binding the element at the smallest coordinates is. That
//!   element stands at a multiple of 4 bytes;
//! - then each capture and each parameter: a word, or two (the lower first) for data of 64 bits.

use super::options::Options;
use super::state::{Emitted, Stop};
use halide_core::types::ScalarType;
use halide_ir::{BufId, Elem, Kernel, KernelBuffer, Program, Sym, Writes};

/// The word of zero bits.
pub(super) const ZERO: u32 = 0;
/// The words of the first block.
pub(super) const FIRST_BLOCK: u32 = 1;
/// Index of the first of the words that hold the offsets of buffers.
const BUFFERS: u32 = 4;

/// The layout of a kernel's bindings and of its scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The buffers, from binding 1 on.
    pub bindings: Vec<Binding>,
    /// The size of binding 0.
    pub words: u32,
    /// Number of words of each capture and then each parameter.
    scalars: Vec<u32>,
    /// Captures that must be multiples of numbers.
    multiples: Vec<(usize, u32)>,
}

/// A buffer as a kernel sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The buffer.
    pub buf: BufId,
    /// Its elements.
    pub elem: ScalarType,
    /// True if the shader writes the buffer, which the binding must allow.
    pub written: bool,
    /// True if the shader accesses the buffer by atomic operations.
    pub atomic: bool,
}

/// A part of a grid that is dispatched at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of its first block in each dimension.
    pub first: [u32; 3],
    /// The number of its blocks in each dimension, at least 1 each.
    pub count: [u32; 3],
}

/// The parts of a grid, none of which has more than `most` blocks in a dimension. A grid of no blocks has no parts, and
/// missing dimensions have one block. Extents are within i32, which [`super::range::fits`] has checked.
pub fn parts(grid: &[i64], most: u32) -> impl Iterator<Item = Part> {
    let most = most.max(1);
    let extent = |d: usize| grid.get(d).map_or(1, |&n| u32::try_from(n.max(0)).unwrap_or(u32::MAX));
    let pieces = move |n: u32| (0..n).step_by(most as usize).map(move |first| (first, most.min(n - first)));
    let (x, y, z) = (extent(0), extent(1), extent(2));
    pieces(z)
        .flat_map(move |z| pieces(y).flat_map(move |y| pieces(x).map(move |x| [x, y, z])))
        .map(|piece| Part { first: piece.map(|(first, _)| first), count: piece.map(|(_, count)| count) })
}

impl Layout {
    pub(super) fn new(program: &Program, kernel: &Kernel, options: Options) -> Emitted<Layout> {
        let mut bindings = Vec::new();
        for b in &kernel.buffers {
            let Some(info) = program.buffers.get(b.buf) else {
                return Err(Stop::Malformed(format!("{:?} is not in the table", b.buf)));
            };
            let writes = writes(b, options);
            let (written, atomic) = (writes != Writes::None, writes == Writes::Pieces);
            bindings.push(Binding { buf: b.buf, elem: info.elem, written, atomic });
        }
        let mut scalars: Vec<u32> = kernel.captures.iter().map(|(_, ty)| words(ty.elem)).collect();
        for &id in &kernel.params {
            let Some((_, ty)) = program.params.get(id) else {
                return Err(Stop::Malformed(format!("{id:?} is not a parameter")));
            };
            scalars.push(words(Elem::Data(*ty)));
        }
        let words = BUFFERS + bindings.len() as u32 + scalars.iter().sum::<u32>();
        let mut multiples = Vec::new();
        for (stride, multiple) in word_strides(program, kernel, options) {
            let Some(i) = kernel.captures.iter().position(|(s, _)| *s == stride) else {
                return Err(Stop::Malformed(format!("{stride:?} is a stride of its and not captured")));
            };
            multiples.push((i, multiple));
        }
        Ok(Layout { bindings, words, scalars, multiples })
    }

    /// The word of the offset of buffer `i`.
    pub(super) fn offset_word(&self, i: usize) -> u32 {
        BUFFERS + i as u32
    }
    /// The first word of scalar `i`: a capture, or behind the captures a parameter.
    pub(super) fn scalar_word(&self, i: usize) -> u32 {
        BUFFERS + self.bindings.len() as u32 + self.scalars[..i].iter().sum::<u32>()
    }

    /// Returns true if the code is right for these scalars: the strides that it takes to be multiples of a word are
    /// such multiples. Code of [`Options::pieces`] serves all.
    pub fn serves(&self, scalars: &[u64]) -> bool {
        self.multiples.iter().all(|&(i, multiple)| scalars.get(i).is_none_or(|v| v.is_multiple_of(multiple.into())))
    }
    /// The contents of binding 0 for one part of a grid. `scalars` are the bits of the captures and then of the
    /// parameters, as [`Device::dispatch`](halide_ir::device::Device::dispatch) has them; `offsets` has an element
    /// for each buffer.
    pub fn pack(&self, scalars: &[u64], offsets: &[i64], part: Part) -> Vec<u32> {
        debug_assert!(scalars.len() == self.scalars.len() && offsets.len() == self.bindings.len());
        let mut packed = Vec::with_capacity(self.words as usize);
        packed.push(0);
        packed.extend(part.first);
        packed.extend(offsets.iter().map(|&o| o as u32));
        for (&bits, &words) in scalars.iter().zip(&self.scalars) {
            packed.push(bits as u32);
            if words == 2 {
                packed.push((bits >> 32) as u32);
            }
        }
        packed
    }
}

/// Returns the number of words that a scalar takes. An Index takes one: kernels compute coordinates in 32 bits.
fn words(elem: Elem) -> u32 {
    match elem {
        Elem::Data(ty) if ty.bits() == 64 => 2,
        Elem::Index | Elem::Data(_) => 1,
    }
}

/// Returns the way in which the code of these options stores to a buffer.
pub(super) fn writes(b: &KernelBuffer, options: Options) -> Writes {
    if options.pieces && !b.word_strides.is_empty() { Writes::Pieces } else { b.writes }
}

/// The strides of which the code of these options takes for granted that they are multiples of so many elements.
pub(super) fn word_strides(program: &Program, kernel: &Kernel, options: Options) -> Vec<(Sym, u32)> {
    let whole = |b: &&KernelBuffer| writes(b, options) == Writes::Words;
    let per_word = |b: &KernelBuffer| program.buffers.get(b.buf).map_or(1, |info| 4 / info.elem.bytes().min(4) as u32);
    kernel.buffers.iter().filter(whole).flat_map(|b| b.word_strides.iter().map(move |&s| (s, per_word(b)))).collect()
}

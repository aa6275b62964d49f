//! Sources of random programs: random numbers, and the symbols and buffers that expressions may name.

use halide_core::ids::ParamId;
use halide_core::types::ScalarType;
use halide_ir::{BufId, Sym, Type};

/// A stream of random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.bits() % n as u64) as usize }
    }
    /// A number from `min` to `max`.
    pub fn between(&mut self, min: i64, max: i64) -> i64 {
        min + self.below((max - min + 1) as usize) as i64
    }
    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// An item of a list that is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// The symbols, parameters and buffers that random expressions may use. Empty lists are fine.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Symbols with their types; only `Temp`s may be other than scalar Index.
    pub symbols: Vec<(Sym, Type)>,
    /// Scalar parameters.
    pub params: Vec<(ParamId, ScalarType)>,
    /// Buffers to read from.
    pub buffers: Vec<BufferWord>,
    /// True if buffers are read by a linear index rather than by coordinates.
    pub linear: bool,
}

/// A buffer that random expressions may read.
#[derive(Clone, Copy, Debug)]
pub struct BufferWord {
    /// The buffer.
    pub buf: BufId,
    /// Its element type.
    pub elem: ScalarType,
    /// The number of its dimensions.
    pub dims: usize,
    /// Coordinates and linear indices are clamped to 0 .. this.
    pub extent: i64,
}

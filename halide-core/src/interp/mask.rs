//! Sets of lanes.

use crate::tuning::BATCH_LANES;
use std::ops::Range;

/// A set of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mask([u64; BATCH_LANES / 64]);

impl Mask {
    pub(super) const NONE: Mask = Mask([0; BATCH_LANES / 64]);

    /// The lanes of a range.
    pub(super) fn range(lanes: Range<usize>) -> Mask {
        let below = |n: usize, word: usize| match n.saturating_sub(word * 64) {
            64.. => u64::MAX,
            bits => (1u64 << bits) - 1,
        };
        Mask(std::array::from_fn(|w| below(lanes.end, w) & !below(lanes.start, w)))
    }
    pub(super) fn contains(self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }
    pub(super) fn and(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|w| self.0[w] & other.0[w]))
    }
    pub(super) fn or(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|w| self.0[w] | other.0[w]))
    }
    pub(super) fn minus(self, other: Mask) -> Mask {
        Mask(std::array::from_fn(|w| self.0[w] & !other.0[w]))
    }
    pub(super) fn is_empty(self) -> bool {
        self == Mask::NONE
    }
    pub(super) fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }
    /// The lanes, ascending.
    pub(super) fn lanes(self) -> impl Iterator<Item = usize> {
        self.span().filter(move |lane| self.contains(*lane))
    }
    /// The range from the first to the last lane.
    pub(super) fn span(self) -> Range<usize> {
        let first = self.0.iter().position(|w| *w != 0);
        let last = self.0.iter().rposition(|w| *w != 0);
        match (first, last) {
            (Some(f), Some(l)) => {
                f * 64 + self.0[f].trailing_zeros() as usize..l * 64 + 64 - self.0[l].leading_zeros() as usize
            }
            _ => 0..0,
        }
    }
}

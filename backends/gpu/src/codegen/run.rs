//! Stores of consecutive small elements: put together to words first.

use super::builder::V;
use super::memo::Lanes;
use super::places::Place;
use super::state::{Emitted, Gen, Stop};
use halide_core::types::ScalarType;
use halide_ir::{BufId, Writes};
use naga::BinaryOperator::{InclusiveOr, NotEqual, ShiftLeft, ShiftRight, Subtract};
use naga::Literal;

/// Consecutive elements of less than a word.
pub(super) struct Run<'a> {
    pub(super) ty: ScalarType,
    /// The number of the first, from the start of its binding.
    pub(super) first: V,
    /// The position of the first element in its word, if that is known.
    pub(super) rest: Option<u32>,
    pub(super) values: &'a Lanes,
}

impl Run<'_> {
    fn bits(&self) -> u32 {
        8 * self.ty.bytes() as u32
    }
    /// Returns the number of elements in a word.
    fn per(&self) -> u32 {
        32 / self.bits()
    }
    fn lanes(&self) -> u32 {
        self.values.len() as u32
    }
}

impl Gen<'_> {
    /// Stores a run, but lanes whose mask is false.
    pub(super) fn store_run(&mut self, buf: BufId, place: &Place, run: &Run<'_>, mask: Option<&Lanes>) -> Emitted<()> {
        let common = for_all(mask);
        let mask = if common.is_some() { None } else { mask };
        if let Place::Buffer { writes: Writes::Words, .. } = place {
            let agrees = |m: &Lanes| m.chunks(run.per() as usize).all(|word| word.iter().all(|&on| on == word[0]));
            if !run.lanes().is_multiple_of(run.per()) || !mask.is_none_or(agrees) {
                return Err(Stop::Malformed(format!("a store to {buf:?} does not write whole words")));
            }
            self.guarded(common, |g| g.store_words(place, run, mask));
            return Ok(());
        }
        self.guarded(common, |g| {
            let rest = run.rest.unwrap_or(0);
            let (mut words, mut masks) = (g.packed(run, rest), g.packed_mask(run, rest, mask));
            // Words that certainly have an element of the run.
            let certain = if mask.is_none() { words.len() } else { 0 };
            if run.rest.is_none() {
                let full: Vec<bool> = masks.iter().map(|&m| g.is_full(m)).collect();
                (words, masks) = (g.moved(run, &words), g.moved(run, &masks));
                for i in (1..full.len()).filter(|&i| full[i - 1] && full[i]) {
                    masks[i] = g.code.u32(u32::MAX);
                }
            }
            g.store_masked(place, run, &words, &masks, certain);
        });
        Ok(())
    }
    fn is_full(&self, mask: V) -> bool {
        self.code.as_literal(mask) == Some(Literal::U32(u32::MAX))
    }
    /// The word of the first element.
    fn first_word(&mut self, run: &Run<'_>) -> V {
        self.code.shift_right(run.first, run.per().trailing_zeros())
    }
    /// Whole words, of which each has one condition.
    fn store_words(&mut self, place: &Place, run: &Run<'_>, mask: Option<&Lanes>) {
        let word = self.first_word(run);
        for (i, value) in (0..).zip(self.packed(run, 0)) {
            let on = mask.map(|m| m[(i * run.per()) as usize]);
            let at = self.code.plus(word, i.into());
            self.guarded(on, |g| g.store_word(place, at, value));
        }
    }
    /// Stores the bits of `words` that are set in `masks`, of which the first `certain` have some.
    fn store_masked(&mut self, place: &Place, run: &Run<'_>, words: &[V], masks: &[V], certain: usize) {
        let word = self.first_word(run);
        for (i, (&value, &mask)) in words.iter().zip(masks).enumerate() {
            let at = self.code.plus(word, i as i64);
            if self.is_full(mask) {
                self.store_word(place, at, value);
                continue;
            }
            // Beyond the last element there may be no word at all.
            let zero = self.code.u32(0);
            let any = if i < certain { None } else { Some(self.code.op(NotEqual, mask, zero)) };
            self.guarded(any, |g| g.change_bits(place, at, value, mask));
        }
    }

    /// The elements in words, of which the first begins with `rest` others.
    fn packed(&mut self, run: &Run<'_>, rest: u32) -> Vec<V> {
        let pieces: Vec<V> = run.values.iter().map(|&v| self.code.word_of_value(run.ty, v)).collect();
        self.joined(run, rest, &pieces)
    }
    /// The bits of the elements whose mask is true.
    fn packed_mask(&mut self, run: &Run<'_>, rest: u32, mask: Option<&Lanes>) -> Vec<V> {
        let element = (1 << run.bits()) - 1;
        let Some(mask) = mask else {
            let word = |i: u32| {
                let here = (0..run.per()).filter(|k| (rest..rest + run.lanes()).contains(&(i * run.per() + k)));
                here.map(|k| element << (k * run.bits())).sum()
            };
            let count = (rest + run.lanes()).div_ceil(run.per());
            return (0..count).map(|i| self.code.u32(word(i))).collect();
        };
        let (on, off) = (self.code.u32(element), self.code.u32(0));
        let pieces: Vec<V> = mask.iter().map(|&m| self.code.pick(m, on, off)).collect();
        self.joined(run, rest, &pieces)
    }
    /// Zero-extended pieces side by side.
    fn joined(&mut self, run: &Run<'_>, rest: u32, pieces: &[V]) -> Vec<V> {
        let mut words: Vec<V> = Vec::new();
        for (k, &piece) in (rest..).zip(pieces) {
            let moved = self.code.shift_left(piece, run.bits() * (k % run.per()));
            match words.pop() {
                Some(word) if k % run.per() != 0 => words.push(self.code.op(InclusiveOr, word, moved)),
                before => words.extend(before.into_iter().chain([moved])),
            }
        }
        words
    }
    /// Words moved up to where the first element stands in its word; there is one more of them.
    fn moved(&mut self, run: &Run<'_>, words: &[V]) -> Vec<V> {
        let (_, shift) = self.code.word_and_shift(run.ty.bytes() as u32, run.first);
        let most = self.code.u32(31);
        let back = self.code.op(Subtract, most, shift);
        (0..=words.len())
            .map(|i| {
                let low = words.get(i).map(|&w| self.code.op(ShiftLeft, w, shift));
                let high = i.checked_sub(1).map(|i| {
                    // By 32 - shift in two steps, since it may be 32.
                    let half = self.code.shift_right(words[i], 1);
                    self.code.op(ShiftRight, half, back)
                });
                match (low, high) {
                    (Some(low), Some(high)) => self.code.op(InclusiveOr, low, high),
                    (low, high) => low.or(high).unwrap_or(most),
                }
            })
            .collect()
    }
}

/// The condition that all lanes have, if they have one in common.
pub(super) fn for_all(mask: Option<&Lanes>) -> Option<V> {
    mask.filter(|m| m.iter().all(|&v| v == m[0])).map(|m| m[0])
}

//! Loads.
//!
//! Loads that a mask turns off read the buffer's first element instead, so nothing here depends on the device checking
//! bounds. Consecutive small elements are taken out of as few words as hold them.

use super::align::residue;
use super::builder::V;
use super::memo::Lanes;
use super::places::{At, Place};
use super::state::{Emitted, Gen, Stop};
use super::types::Reg;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::{BufId, Expr, ExprKind, build};
use naga::BinaryOperator::{InclusiveOr, ShiftLeft, ShiftRight, Subtract};
use naga::MathFunction;

impl Gen<'_> {
    /// The elements at the lanes of `index`; 0 where the mask is false.
    pub(super) fn load(&mut self, buf: BufId, index: &Expr, mask: Option<&Expr>) -> Emitted<Lanes> {
        let (place, ty) = (self.place(buf)?, self.elem(buf)?);
        if let Place::Registers(variables) = &place {
            return self.load_registers(buf, variables, index);
        }
        let mask = mask.map(|m| self.eval(m)).transpose()?;
        if let Place::Lanes { held, variables } = &place {
            return self.load_held((held, variables), ty, index, mask.as_ref());
        }
        let origin = if let Place::Buffer { offset, .. } = place { Some(offset) } else { None };
        let at = self.elements(origin, index)?;
        let small = matches!(place, Place::Buffer { .. }) && ty.bytes() < 4;
        if let (At::Dense(first), true, None) = (&at, small, &mask) {
            return Ok(self.load_small(&place, ty, *first, index));
        }
        let nowhere = origin.unwrap_or_else(|| self.code.u32(0));
        let elements = self.each_element(at, index.lanes());
        let mut made: Vec<(V, Option<V>, V)> = Vec::new();
        for (i, element) in elements.into_iter().enumerate() {
            let on = mask.as_ref().map(|m| m[i]);
            let v = match made.iter().find(|(e, m, _)| *e == element && *m == on) {
                Some((_, _, known)) => *known,
                None => self.load_one(&place, ty, element, on, nowhere),
            };
            made.push((element, on, v));
        }
        Ok(made.into_iter().map(|(_, _, v)| v).collect())
    }
    /// An element, or 0 where it is not `on`; then `nowhere` is read.
    fn load_one(&mut self, place: &Place, ty: ScalarType, element: V, on: Option<V>, nowhere: V) -> V {
        let Some(on) = on else {
            return self.load_element(place, ty, element);
        };
        let safe = self.code.pick(on, element, nowhere);
        let v = self.load_element(place, ty, safe);
        let zero = self.code.constant(Scalar::zero(ty));
        self.code.select(Reg::of_type(ty), on, v, zero)
    }
    fn load_element(&mut self, place: &Place, ty: ScalarType, element: V) -> V {
        let reg = Reg::of_type(ty);
        match place {
            Place::Buffer { .. } if ty.bytes() < 4 => {
                let (word, shift) = self.code.word_and_shift(ty.bytes() as u32, element);
                let word = self.load_word(place, word);
                let bits = self.code.op(ShiftRight, word, shift);
                self.code.small_value(ty, bits)
            }
            Place::Buffer { .. } if ty.bytes() == 4 => {
                let word = self.load_word(place, element);
                self.code.value_of_word(ty, word)
            }
            Place::Shared { first_word, .. } if ty.bytes() < 8 => {
                let at = self.code.plus(element, i64::from(*first_word));
                let word = self.load_word(place, at);
                self.code.register_of_word(reg, word)
            }
            Place::Buffer { .. } | Place::Shared { .. } => {
                let first = if let Place::Shared { first_word, .. } = place { *first_word } else { 0 };
                let low = self.code.shift_left(element, 1);
                let low = self.code.plus(low, first.into());
                let high = self.code.plus(low, 1);
                let (low, high) = (self.load_word(place, low), self.load_word(place, high));
                self.code.value_of_words(ty, low, high)
            }
            Place::Array(variable) => {
                let array = self.code.place_of(*variable);
                let at = self.code.element(array, element);
                let v = self.code.load(at);
                if reg == Reg::Bool { self.code.register_of_word(reg, v) } else { v }
            }
            // Loads of these know their variables.
            Place::Registers(_) | Place::Lanes { .. } => element,
        }
    }
    /// A word of a buffer or of the block's memory.
    pub(super) fn load_word(&mut self, place: &Place, word: V) -> V {
        match place {
            Place::Buffer { array, .. } | Place::Shared { array, .. } => {
                let array = self.code.place_of_global(*array);
                let at = self.code.element(array, word);
                self.code.load(at)
            }
            Place::Array(_) | Place::Registers(_) | Place::Lanes { .. } => word,
        }
    }
    fn load_registers(
        &mut self,
        buf: BufId,
        variables: &std::collections::BTreeMap<i64, naga::Handle<naga::LocalVariable>>,
        index: &Expr,
    ) -> Emitted<Lanes> {
        let wrong = || Stop::Malformed(format!("{buf:?} is loaded where it has no element"));
        let mut lanes = Vec::new();
        for at in constant_lanes(index).ok_or_else(wrong)? {
            let variable = *variables.get(&at).ok_or_else(wrong)?;
            let at = self.code.place_of(variable);
            lanes.push(self.code.load(at));
        }
        Ok(lanes.into())
    }

    /// Returns the position in its word of the first of consecutive elements, if it is known. The buffer's first
    /// element is at a multiple of a word, and each word holds `per` elements.
    pub(super) fn rest(&self, index: &Expr, per: u32) -> Option<u32> {
        match index.kind() {
            ExprKind::Ramp { base, .. } => residue(base, &self.residues).modulo(per),
            _ => None,
        }
    }
    /// Consecutive small elements.
    fn load_small(&mut self, place: &Place, ty: ScalarType, first: V, index: &Expr) -> Lanes {
        let (bytes, lanes) = (ty.bytes() as u32, u32::from(index.lanes()));
        let per = 4 / bytes;
        match self.rest(index, per) {
            Some(rest) => {
                let word = self.code.shift_right(first, per.trailing_zeros());
                let words: Vec<V> = (0..(rest + lanes).div_ceil(per))
                    .map(|i| {
                        let at = self.code.plus(word, i.into());
                        self.load_word(place, at)
                    })
                    .collect();
                (rest..rest + lanes).map(|i| self.take(ty, &words, i)).collect()
            }
            None if lanes < 3 => (0..lanes)
                .map(|i| {
                    let element = self.code.plus(first, i.into());
                    self.load_element(place, ty, element)
                })
                .collect(),
            None => {
                let words = self.load_unaligned(place, bytes, first, lanes);
                (0..lanes).map(|i| self.take(ty, &words, i)).collect()
            }
        }
    }
    /// Element `i` of words of elements.
    fn take(&mut self, ty: ScalarType, words: &[V], i: u32) -> V {
        let (bits, per) = (8 * ty.bytes() as u32, 4 / ty.bytes() as u32);
        let word = self.code.shift_right(words[(i / per) as usize], bits * (i % per));
        match i % per == per - 1 && !ty.is_signed_int() {
            // Nothing stands above the last one.
            true => self.code.value_of_word(ty, word),
            false => self.code.small_value(ty, word),
        }
    }
    /// The words that hold `lanes` elements from `first` on, shifted so that `first` is at the start of one.
    fn load_unaligned(&mut self, place: &Place, bytes: u32, first: V, lanes: u32) -> Vec<V> {
        let per = 4 / bytes;
        let (word, shift) = self.code.word_and_shift(bytes, first);
        let last = self.code.plus(first, i64::from(lanes) - 1);
        let last = self.code.shift_right(last, per.trailing_zeros());
        let count = lanes.div_ceil(per);
        let loaded: Vec<V> = (0..=count)
            .map(|i| {
                let at = self.code.plus(word, i.into());
                // Beyond the word of the last element there may be nothing.
                let at = if i == count { self.code.math_op(MathFunction::Min, &[at, last]) } else { at };
                self.load_word(place, at)
            })
            .collect();
        let most = self.code.u32(31);
        let back = self.code.op(Subtract, most, shift);
        loaded
            .windows(2)
            .map(|pair| {
                let low = self.code.op(ShiftRight, pair[0], shift);
                // By 32 - shift in two steps, since it may be 32.
                let high = self.code.shift_left(pair[1], 1);
                let high = self.code.op(ShiftLeft, high, back);
                self.code.op(InclusiveOr, low, high)
            })
            .collect()
    }
}

impl super::builder::Builder<'_> {
    /// The value of a small element from a word in which it is the lowest.
    pub(super) fn small_value(&mut self, ty: ScalarType, word: V) -> V {
        let own = match ty {
            _ if ty.is_signed_int() => word,
            _ => self.wrap(ScalarType::unsigned(8 * ty.bytes() as u32), word),
        };
        self.value_of_word(ty, own)
    }
}

/// The elements of an access at constants only.
pub(super) fn constant_lanes(index: &Expr) -> Option<Vec<i64>> {
    let lanes = i64::from(index.lanes());
    match index.kind() {
        ExprKind::Ramp { base, stride } => {
            let (base, stride) = (build::as_int(base)?, build::as_int(stride)?);
            (0..lanes).map(|i| base.checked_add(stride.checked_mul(i)?)).collect()
        }
        ExprKind::Shuffle(vectors, picks) => {
            let all: Vec<i64> = vectors.iter().map(constant_lanes).collect::<Option<Vec<_>>>()?.concat();
            picks.iter().map(|&i| all.get(usize::from(i)).copied()).collect()
        }
        _ => build::as_int(index).map(|v| vec![v; lanes as usize]),
    }
}

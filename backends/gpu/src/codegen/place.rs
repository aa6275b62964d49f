//! The locations of the elements of buffers, and their bits in words.

use super::builder::{Builder, V};
use super::places::{At, Place};
use super::state::{Emitted, Gen, Stop};
use super::types::Reg;
use halide_core::types::ScalarType;
use halide_ir::{BufId, Expr, ExprKind, build};
use naga::BinaryOperator::{Add, And, InclusiveOr, NotEqual};

impl Gen<'_> {
    pub(super) fn place(&self, buf: BufId) -> Emitted<Place> {
        self.places.get(&buf).cloned().ok_or_else(|| Stop::Malformed(format!("{buf:?} is used and not there")))
    }
    /// The type of a buffer's elements.
    pub(super) fn elem(&self, buf: BufId) -> Emitted<ScalarType> {
        let info = self.program.buffers.get(buf);
        info.map(|b| b.elem).ok_or_else(|| Stop::Malformed(format!("{buf:?} is not in the table")))
    }
    /// Returns the elements that the lanes of `index` address: U32 numbers, from `origin` on.
    pub(super) fn elements(&mut self, origin: Option<V>, index: &Expr) -> Emitted<At> {
        let from = |c: &mut Builder<'_>, v: V| {
            let v = c.bits_as(Reg::U32, v);
            origin.map_or(v, |o| c.op(Add, o, v))
        };
        if let ExprKind::Ramp { base, stride } = index.kind()
            && let Some(step) = build::as_int(stride)
        {
            let base = self.single(base)?;
            let first = from(&mut self.code, base);
            return Ok(match step {
                1 => At::Dense(first),
                _ => At::Each((0..index.lanes()).map(|i| self.code.plus(first, step * i64::from(i))).collect()),
            });
        }
        let lanes = self.eval(index)?;
        let each = self.code.each(&lanes, |c, v| from(c, v));
        Ok(At::Each(each.to_vec()))
    }
    /// The elements of an access lane by lane.
    pub(super) fn each_element(&mut self, at: At, lanes: u16) -> Vec<V> {
        match at {
            At::Each(each) => each,
            At::Dense(first) => (0..lanes).map(|i| self.code.plus(first, i.into())).collect(),
        }
    }
}

impl Place {
    /// Returns true if the same kernel may load what it stores there.
    pub(super) fn is_read(&self) -> bool {
        match self {
            Place::Buffer { reads, .. } => *reads,
            Place::Shared { .. } | Place::Array(_) | Place::Registers(_) | Place::Lanes { .. } => true,
        }
    }
}

impl Builder<'_> {
    /// A U32 plus a constant; wraps.
    pub(super) fn plus(&mut self, v: V, constant: i64) -> V {
        if constant == 0 {
            return v;
        }
        let constant = self.u32(constant as u32);
        self.op(Add, v, constant)
    }
    /// The value of an element of up to 32 bits from a word of its bits, zero-extended.
    pub(super) fn value_of_word(&mut self, ty: ScalarType, word: V) -> V {
        match ty {
            ScalarType::Bool => {
                let zero = self.u32(0);
                self.op(NotEqual, word, zero)
            }
            _ if ty.is_signed_int() => {
                let v = self.bits_as(Reg::I32, word);
                self.wrap(ty, v)
            }
            ScalarType::F32 => self.bits_as(Reg::F32, word),
            _ => word,
        }
    }
    /// The value of an element of 64 bits from its two words.
    pub(super) fn value_of_words(&mut self, ty: ScalarType, low: V, high: V) -> V {
        let (low, high) = (self.convert(Reg::U64, low), self.convert(Reg::U64, high));
        let high = self.shift_left(high, 32);
        let bits = self.op(InclusiveOr, low, high);
        match ty {
            ScalarType::U64 => bits,
            _ => self.bits_as(Reg::of_type(ty), bits),
        }
    }
    /// The bits of an element of up to 32 bits, zero-extended to a word.
    pub(super) fn word_of_value(&mut self, ty: ScalarType, v: V) -> V {
        match ty {
            ScalarType::I8 | ScalarType::I16 => {
                let values = self.values(ty, v);
                let bits = self.bits_as(Reg::U32, v);
                self.wrapped(ScalarType::unsigned(ty.bits()), Some(values), bits)
            }
            _ => self.word_of_register(Reg::of_type(ty), v),
        }
    }
    /// The two words of an element of 64 bits.
    pub(super) fn words_of_value(&mut self, ty: ScalarType, v: V) -> [V; 2] {
        let bits = if ty == ScalarType::U64 { v } else { self.bits_as(Reg::U64, v) };
        let high = self.shift_right(bits, 32);
        [self.convert(Reg::U32, bits), self.convert(Reg::U32, high)]
    }
    /// The bits of a register of up to 32 bits.
    pub(super) fn word_of_register(&mut self, reg: Reg, v: V) -> V {
        match reg {
            Reg::Bool => self.bool_as(Reg::U32, v),
            Reg::U32 => v,
            _ => self.bits_as(Reg::U32, v),
        }
    }
    /// The register of which these are the bits.
    pub(super) fn register_of_word(&mut self, reg: Reg, word: V) -> V {
        match reg {
            Reg::Bool => {
                let zero = self.u32(0);
                self.op(NotEqual, word, zero)
            }
            Reg::U32 => word,
            _ => self.bits_as(reg, word),
        }
    }
    /// The number of the word of a small element and by how many bits the element is shifted in it.
    pub(super) fn word_and_shift(&mut self, bytes: u32, element: V) -> (V, V) {
        let per = 4 / bytes;
        let word = self.shift_right(element, per.trailing_zeros());
        let last = self.u32(per - 1);
        let position = self.op(And, element, last);
        (word, self.shift_left(position, (8 * bytes).trailing_zeros()))
    }
}

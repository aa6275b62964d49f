//! Conversions: wrapping, truncating, saturating, and of bits.

use super::builder::{Builder, V};
use super::types::Reg;
use halide_backend::{Arithmetic, Interval};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use naga::BinaryOperator::{Equal, Greater, GreaterEqual, InclusiveOr, Less, NotEqual, Subtract};
use naga::MathFunction;

impl Builder<'_> {
    /// A value of type `from` as a `to`, as [`halide_core::value::cast`] has it.
    pub(super) fn cast(&mut self, from: ScalarType, to: ScalarType, v: V) -> V {
        match (from, to) {
            _ if from == to => v,
            (_, Bool) => self.is_nonzero(from, v),
            (Bool, _) if to.is_float() => {
                let (one, zero) = (Scalar::int(to, 1), Scalar::zero(to));
                let (one, zero) = (self.constant(one), self.constant(zero));
                self.select(Reg::of_type(to), v, one, zero)
            }
            (Bool, _) => self.bool_as(Reg::of_type(to), v),
            _ if !from.is_float() && !to.is_float() => {
                let values = self.values(from, v);
                let made = self.resize(Reg::of_type(from), Reg::of_type(to), v);
                self.wrapped(to, Some(values), made)
            }
            _ if !from.is_float() => self.float_of_int(from, to, v),
            (F16 | BF16, _) => {
                let wide = self.widen(from, v);
                self.cast(F32, to, wide)
            }
            (F64, F16 | BF16) => {
                let odd = self.f32_odd(v);
                self.narrow(to, odd)
            }
            (F32, F16 | BF16) => self.narrow(to, v),
            _ if to.is_float() => {
                let x = self.operand(Reg::of_type(from), v);
                let made = self.convert(Reg::of_type(to), x);
                self.raw(made)
            }
            _ => self.int_of_float(Reg::of_type(from), to, v),
        }
    }
    /// Emits a test that a value differs from zero; a NaN does.
    fn is_nonzero(&mut self, ty: ScalarType, v: V) -> V {
        let reg = Reg::of_type(ty);
        if !ty.is_float() {
            let zero = self.int(reg, 0);
            return self.op(NotEqual, v, zero);
        }
        // Both zeros have no bits but the sign.
        let bits = reg.unsigned();
        let v = if reg.is_float() { self.bits_as(bits, v) } else { v };
        let magnitude = self.shift_left(v, 1);
        let (zero, mask) = (self.int(bits, 0), self.u32(0xfffe));
        let magnitude = if ty.bits() == 16 { self.op(naga::BinaryOperator::And, magnitude, mask) } else { magnitude };
        self.op(NotEqual, magnitude, zero)
    }
    /// An integer register as another; wraps.
    pub(super) fn resize(&mut self, from: Reg, to: Reg, v: V) -> V {
        // First the width, by the sign that it has.
        let same_sign = if from.is_signed() { Reg::signed(to) } else { Reg::unsigned(to) };
        let sized = if from.bits() == to.bits() { v } else { self.convert(same_sign, v) };
        // Mesa 22 gets comparisons of extended integers with constants wrong, where it sees that they are extended.
        let plain = if to.bits() > from.bits() { self.integer_barrier(same_sign, sized) } else { sized };
        if same_sign == to { plain } else { self.bits_as(to, plain) }
    }
    /// An integer rounded to a float once.
    fn float_of_int(&mut self, from: ScalarType, to: ScalarType, v: V) -> V {
        match to {
            F32 | F64 => {
                let made = self.convert(Reg::of_type(to), v);
                self.raw(made)
            }
            // What f32 cannot hold exactly is an infinity in f16.
            F16 => {
                let wide = self.convert(Reg::F32, v);
                self.narrow(to, wide)
            }
            _ if from.bits() < 32 => {
                let wide = self.convert(Reg::F32, v);
                self.narrow(to, wide)
            }
            _ => {
                let odd = self.f32_odd_of_int(Reg::of_type(from), v);
                self.narrow(to, odd)
            }
        }
    }
    /// A float truncated and clamped to an integer type; a NaN gives 0.
    fn int_of_float(&mut self, from: Reg, to: ScalarType, v: V) -> V {
        let (Some(min), Some(max)) = (to.int_min(), to.int_max()) else {
            return v;
        };
        let reg = Reg::of_type(to);
        let v = self.operand(from, v);
        let (low, high) = (self.float(from, min as f64), self.float(from, below(from, max)));
        let inside = self.math_op(MathFunction::Clamp, &[v, low, high]);
        let mut made = self.convert(reg, inside);
        if below(from, max) as i128 != max {
            // The largest integer is no float: from the power of two above it on, it is the result.
            let beyond = self.float(from, 2f64.powi(128 - max.leading_zeros() as i32));
            let large = self.op(GreaterEqual, v, beyond);
            let most = self.int(reg, max as i64);
            made = self.pick(large, most, made);
        }
        let (nan, zero) = (self.is_nan(from, v), self.int(reg, 0));
        self.pick(nan, zero, made)
    }

    /// A value of type `from` clamped to `to`, as [`halide_core::value::saturating_cast`] has it.
    pub(super) fn saturating_cast(&mut self, from: ScalarType, to: ScalarType, v: V) -> V {
        match (from, to) {
            _ if from == to || to.is_float() => self.cast(from, to, v),
            (F16 | BF16, _) => {
                let wide = self.widen(from, v);
                self.saturating_cast(F32, to, wide)
            }
            (F32 | F64, Bool) => {
                let reg = Reg::of_type(from);
                let one = self.float(reg, 1.0);
                self.float_compare(GreaterEqual, reg, v, one)
            }
            (F32 | F64, _) | (Bool, _) => self.cast(from, to, v),
            (_, Bool) => {
                let zero = self.int(Reg::of_type(from), 0);
                self.op(Greater, v, zero)
            }
            _ => {
                let clamped = self.clamp_to(from, to, v);
                self.cast(from, to, clamped)
            }
        }
    }
    /// An integer clamped to the range of another type.
    fn clamp_to(&mut self, from: ScalarType, to: ScalarType, v: V) -> V {
        let (reg, values, range) = (Reg::of_type(from), self.values(from, v), Interval::of_type(to));
        let Ok(v) = self.integers(reg).clamp_to(reg.is_signed(), &v, values, range);
        self.note(from, v, values.clamp(range));
        v
    }

    /// The same bits as a type of equal width.
    pub(super) fn reinterpret(&mut self, from: ScalarType, to: ScalarType, v: V) -> V {
        let (source, target) = (Reg::of_type(from), Reg::of_type(to));
        if source == target && from.bits() == target.bits() {
            return v;
        }
        let bits = if source.is_float() || source.is_signed() { self.bits_as(source.unsigned(), v) } else { v };
        if target.is_float() {
            let made = self.bits_as(target, bits);
            return self.raw(made);
        }
        let made = if target.is_signed() { self.bits_as(target, bits) } else { bits };
        self.wrap(to, made)
    }

    /// An f64 as an f32 that rounds to a 16-bit float as the f64 does: truncated, with an odd last bit where that loses
    /// some.
    fn f32_odd(&mut self, v: V) -> V {
        let v = self.operand(Reg::F64, v);
        let near = self.convert(Reg::F32, v);
        let back = self.convert(Reg::F64, near);
        let bits = |c: &mut Self, v| {
            let bits = c.bits_as(Reg::U64, v);
            let mask = c.int(Reg::U64, i64::MAX);
            c.op(naga::BinaryOperator::And, bits, mask)
        };
        let (exact, made) = (bits(self, v), bits(self, back));
        let (same, above) = (self.op(Equal, made, exact), self.op(Greater, made, exact));
        self.made_odd(near, same, above)
    }
    /// An integer of 32 or 64 bits as such an f32.
    fn f32_odd_of_int(&mut self, reg: Reg, v: V) -> V {
        let exact = if reg.is_signed() { self.magnitude(reg, v) } else { v };
        let near = self.convert(Reg::F32, exact);
        let whole = if reg.bits() == 64 { U64 } else { U32 };
        let back = self.int_of_float(Reg::F32, whole, near);
        let (same, above) = (self.op(Equal, back, exact), self.op(Greater, back, exact));
        let made = self.made_odd(near, same, above);
        if !reg.is_signed() {
            return made;
        }
        let (zero, sign, plus) = (self.int(reg, 0), self.u32(1 << 31), self.u32(0));
        let negative = self.op(Less, v, zero);
        let sign = self.pick(negative, sign, plus);
        let bits = self.bits_as(Reg::U32, made);
        let bits = self.op(InclusiveOr, bits, sign);
        self.bits_as(Reg::F32, bits)
    }
    /// `near` itself where it is exact; else the neighbour of the exact value with an odd last bit.
    fn made_odd(&mut self, near: V, exact: V, above: V) -> V {
        let bits = self.bits_as(Reg::U32, near);
        let (one, zero) = (self.u32(1), self.u32(0));
        let back = self.pick(above, one, zero);
        let truncated = self.op(Subtract, bits, back);
        let odd = self.op(InclusiveOr, truncated, one);
        let made = self.pick(exact, bits, odd);
        self.bits_as(Reg::F32, made)
    }
}

/// The largest float of a register type that is at most the largest integer of a type.
fn below(reg: Reg, max: i128) -> f64 {
    let digits = if reg == Reg::F32 { 24 } else { 53 };
    let bits = 128 - max.leading_zeros();
    let lost = bits.saturating_sub(digits);
    ((max >> lost) << lost) as f64
}

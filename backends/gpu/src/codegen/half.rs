//! 16-bit floats, which are kept as their bits: exact conversion to f32, and correctly rounded conversion back, in integer
//! arithmetic (a device's own conversions may round as they like and lose subnormal numbers).

use super::builder::{Code, V};
use super::helper::Helper;
use super::types::Reg;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use naga::BinaryOperator::{
    Add, And, Equal, ExclusiveOr, Greater, GreaterEqual, InclusiveOr, Less, LogicalAnd, LogicalOr, Multiply, NotEqual,
    ShiftLeft, ShiftRight, Subtract,
};
use naga::Literal;

/// The bits of f32: infinity, 2^16, and 2^-14, the smallest normal f16.
const INFINITY: u32 = 0x7f80_0000;
const F16_OVERFLOW: u32 = 0x4780_0000;
const F16_NORMAL: u32 = 0x3880_0000;
/// By how much the exponent fields of f32 and f16 differ.
const F16_BIAS: u32 = 112 << 23;

impl Code<'_> {
    /// The f32 of a 16-bit float.
    pub(super) fn widen(&mut self, ty: ScalarType, bits: V) -> V {
        if let Some(Literal::U32(bits)) = self.as_literal(bits) {
            return self.float(Reg::F32, Scalar::from_bits(ty, bits.into()).as_f64());
        }
        let made = match ty {
            ScalarType::BF16 => {
                let wide = self.shift_left(bits, 16);
                self.bits_as(Reg::F32, wide)
            }
            _ => {
                let helper = Helper { name: "f32_of_f16".to_string(), args: &[Reg::U32], result: Reg::F32 };
                self.helper(helper, &[bits], |c, args| c.f32_of_f16(args[0]))
            }
        };
        self.raw(made)
    }
    /// An f32 rounded to a 16-bit float.
    pub(super) fn narrow(&mut self, ty: ScalarType, v: V) -> V {
        let name = format!("{ty}_of_f32");
        let helper = Helper { name, args: &[Reg::F32], result: Reg::U32 };
        self.helper(helper, &[v], |c, args| {
            let bits = c.bits_as(Reg::U32, args[0]);
            let (mask, sign) = (c.u32(0x7fff_ffff), c.u32(0x8000));
            let magnitude = c.op(And, bits, mask);
            let high = c.shift_right(bits, 16);
            let sign = c.op(And, high, sign);
            let made = if ty == ScalarType::BF16 { c.bf16_magnitude(magnitude) } else { c.f16_magnitude(magnitude) };
            c.op(InclusiveOr, made, sign)
        })
    }

    fn f32_of_f16(&mut self, bits: V) -> V {
        let (low, sign) = (self.u32(0x7fff), self.u32(0x8000));
        let magnitude = self.op(And, bits, low);
        let sign = self.op(And, bits, sign);
        let sign = self.shift_left(sign, 16);
        let moved = self.shift_left(magnitude, 13);
        let bias = self.u32(F16_BIAS);
        let normal = self.op(Add, moved, bias);
        let (infinite, exponent) = (self.u32(0x7c00), self.u32(INFINITY));
        let special = self.op(InclusiveOr, moved, exponent);
        let is_special = self.op(GreaterEqual, magnitude, infinite);
        let normal = self.pick(is_special, special, normal);
        // A subnormal number is an integer times 2^-24.
        let count = self.convert(Reg::F32, magnitude);
        let unit = self.float(Reg::F32, 2f64.powi(-24));
        let small = self.op(Multiply, count, unit);
        let small = self.bits_as(Reg::U32, small);
        let least = self.u32(0x400);
        let is_small = self.op(Less, magnitude, least);
        let made = self.pick(is_small, small, normal);
        let made = self.op(InclusiveOr, made, sign);
        self.bits_as(Reg::F32, made)
    }
    /// The bits of the f16 nearest to a magnitude, of which the bits are given.
    fn f16_magnitude(&mut self, a: V) -> V {
        let (bias, half) = (self.u32(F16_BIAS), self.u32(0xfff));
        let odd = self.shift_right(a, 13);
        let one = self.u32(1);
        let odd = self.op(And, odd, one);
        // Adding a little less than half of the last bit carries where the number rounds up.
        let up = self.op(Add, a, half);
        let up = self.op(Add, up, odd);
        let normal = self.op(Subtract, up, bias);
        let normal = self.shift_right(normal, 13);
        let small = self.f16_subnormal(a);
        let least = self.u32(F16_NORMAL);
        let is_small = self.op(Less, a, least);
        let made = self.pick(is_small, small, normal);
        let (overflow, infinity, nan, last) =
            (self.u32(F16_OVERFLOW), self.u32(0x7c00), self.u32(0x7e00), self.u32(INFINITY));
        let is_large = self.op(GreaterEqual, a, overflow);
        let made = self.pick(is_large, infinity, made);
        let is_nan = self.op(Greater, a, last);
        self.pick(is_nan, nan, made)
    }
    /// The significand, shifted so that its last bit counts 2^-24, and rounded.
    fn f16_subnormal(&mut self, a: V) -> V {
        let exponent = self.shift_right(a, 23);
        let (field, hidden, at, most) = (self.u32(0x7f_ffff), self.u32(0x80_0000), self.u32(126), self.u32(31));
        let fraction = self.op(And, a, field);
        let significand = self.op(InclusiveOr, fraction, hidden);
        let shift = self.op(Subtract, at, exponent);
        // Also where the exponent is so large that this wraps, which is not used.
        let far = self.op(Greater, shift, most);
        let shift = self.pick(far, most, shift);
        let (one, zero) = (self.u32(1), self.u32(0));
        let kept = self.op(ShiftRight, significand, shift);
        let back = self.op(ShiftLeft, kept, shift);
        let rest = self.op(ExclusiveOr, significand, back);
        let before = self.op(Subtract, shift, one);
        let is_none = self.op(Equal, shift, zero);
        let before = self.pick(is_none, zero, before);
        let half = self.op(ShiftLeft, one, before);
        let above = self.op(Greater, rest, half);
        let tie = self.op(Equal, rest, half);
        let odd = self.op(And, kept, one);
        let odd = self.op(NotEqual, odd, zero);
        let tie = self.op(LogicalAnd, tie, odd);
        let up = self.op(LogicalOr, above, tie);
        let up = self.pick(up, one, zero);
        self.op(Add, kept, up)
    }
    /// The bits of the bf16 nearest to a magnitude, of which the bits are given.
    fn bf16_magnitude(&mut self, a: V) -> V {
        let (half, one) = (self.u32(0x7fff), self.u32(1));
        let odd = self.shift_right(a, 16);
        let odd = self.op(And, odd, one);
        let up = self.op(Add, a, half);
        let up = self.op(Add, up, odd);
        let made = self.shift_right(up, 16);
        let (infinity, nan) = (self.u32(INFINITY), self.u32(0x7fc0));
        let is_nan = self.op(Greater, a, infinity);
        self.pick(is_nan, nan, made)
    }
}

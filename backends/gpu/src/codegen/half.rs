//! 16-bit floats, which are kept as their bits: exact conversion to f32, and correctly rounded conversion back, in
//! integer arithmetic (a device's own conversions may round as they like and lose subnormal numbers).

use super::builder::{Builder, V};
use super::helper::Helper;
use super::types::Reg;
use halide_backend::HalfFloats;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use naga::BinaryOperator::{
    Add, And, Equal, ExclusiveOr, Greater, InclusiveOr, Less, LogicalAnd, LogicalOr, Multiply, NotEqual, ShiftLeft,
    ShiftRight, Subtract,
};
use naga::Literal;

/// The distance between the exponent fields of f32 and f16.
const F16_BIAS: u32 = 112 << 23;

impl Builder<'_> {
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
                self.helper(helper, &[bits], |c, args| {
                    let Ok(bits) = c.integers(Reg::U32).f32_of_f16(&args[0]);
                    c.bits_as(Reg::F32, bits)
                })
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
            let mut integers = c.integers(Reg::U32);
            let Ok(made) =
                if ty == ScalarType::BF16 { integers.bf16_of_f32(&bits) } else { integers.f16_of_f32(&bits) };
            made
        })
    }

    /// The bits of the f32 of an f16 that is neither infinite nor a NaN, without its sign.
    pub(super) fn f32_of_finite_f16(&mut self, magnitude: V, moved: V) -> V {
        let bias = self.u32(F16_BIAS);
        let normal = self.op(Add, moved, bias);
        // A subnormal number is an integer times 2^-24.
        let count = self.convert(Reg::F32, magnitude);
        let unit = self.float(Reg::F32, 2f64.powi(-24));
        let small = self.op(Multiply, count, unit);
        let small = self.bits_as(Reg::U32, small);
        let least = self.u32(0x400);
        let is_small = self.op(Less, magnitude, least);
        self.pick(is_small, small, normal)
    }
    /// The significand, shifted so that its last bit counts 2^-24, and rounded.
    pub(super) fn f16_subnormal(&mut self, a: V) -> V {
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
}

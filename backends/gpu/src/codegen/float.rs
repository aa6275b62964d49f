//! Float operators. f32 and f64 have IEEE's arithmetic as far as the device has it; 16-bit floats compute in f32.
//!
//! Guarantees of Vulkan for f32: sums, differences and products are correctly rounded; a quotient is within 2.5 units
//! in the last place and a square root is as exact as 1 / inversesqrt, though most devices round both correctly;
//! subnormal numbers may be taken for zeros. Lavapipe, on which the tests run, rounds all of them correctly.

use super::builder::{Builder, V};
use super::types::Reg;
use halide_backend::{FloatLanes, NanRule};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use naga::{BinaryOperator, MathFunction};

/// The sign bit of an f64.
const SIGN: u64 = 1 << 63;

impl Builder<'_> {
    /// A one-operand operator on a float of type `ty`. `None` if floats do not have it.
    pub(super) fn float_unary(&mut self, op: UnOp, ty: ScalarType, v: V) -> Option<V> {
        let tests = matches!(op, UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite);
        if ty.bits() == 16 {
            // These are about the bits alone.
            if op == UnOp::Neg || op == UnOp::Abs {
                return Some(self.sign_bit(op, Reg::U32, 0x8000, v));
            }
            let wide = self.widen(ty, v);
            let made = self.float_unary(op, ScalarType::F32, wide)?;
            return Some(if tests { made } else { self.narrow(ty, made) });
        }
        let reg = Reg::of_type(ty);
        let round = |c: &mut Self, fun| {
            let x = c.operand(reg, v);
            let made = c.math_op(fun, &[x]);
            c.raw(made)
        };
        // Where drivers have no instruction for it, that of -0.0 is 0.0.
        let whole = |c: &mut Self, fun| {
            let made = round(c, fun);
            if reg == Reg::F64 { c.with_sign_of(made, v) } else { made }
        };
        Some(match op {
            UnOp::Neg | UnOp::Abs => self.float_sign(op, reg, v),
            UnOp::Floor => whole(self, MathFunction::Floor),
            UnOp::Ceil => whole(self, MathFunction::Ceil),
            UnOp::Round if reg == Reg::F64 => self.nearest_even(v),
            UnOp::Round => round(self, MathFunction::Round),
            UnOp::Trunc => whole(self, MathFunction::Trunc),
            UnOp::Sqrt => round(self, MathFunction::Sqrt),
            UnOp::IsNan => self.against_infinity(BinaryOperator::Greater, reg, v),
            UnOp::IsInf => self.against_infinity(BinaryOperator::Equal, reg, v),
            UnOp::IsFinite => self.against_infinity(BinaryOperator::Less, reg, v),
            UnOp::Not | UnOp::Popcount | UnOp::Clz | UnOp::Ctz => return None,
        })
    }
    /// An f64 rounded to the nearest integer, an even one of two. Drivers without an instruction for it get ties of
    /// negative numbers and -0.0 wrong (lavapipe of Mesa 22.3 where there is no AVX-512), so it is made of sums: from
    /// 2^52 on there are integers only.
    fn nearest_even(&mut self, v: V) -> V {
        let reg = Reg::F64;
        let bits = self.bits_as(Reg::U64, v);
        let magnitude = self.sign_bit(UnOp::Abs, Reg::U64, SIGN, bits);
        let magnitude = self.bits_as(reg, magnitude);
        let magnitude = self.raw(magnitude);
        let integers = self.float_bits(reg, ((1u64 << 52) as f64).to_bits());
        let sum = self.float_op(BinaryOperator::Add, reg, magnitude, integers);
        let near = self.float_op(BinaryOperator::Subtract, reg, sum, integers);
        let is_small = self.float_compare(BinaryOperator::Less, reg, magnitude, integers);
        let near = self.select(reg, is_small, near, magnitude);
        self.with_sign_of(near, v)
    }
    /// The magnitude of one f64 with the sign of another.
    fn with_sign_of(&mut self, magnitude: V, signed: V) -> V {
        let [magnitude, signed] = [magnitude, signed].map(|v| self.bits_as(Reg::U64, v));
        let magnitude = self.sign_bit(UnOp::Abs, Reg::U64, SIGN, magnitude);
        let mask = self.int(Reg::U64, SIGN as i64);
        let sign = self.op(BinaryOperator::And, signed, mask);
        let made = self.op(BinaryOperator::InclusiveOr, magnitude, sign);
        let made = self.bits_as(Reg::F64, made);
        self.raw(made)
    }
    /// Negates a float, or takes its magnitude.
    pub(super) fn float_sign(&mut self, op: UnOp, reg: Reg, v: V) -> V {
        let bits = self.bits_as(reg.unsigned(), v);
        let made = self.sign_bit(op, reg.unsigned(), 1 << (reg.bits() - 1), bits);
        let made = self.bits_as(reg, made);
        self.raw(made)
    }
    /// Flips the sign bit, or clears it.
    fn sign_bit(&mut self, op: UnOp, bits: Reg, sign: u64, v: V) -> V {
        let (operator, mask) = match op {
            UnOp::Neg => (BinaryOperator::ExclusiveOr, sign),
            _ => (BinaryOperator::And, sign - 1),
        };
        let mask = self.int(bits, mask as i64);
        self.op(operator, v, mask)
    }
    /// The bits of a magnitude compared with those of infinity: drivers may believe that there are no NaNs.
    fn against_infinity(&mut self, op: BinaryOperator, reg: Reg, v: V) -> V {
        let bits = self.bits_as(reg.unsigned(), v);
        let magnitude = self.sign_bit(UnOp::Abs, reg.unsigned(), 1 << (reg.bits() - 1), bits);
        let infinity = match reg {
            Reg::F32 => u64::from(f32::INFINITY.to_bits()),
            _ => f64::INFINITY.to_bits(),
        };
        let infinity = self.int(reg.unsigned(), infinity as i64);
        self.op(op, magnitude, infinity)
    }
    /// Emits a test that a float is a NaN.
    pub(super) fn is_nan(&mut self, reg: Reg, v: V) -> V {
        self.against_infinity(BinaryOperator::Greater, reg, v)
    }

    /// A two-operand operator on floats of type `ty`. `None` if floats do not have it.
    pub(super) fn float_binary(&mut self, op: BinOp, ty: ScalarType, a: V, b: V) -> Option<V> {
        if ty.bits() == 16 {
            let (x, y) = (self.widen(ty, a), self.widen(ty, b));
            let made = self.float_binary(op, ScalarType::F32, x, y)?;
            return Some(if op.is_comparison() { made } else { self.narrow(ty, made) });
        }
        let reg = Reg::of_type(ty);
        Some(match op {
            BinOp::Add => self.float_op(BinaryOperator::Add, reg, a, b),
            BinOp::Sub => self.float_op(BinaryOperator::Subtract, reg, a, b),
            BinOp::Mul => self.float_op(BinaryOperator::Multiply, reg, a, b),
            BinOp::Div => self.float_op(BinaryOperator::Divide, reg, a, b),
            BinOp::Mod => {
                let Ok(rest) = self.floats(reg).remainder(&a, &b);
                rest
            }
            BinOp::Absd => {
                let Ok(difference) = self.floats(reg).absolute_difference(&a, &b);
                difference
            }
            BinOp::Min | BinOp::Max => {
                let Ok(made) = self.floats(reg).min_max(op, NanRule::Unknown, &a, &b);
                made
            }
            BinOp::Eq => self.float_compare(BinaryOperator::Equal, reg, a, b),
            BinOp::Ne => {
                // naga's own operator is false for a NaN.
                let equal = self.float_compare(BinaryOperator::Equal, reg, a, b);
                self.not(equal)
            }
            BinOp::Lt => self.float_compare(BinaryOperator::Less, reg, a, b),
            BinOp::Le => self.float_compare(BinaryOperator::LessEqual, reg, a, b),
            BinOp::Gt => self.float_compare(BinaryOperator::Greater, reg, a, b),
            BinOp::Ge => self.float_compare(BinaryOperator::GreaterEqual, reg, a, b),
            _ => return None,
        })
    }
}

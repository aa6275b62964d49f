//! The integer idioms: saturating and halving sums, high halves and wide products.

use super::builder::{Builder, V};
use super::types::Reg;
use halide_backend::{Arithmetic, Products};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::Intrinsic;
use naga::BinaryOperator::{Add, Multiply, Subtract};
use naga::MathFunction;

impl Builder<'_> {
    /// An idiom on integers of type `ty`. `wide` is whether there are 64-bit integers.
    pub(super) fn idiom(&mut self, op: Intrinsic, ty: ScalarType, a: V, b: V, wide: bool) -> V {
        let reg = Reg::of_type(ty);
        match op {
            // A register has room for exact results.
            Intrinsic::SaturatingAdd | Intrinsic::SaturatingSub if ty.bits() < 32 => {
                let operator = if op == Intrinsic::SaturatingAdd { Add } else { Subtract };
                // In signed registers the exact difference of unsigned operands can be negative.
                let (x, y) = (self.bits_as(Reg::I32, a), self.bits_as(Reg::I32, b));
                let exact = self.op(operator, x, y);
                let (least, most) = (self.least(Reg::I32, ty), self.most(Reg::I32, ty));
                let made = self.math_op(MathFunction::Clamp, &[exact, least, most]);
                self.bits_as(Reg::of_type(ty), made)
            }
            Intrinsic::SaturatingAdd | Intrinsic::SaturatingSub => {
                let operator = if op == Intrinsic::SaturatingAdd { BinOp::Add } else { BinOp::Sub };
                let Ok(made) = self.integers(reg).saturating(operator, reg.is_signed(), &a, &b);
                made
            }
            Intrinsic::HalvingAdd => {
                let Ok(made) = self.integers(reg).halving_add(reg.is_signed(), &a, &b);
                made
            }
            Intrinsic::RoundingHalvingAdd => {
                let Ok(made) = self.integers(reg).rounding_halving_add(reg.is_signed(), &a, &b);
                made
            }
            Intrinsic::MulHigh => self.mul_high(ty, a, b, wide),
            Intrinsic::MulRounded => {
                let Ok(made) = self.integers(reg).mul_rounded(&a, &b);
                made
            }
            Intrinsic::WideningMul if ty.bits() < 32 => self.op(Multiply, a, b),
            Intrinsic::WideningMul => {
                let to = if ty.is_signed_int() { Reg::I64 } else { Reg::U64 };
                let (x, y) = (self.resize(Reg::of_type(ty), to, a), self.resize(Reg::of_type(ty), to, b));
                self.op(Multiply, x, y)
            }
        }
    }
    /// The smallest value of a type, in a register.
    fn least(&mut self, reg: Reg, ty: ScalarType) -> V {
        self.int(reg, ty.int_min().unwrap_or(0) as i64)
    }
    /// The largest value of a type, in a register.
    fn most(&mut self, reg: Reg, ty: ScalarType) -> V {
        self.int(reg, ty.int_max().unwrap_or(0) as i64)
    }

    /// The high half of the exact product.
    fn mul_high(&mut self, ty: ScalarType, a: V, b: V, wide: bool) -> V {
        match ty.bits() {
            bits @ (8 | 16) => {
                let product = self.op(Multiply, a, b);
                self.shift_right(product, bits)
            }
            32 if wide => {
                let (reg, to) = (Reg::of_type(ty), if ty.is_signed_int() { Reg::I64 } else { Reg::U64 });
                let (x, y) = (self.resize(Reg::of_type(ty), to, a), self.resize(Reg::of_type(ty), to, b));
                let product = self.op(Multiply, x, y);
                let high = self.shift_right(product, 32);
                self.convert(reg, high)
            }
            _ => {
                let (reg, bits) = (Reg::of_type(ty), Reg::of_type(ty).unsigned());
                if !reg.is_signed() {
                    let Ok(high) = self.integers(bits).mul_high(false, &a, &b);
                    return high;
                }
                let (x, y) = (self.bits_as(bits, a), self.bits_as(bits, b));
                let Ok(high) = self.integers(bits).mul_high(false, &x, &y);
                let high = self.bits_as(reg, high);
                let Ok(high) = self.integers(reg).high_of_signed(&high, &a, &b);
                high
            }
        }
    }
}

//! The integer idioms: saturating and halving sums, high halves and wide products.

use super::builder::{Code, V};
use super::types::Reg;
use halide_core::types::ScalarType;
use halide_ir::Intrinsic;
use naga::BinaryOperator::{Add, And, ExclusiveOr, InclusiveOr, Less, Multiply, Subtract};
use naga::MathFunction;

impl Code<'_> {
    /// An idiom on integers of type `ty`. `wide` is whether there are 64-bit integers.
    pub(super) fn idiom(&mut self, op: Intrinsic, ty: ScalarType, a: V, b: V, wide: bool) -> V {
        match op {
            Intrinsic::SaturatingAdd | Intrinsic::SaturatingSub if ty.bits() < 32 => {
                let operator = if op == Intrinsic::SaturatingAdd { Add } else { Subtract };
                // In signed registers the exact difference of unsigned operands can be negative.
                let (x, y) = (self.bits_as(Reg::I32, a), self.bits_as(Reg::I32, b));
                let exact = self.op(operator, x, y);
                let (least, most) = (self.least(Reg::I32, ty), self.most(Reg::I32, ty));
                let made = self.math_op(MathFunction::Clamp, &[exact, least, most]);
                self.bits_as(Reg::of(ty), made)
            }
            Intrinsic::SaturatingAdd | Intrinsic::SaturatingSub => self.saturating(op, ty, a, b),
            Intrinsic::HalvingAdd => {
                let (both, differ) = (self.op(And, a, b), self.op(ExclusiveOr, a, b));
                let half = self.shift_right(differ, 1);
                self.op(Add, both, half)
            }
            Intrinsic::RoundingHalvingAdd => {
                let (either, differ) = (self.op(InclusiveOr, a, b), self.op(ExclusiveOr, a, b));
                let half = self.shift_right(differ, 1);
                self.op(Subtract, either, half)
            }
            Intrinsic::MulHigh => self.mul_high(ty, a, b, wide),
            Intrinsic::MulRounded => {
                let (product, half) = (self.op(Multiply, a, b), self.int(Reg::of(ty), 1 << 14));
                let sum = self.op(Add, product, half);
                let rounded = self.shift_right(sum, 15);
                let most = self.most(Reg::of(ty), ty);
                self.math_op(MathFunction::Min, &[rounded, most])
            }
            Intrinsic::WideningMul if ty.bits() < 32 => self.op(Multiply, a, b),
            Intrinsic::WideningMul => {
                let to = if ty.is_signed_int() { Reg::I64 } else { Reg::U64 };
                let (x, y) = (self.resize(Reg::of(ty), to, a), self.resize(Reg::of(ty), to, b));
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

    /// A saturating sum or difference of a type that fills its register.
    fn saturating(&mut self, op: Intrinsic, ty: ScalarType, a: V, b: V) -> V {
        let reg = Reg::of(ty);
        let adds = op == Intrinsic::SaturatingAdd;
        let made = self.op(if adds { Add } else { Subtract }, a, b);
        let (least, most) = (self.least(reg, ty), self.most(reg, ty));
        if !reg.is_signed() {
            // A sum that wraps is less than its parts; a difference wraps where the second is larger.
            return match adds {
                true => {
                    let wrapped = self.op(Less, made, a);
                    self.pick(wrapped, most, made)
                }
                false => {
                    let wrapped = self.op(Less, a, b);
                    self.pick(wrapped, least, made)
                }
            };
        }
        // It wraps where the sign of the result is neither that of `a` nor, for a sum, that of `b`.
        let zero = self.int(reg, 0);
        let from_a = self.op(ExclusiveOr, a, made);
        let other = self.op(ExclusiveOr, if adds { b } else { a }, if adds { made } else { b });
        let both = self.op(And, from_a, other);
        let wrapped = self.op(Less, both, zero);
        let negative = self.op(Less, a, zero);
        let end = self.pick(negative, least, most);
        self.pick(wrapped, end, made)
    }

    /// The high half of the exact product.
    fn mul_high(&mut self, ty: ScalarType, a: V, b: V, wide: bool) -> V {
        match ty.bits() {
            bits @ (8 | 16) => {
                let product = self.op(Multiply, a, b);
                self.shift_right(product, bits)
            }
            32 if wide => {
                let (reg, to) = (Reg::of(ty), if ty.is_signed_int() { Reg::I64 } else { Reg::U64 });
                let (x, y) = (self.resize(Reg::of(ty), to, a), self.resize(Reg::of(ty), to, b));
                let product = self.op(Multiply, x, y);
                let high = self.shift_right(product, 32);
                self.convert(reg, high)
            }
            _ => {
                let (reg, bits) = (Reg::of(ty), Reg::of(ty).unsigned());
                if !reg.is_signed() {
                    return self.mul_high_by_halves(bits, a, b);
                }
                // The signed product is the unsigned one less 2^width times each factor whose counterpart is negative.
                let (x, y) = (self.bits_as(bits, a), self.bits_as(bits, b));
                let high = self.mul_high_by_halves(bits, x, y);
                let (if_a, if_b) = (self.where_negative(reg, a, b), self.where_negative(reg, b, a));
                let high = self.bits_as(reg, high);
                let high = self.op(Subtract, high, if_a);
                self.op(Subtract, high, if_b)
            }
        }
    }
    /// `v` where `sign` is negative, else 0.
    fn where_negative(&mut self, reg: Reg, sign: V, v: V) -> V {
        let mask = self.shift_right(sign, reg.bits() - 1);
        self.op(And, mask, v)
    }
    /// The high half of a product of unsigned registers, from the products of their halves.
    fn mul_high_by_halves(&mut self, reg: Reg, a: V, b: V) -> V {
        let half = reg.bits() / 2;
        let mask = self.int(reg, (1i64 << half) - 1);
        let (a_low, b_low) = (self.op(And, a, mask), self.op(And, b, mask));
        let (a_high, b_high) = (self.shift_right(a, half), self.shift_right(b, half));
        let low = self.op(Multiply, a_low, b_low);
        let carried = self.shift_right(low, half);
        let first = self.op(Multiply, a_high, b_low);
        let first = self.op(Add, first, carried);
        let first_low = self.op(And, first, mask);
        let second = self.op(Multiply, a_low, b_high);
        let second = self.op(Add, second, first_low);
        let high = self.op(Multiply, a_high, b_high);
        let (first_high, second_high) = (self.shift_right(first, half), self.shift_right(second, half));
        let high = self.op(Add, high, first_high);
        self.op(Add, high, second_high)
    }
}

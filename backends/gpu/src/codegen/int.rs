//! Integer operators: arithmetic that wraps, comparisons, counts of bits. Those of 8 and 16 bits compute in 32 and wrap
//! after, unless the intervals of their operands say that nothing can: sums of widened bytes need no care.

use super::builder::{Builder, V};
use super::types::Reg;
use halide_backend::{Arithmetic, Interval, TruthOp, truth_op};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use naga::{BinaryOperator, MathFunction, UnaryOperator};

impl Builder<'_> {
    /// Brings a register back to what values of `ty` look like: sign- or zero-extended from its width.
    pub(super) fn wrap(&mut self, ty: ScalarType, v: V) -> V {
        match ty.bits() {
            bits @ (8 | 16) if ty.is_signed_int() => {
                let high = self.shift_left(v, 32 - bits);
                self.shift_right(high, 32 - bits)
            }
            bits @ (8 | 16) => {
                let mask = self.u32((1 << bits) - 1);
                self.op(BinaryOperator::And, v, mask)
            }
            _ => v,
        }
    }

    /// Returns the values that a register of integers of type `ty` can have.
    pub(super) fn values(&self, ty: ScalarType, v: V) -> Interval {
        match (self.known.get(&v), self.divisor(v)) {
            (Some(&known), _) => known,
            (None, Some(constant)) => Interval::point(constant),
            (None, None) => Interval::of_type(ty),
        }
    }
    /// Notes what values it has, if that is more than its type says.
    pub(super) fn note(&mut self, ty: ScalarType, v: V, values: Interval) {
        if ty.bits() <= 32 && values.within(Interval::of_type(ty)) && !self.is_literal(v) {
            self.known.insert(v, values);
        }
    }
    /// The result of an operation that would be `exact` if it did not wrap.
    pub(super) fn wrapped(&mut self, ty: ScalarType, exact: Option<Interval>, v: V) -> V {
        match exact.filter(|values| values.within(Interval::of_type(ty))) {
            Some(values) => {
                self.note(ty, v, values);
                v
            }
            None => self.wrap(ty, v),
        }
    }

    /// A one-operand operator on an integer of type `ty`. `None` if integers do not have it.
    pub(super) fn int_unary(&mut self, op: UnOp, ty: ScalarType, v: V) -> Option<V> {
        let reg = Reg::of_type(ty);
        Some(match op {
            UnOp::Neg => {
                let zero = self.int(reg, 0);
                let made = self.op(BinaryOperator::Subtract, zero, v);
                self.wrap(ty, made)
            }
            UnOp::Not => {
                let made = self.unary_op(UnaryOperator::BitwiseNot, v);
                self.wrap(ty, made)
            }
            UnOp::Abs if ty.is_signed_int() => self.magnitude(reg, v),
            UnOp::Abs => v,
            UnOp::Popcount | UnOp::Clz | UnOp::Ctz => {
                let bits = self.own_bits(ty, v);
                let count = match reg.bits() {
                    64 => self.count_64(op, bits),
                    _ => self.count_32(op, ty.bits(), bits),
                };
                self.resize(Reg::U32, reg, count)
            }
            _ => return None,
        })
    }
    /// The absolute value of a signed register, as an unsigned one.
    pub(super) fn magnitude(&mut self, reg: Reg, v: V) -> V {
        let zero = self.int(reg, 0);
        let negated = self.op(BinaryOperator::Subtract, zero, v);
        let negative = self.op(BinaryOperator::Less, v, zero);
        let made = self.pick(negative, negated, v);
        self.bits_as(reg.unsigned(), made)
    }
    /// The bits of a value of `ty`, zero-extended to the unsigned register.
    pub(super) fn own_bits(&mut self, ty: ScalarType, v: V) -> V {
        if !ty.is_signed_int() {
            return v;
        }
        let bits = self.bits_as(Reg::of_type(ty).unsigned(), v);
        self.wrap(ScalarType::unsigned(ty.bits()), bits)
    }
    /// A count of the low `width` bits of a 32-bit register; the bits above are zero.
    fn count_32(&mut self, op: UnOp, width: u32, bits: V) -> V {
        match op {
            UnOp::Popcount => self.math_op(MathFunction::CountOneBits, &[bits]),
            UnOp::Clz => {
                let all = self.math_op(MathFunction::CountLeadingZeros, &[bits]);
                let above = self.u32(32 - width);
                if width == 32 { all } else { self.op(BinaryOperator::Subtract, all, above) }
            }
            _ => {
                let all = self.math_op(MathFunction::CountTrailingZeros, &[bits]);
                let width = self.u32(width);
                self.math_op(MathFunction::Min, &[all, width])
            }
        }
    }
    /// A count of the bits of a 64-bit register as a 32-bit one: devices count in words.
    fn count_64(&mut self, op: UnOp, bits: V) -> V {
        let low = self.convert(Reg::U32, bits);
        let high = self.shift_right(bits, 32);
        let high = self.convert(Reg::U32, high);
        let (in_low, in_high) = (self.count_32(op, 32, low), self.count_32(op, 32, high));
        let sum = self.op(BinaryOperator::Add, in_low, in_high);
        let zero = self.u32(0);
        match op {
            UnOp::Popcount => sum,
            UnOp::Clz => {
                let none = self.op(BinaryOperator::Equal, high, zero);
                self.pick(none, sum, in_high)
            }
            _ => {
                let none = self.op(BinaryOperator::Equal, low, zero);
                self.pick(none, sum, in_low)
            }
        }
    }

    /// A two-operand operator on integers of type `ty` other than a shift. `None` if integers do not have it.
    pub(super) fn int_binary(&mut self, op: BinOp, ty: ScalarType, a: V, b: V) -> Option<V> {
        if let Some(truth) = comparison(op) {
            return Some(self.op(truth, a, b));
        }
        let exact = Interval::binary(op, self.values(ty, a), self.values(ty, b));
        let made = match op {
            BinOp::Add => self.op(BinaryOperator::Add, a, b),
            BinOp::Sub => self.op(BinaryOperator::Subtract, a, b),
            BinOp::Mul => self.op(BinaryOperator::Multiply, a, b),
            BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero => self.divide(op, Reg::of_type(ty), a, b),
            BinOp::Min => self.math_op(MathFunction::Min, &[a, b]),
            BinOp::Max => self.math_op(MathFunction::Max, &[a, b]),
            BinOp::BitAnd => self.op(BinaryOperator::And, a, b),
            BinOp::BitOr => self.op(BinaryOperator::InclusiveOr, a, b),
            BinOp::BitXor => self.op(BinaryOperator::ExclusiveOr, a, b),
            BinOp::Absd => return Some(self.difference(Reg::of_type(ty), a, b)),
            _ => return None,
        };
        Some(match op {
            // These do not leave the type.
            BinOp::BitOr | BinOp::BitXor => made,
            _ => self.wrapped(ty, exact, made),
        })
    }
    /// `|a - b|` exactly, in the unsigned register.
    fn difference(&mut self, reg: Reg, a: V, b: V) -> V {
        let Ok(made) = self.integers(reg).absolute_difference(reg.is_signed(), &a, &b);
        if reg.is_signed() { self.bits_as(reg.unsigned(), made) } else { made }
    }

    /// An operator on a Bool. `None` if it has none.
    pub(super) fn bool_unary(&mut self, op: UnOp, v: V) -> Option<V> {
        (op == UnOp::Not).then(|| self.not(v))
    }
    /// An operator on Bools, which compare as 0 and 1. `None` if they do not have it.
    pub(super) fn bool_binary(&mut self, op: BinOp, a: V, b: V) -> Option<V> {
        let (function, swapped) = truth_op(op)?;
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        Some(match function {
            TruthOp::Never => self.bool(false),
            TruthOp::And => self.truth_op(BinaryOperator::LogicalAnd, a, b),
            TruthOp::Or => self.truth_op(BinaryOperator::LogicalOr, a, b),
            TruthOp::Xor => self.truth_op(BinaryOperator::NotEqual, a, b),
            TruthOp::Same => self.truth_op(BinaryOperator::Equal, a, b),
            TruthOp::Less | TruthOp::LessOrEqual => {
                let either = function == TruthOp::LessOrEqual;
                let operator = if either { BinaryOperator::LogicalOr } else { BinaryOperator::LogicalAnd };
                let rest = self.not(a);
                self.truth_op(operator, rest, b)
            }
        })
    }
}

/// The shader language's comparison; `None` of other operators.
pub(super) fn comparison(op: BinOp) -> Option<BinaryOperator> {
    Some(match op {
        BinOp::Eq => BinaryOperator::Equal,
        BinOp::Ne => BinaryOperator::NotEqual,
        BinOp::Lt => BinaryOperator::Less,
        BinOp::Le => BinaryOperator::LessEqual,
        BinOp::Gt => BinaryOperator::Greater,
        BinOp::Ge => BinaryOperator::GreaterEqual,
        _ => return None,
    })
}

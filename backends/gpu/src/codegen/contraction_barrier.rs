//! Keeping a driver from changing what floats compute.
//!
//! Shader compilers may contract `a * b + c` into one rounding, reassociate sums and products, replace a division by a
//! constant by a product, or drop `x + 0.0`, unless each operation is marked as exact, which naga cannot say. They may
//! do so only where they see that a float comes out of one operation and goes into another. So such a float passes
//! through an integer operation that changes nothing: an exclusive or with a zero that comes from memory.
//!
//! The rule: what a float operation gives is *raw*, and so is what is made of integers (of which the driver may know
//! that they are 0) or selected from raw values; a raw value is hidden before it goes into another float operation.
//! Integer operations, stores to memory that is not read again, and results of a kernel take raw values as they are.
//! The second operand of a difference, a quotient or a comparison is hidden in another way than the first, since
//! compilers know what `x - x` is, as long as it is no infinity. Also hidden are divisors that are literals, and all
//! zeros, infinities, NaNs and subnormal numbers, which are no literals at all. Comparisons are exact, but compilers
//! negate and swap them as if there were no NaN, so a truth that comes from one is hidden before it is negated or
//! selects between floats.

use super::builder::{Builder, Key, V};
use super::types::Reg;
use naga::{BinaryOperator, Literal};

impl Builder<'_> {
    /// Returns the value of `key`, made by `make` if no block around has it.
    fn once(&mut self, key: Key, make: impl FnOnce(&mut Self) -> V) -> V {
        if let Some(&known) = self.made.iter().rev().find_map(|table| table.get(&key)) {
            return known;
        }
        let v = make(self);
        if let Some(table) = self.made.last_mut() {
            table.insert(key, v);
        }
        v
    }
    /// Zero bits that the driver does not know.
    fn unknown_zero(&mut self, reg: Reg) -> V {
        let zero = self.zero;
        match reg {
            Reg::U32 => zero,
            Reg::Bool => self.once(Key::Bits(Reg::Bool, 0), |c| {
                let known = c.u32(0);
                c.op(BinaryOperator::NotEqual, zero, known)
            }),
            Reg::U64 => self.once(Key::Bits(Reg::U64, 0), |c| c.convert(Reg::U64, zero)),
            Reg::I32 | Reg::I64 | Reg::F32 | Reg::F64 => self.once(Key::Bits(reg, 0), |c| {
                let bits = c.unknown_zero(reg.unsigned());
                c.bits_as(reg, bits)
            }),
        }
    }
    /// A float constant by its bits.
    pub(super) fn float_bits(&mut self, reg: Reg, bits: u64) -> V {
        let normal = match reg {
            Reg::F32 => f32::from_bits(bits as u32).is_normal(),
            _ => f64::from_bits(bits).is_normal(),
        };
        match (normal, bits) {
            (true, _) => self.float_literal(reg, bits),
            (false, 0) => self.unknown_zero(reg),
            (false, _) => self.once(Key::Bits(reg, bits), |c| {
                let (zero, bits) = (c.unknown_zero(reg.unsigned()), c.int(reg.unsigned(), bits as i64));
                let made = c.op(BinaryOperator::ExclusiveOr, zero, bits);
                c.bits_as(reg, made)
            }),
        }
    }
    /// A float constant.
    pub(super) fn float(&mut self, reg: Reg, value: f64) -> V {
        match reg {
            Reg::F32 => self.float_bits(reg, u64::from((value as f32).to_bits())),
            _ => self.float_bits(reg, value.to_bits()),
        }
    }

    /// The float `v`, of which the driver does not know where it comes from.
    pub(super) fn barrier(&mut self, reg: Reg, v: V) -> V {
        self.once(Key::Barrier(v), |c| {
            let (bits, zero) = (c.bits_as(reg.unsigned(), v), c.unknown_zero(reg.unsigned()));
            let same = c.op(BinaryOperator::ExclusiveOr, bits, zero);
            c.bits_as(reg, same)
        })
    }
    /// Emits a barrier by another operation than [`Builder::barrier`], so the driver does not know that two values are
    /// equal.
    fn second_barrier(&mut self, reg: Reg, v: V) -> V {
        self.once(Key::SecondBarrier(v), |c| {
            let (bits, zero) = (c.bits_as(reg.unsigned(), v), c.unknown_zero(reg.unsigned()));
            let same = c.op(BinaryOperator::InclusiveOr, bits, zero);
            c.bits_as(reg, same)
        })
    }
    /// The integer `v`, of which the driver does not know where it comes from.
    pub(super) fn integer_barrier(&mut self, reg: Reg, v: V) -> V {
        let zero = self.unknown_zero(reg);
        self.op(BinaryOperator::ExclusiveOr, v, zero)
    }
    /// A float as it may go into a float operation.
    pub(super) fn operand(&mut self, reg: Reg, v: V) -> V {
        if self.raw.contains(&v) { self.barrier(reg, v) } else { v }
    }
    /// Notes that `v` is what a float operation gives.
    pub(super) fn raw(&mut self, v: V) -> V {
        self.raw.insert(v);
        v
    }
    /// A value as it may go into memory that is read again.
    pub(super) fn settled(&mut self, reg: Reg, v: V) -> V {
        if reg.is_float() { self.operand(reg, v) } else { v }
    }

    /// A float as it may go into a float operation as the second operand beside `first`, from which it may not differ.
    fn second(&mut self, reg: Reg, first: V, v: V) -> V {
        if v == first || self.raw.contains(&v) { self.second_barrier(reg, v) } else { v }
    }

    /// A float operation with two operands: a sum, difference, product or quotient.
    pub(super) fn float_op(&mut self, op: BinaryOperator, reg: Reg, a: V, b: V) -> V {
        let known = match self.as_literal(b) {
            // The reciprocal of a power of two is exact.
            Some(Literal::F32(divisor)) => divisor.to_bits() << 9 != 0,
            Some(Literal::F64(divisor)) => divisor.to_bits() << 12 != 0,
            _ => false,
        };
        let x = self.operand(reg, a);
        let y = match op {
            BinaryOperator::Divide if known => self.second_barrier(reg, b),
            BinaryOperator::Divide | BinaryOperator::Subtract => self.second(reg, a, b),
            _ => self.operand(reg, b),
        };
        let made = self.op(op, x, y);
        self.raw(made)
    }
    /// A comparison of floats, which is false for a NaN.
    pub(super) fn float_compare(&mut self, op: BinaryOperator, reg: Reg, a: V, b: V) -> V {
        let (x, y) = (self.operand(reg, a), self.second(reg, a, b));
        let truth = self.op(op, x, y);
        self.float_truths.insert(truth);
        truth
    }
    /// A truth as it may select between floats.
    pub(super) fn plain_truth(&mut self, truth: V) -> V {
        if !self.float_truths.contains(&truth) {
            return truth;
        }
        self.once(Key::Barrier(truth), |c| {
            let no = c.unknown_zero(Reg::Bool);
            c.op(BinaryOperator::NotEqual, truth, no)
        })
    }
    /// Emits the negation of a Bool.
    pub(super) fn not(&mut self, truth: V) -> V {
        if self.float_truths.contains(&truth) {
            let no = self.unknown_zero(Reg::Bool);
            return self.op(BinaryOperator::Equal, truth, no);
        }
        self.unary_op(naga::UnaryOperator::LogicalNot, truth)
    }
    /// An operation on truths, of which the result depends on floats if an operand does.
    pub(super) fn truth_op(&mut self, op: BinaryOperator, a: V, b: V) -> V {
        let made = self.op(op, a, b);
        if self.float_truths.contains(&a) || self.float_truths.contains(&b) {
            self.float_truths.insert(made);
        }
        made
    }
    /// `a` where the condition is true, else `b`, of any register type.
    pub(super) fn select(&mut self, reg: Reg, condition: V, a: V, b: V) -> V {
        if a == b {
            return a;
        }
        let condition = if reg.is_float() { self.plain_truth(condition) } else { condition };
        let made = self.pick(condition, a, b);
        if reg.is_float() && (self.raw.contains(&a) || self.raw.contains(&b)) {
            self.raw.insert(made);
        }
        if reg == Reg::Bool && [condition, a, b].iter().any(|v| self.float_truths.contains(v)) {
            self.float_truths.insert(made);
        }
        made
    }
}

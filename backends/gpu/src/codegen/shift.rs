//! Shifts by any amount: a negative one shifts the other way, and one that is too large leaves 0 or the sign.

use super::builder::{Builder, V};
use super::types::Reg;
use halide_backend::Interval;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use naga::{BinaryOperator, Literal, MathFunction};

impl Builder<'_> {
    /// `a` of type `ty` shifted to the left by an amount of the signed type of its width.
    pub(super) fn shift(&mut self, left: bool, ty: ScalarType, a: V, amount: V) -> V {
        let constant = match self.as_literal(amount) {
            Some(Literal::I32(n)) => Some(i64::from(n)),
            Some(Literal::I64(n)) => Some(n),
            _ => None,
        };
        if let Some(n) = constant {
            return match left == (n >= 0) {
                true => self.shift_up(ty, a, n.unsigned_abs()),
                false => self.shift_down(ty, a, n.unsigned_abs()),
            };
        }
        let counts = Reg::of_type(ty).signed();
        let zero = self.int(counts, 0);
        let forth = self.op(BinaryOperator::GreaterEqual, amount, zero);
        let distance = self.magnitude(counts, amount);
        let (up, down) = (self.shift_up_by(ty, a, distance), self.shift_down_by(ty, a, distance));
        if left { self.pick(forth, up, down) } else { self.pick(forth, down, up) }
    }
    fn shift_up(&mut self, ty: ScalarType, a: V, distance: u64) -> V {
        if distance >= ty.bits().into() {
            return self.int(Reg::of_type(ty), 0);
        }
        let exact = Interval::binary(BinOp::Shl, self.values(ty, a), Interval::point(distance.into()));
        let made = self.shift_left(a, distance as u32);
        self.wrapped(ty, exact, made)
    }
    fn shift_down(&mut self, ty: ScalarType, a: V, distance: u64) -> V {
        let (bits, signed) = (u64::from(ty.bits()), ty.is_signed_int());
        match distance >= bits {
            true if !signed => self.int(Reg::of_type(ty), 0),
            true => self.shift_right(a, ty.bits() - 1),
            false => {
                let exact = Interval::binary(BinOp::Shr, self.values(ty, a), Interval::point(distance.into()));
                let made = self.shift_right(a, distance as u32);
                self.wrapped(ty, exact, made)
            }
        }
    }
    /// Shifts by a distance in an unsigned register, which may be too large.
    fn shift_up_by(&mut self, ty: ScalarType, a: V, distance: V) -> V {
        let reg = Reg::of_type(ty);
        let zero = self.int(reg, 0);
        let (inside, distance) = self.bounded(ty, distance);
        let made = self.op(BinaryOperator::ShiftLeft, a, distance);
        let made = self.wrap(ty, made);
        self.pick(inside, made, zero)
    }
    fn shift_down_by(&mut self, ty: ScalarType, a: V, distance: V) -> V {
        let reg = Reg::of_type(ty);
        let zero = self.int(reg, 0);
        let (inside, distance) = self.bounded(ty, distance);
        let made = self.op(BinaryOperator::ShiftRight, a, distance);
        // The last distance leaves nothing but the sign.
        if reg.is_signed() { made } else { self.pick(inside, made, zero) }
    }
    /// Emits a test that a distance is below the width of `ty`, and the nearest distance that is, in 32 bits.
    fn bounded(&mut self, ty: ScalarType, distance: V) -> (V, V) {
        let reg = Reg::of_type(ty).unsigned();
        let (width, last) = (self.int(reg, ty.bits().into()), self.int(reg, i64::from(ty.bits()) - 1));
        let inside = self.op(BinaryOperator::Less, distance, width);
        let near = self.math_op(MathFunction::Min, &[distance, last]);
        (inside, if reg == Reg::U32 { near } else { self.convert(Reg::U32, near) })
    }
}

//! Integer division, total. By a constant it is a shift, or the upper half of a product with a rounded reciprocal; by other
//! values, lanes of up to 32 bits divide as floats, and those of 64 bits as [`super::divide64`] says.

use super::super::Made;
use super::super::instruction_table::Op;
use super::Emit;
use super::value::{Parts, by_bits};
use crate::codegen::{Lane, Reciprocal, int_range};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::{Expr, build};

/// The parameters of a division.
#[derive(Clone, Copy)]
pub(super) struct Division {
    lanes: usize,
    pub(super) signed: bool,
    /// Euclidean rather than rounded to zero; the same for unsigned integers.
    pub(super) euclidean: bool,
    /// The remainder rather than the quotient.
    pub(super) remainder: bool,
    /// True if the dividend is known to be non-negative.
    positive: bool,
}

const SUB: [Op; 4] = [Op::SubB, Op::SubW, Op::SubD, Op::SubQ];
const ADD: [Op; 4] = [Op::AddB, Op::AddW, Op::AddD, Op::AddQ];

impl Emit<'_> {
    /// `Div`, `Mod`, `DivToZero` or `ModToZero` of integers.
    pub(super) fn divide(&mut self, op: BinOp, ty: ScalarType, a: &Expr, b: &Expr) -> Made<Parts> {
        let constant = build::as_const(b).map(|v| v.as_i128()).or(build::as_int(b).map(i128::from));
        let d = Division {
            lanes: a.lanes() as usize,
            signed: ty.is_signed_int(),
            euclidean: matches!(op, BinOp::Div | BinOp::Mod),
            remainder: matches!(op, BinOp::Mod | BinOp::ModToZero),
            positive: int_range(a).0 >= 0,
        };
        let x = self.lanes(a)?;
        let Some(divisor) = constant else {
            let y = self.lanes(b)?;
            return self.divide_lanes(d, &x, &y);
        };
        let magnitude = divisor.unsigned_abs() as u64;
        if divisor == 0 {
            return self.splat_like(&x, 0);
        }
        if magnitude.is_power_of_two() {
            return self.divide_power(d, &x, magnitude.trailing_zeros(), divisor < 0);
        }
        // For operands of 0 or more, and quotients of them, signs do not matter.
        let lane = x.lane;
        let bits = lane.bits();
        let sign = if d.signed && !d.positive { Some(self.shift_const(true, &x, 1 - i64::from(bits))?) } else { None };
        let unsigned = match &sign {
            None => x.clone(),
            // ~x for Euclidean division, whose quotient is then flipped back, -x for the other.
            Some(sign) => {
                let flipped = self.zip_op(Op::Xor, &x, sign)?;
                if d.euclidean { flipped } else { self.zip_op(by_bits(lane, SUB), &flipped, sign)? }
            }
        };
        let width = if d.signed && (d.euclidean || d.positive) { bits - 1 } else { bits };
        let mut quotient = self.divide_unsigned(d, &unsigned, magnitude, width)?;
        if let Some(sign) = &sign {
            quotient = self.zip_op(Op::Xor, &quotient, sign)?;
            if !d.euclidean {
                quotient = self.zip_op(by_bits(lane, SUB), &quotient, sign)?;
            }
        }
        if d.remainder {
            // The remainder is that of the magnitude of the divisor.
            let divisor = self.splat_like(&x, magnitude)?;
            let product = self.int_mul(&quotient, &divisor)?;
            return self.zip_op(by_bits(lane, SUB), &x, &product);
        }
        if divisor < 0 {
            let zero = self.splat_like(&x, 0)?;
            return self.zip_op(by_bits(lane, SUB), &zero, &quotient);
        }
        Ok(quotient)
    }
    /// By 2^power or -(2^power).
    fn divide_power(&mut self, d: Division, x: &Parts, power: u32, negative: bool) -> Made<Parts> {
        let lane = x.lane;
        let bits = lane.bits();
        if d.remainder && (d.euclidean || !d.signed) {
            let below = self.splat_like(x, if power == 0 { 0 } else { u64::MAX >> (64 - power) })?;
            return self.zip_op(Op::And, x, &below);
        }
        let mut biased = x.clone();
        if d.signed && !d.euclidean && !d.positive && power > 0 {
            // Negative operands are rounded up: 2^power - 1 is added to them first.
            let sign = self.shift_const(true, x, 1 - i64::from(bits))?;
            let bias = self.shift_const(false, &sign, -i64::from(bits - power))?;
            biased = self.zip_op(by_bits(lane, ADD), x, &bias)?;
        }
        let quotient = self.shift_const(d.signed, &biased, -i64::from(power))?;
        if d.remainder {
            let multiple = self.shift_const(true, &quotient, i64::from(power))?;
            return self.zip_op(by_bits(lane, SUB), x, &multiple);
        }
        if negative {
            let zero = self.splat_like(x, 0)?;
            return self.zip_op(by_bits(lane, SUB), &zero, &quotient);
        }
        Ok(quotient)
    }
    /// Unsigned operands below 2^width by a constant that is no power of two.
    fn divide_unsigned(&mut self, d: Division, x: &Parts, divisor: u64, width: u32) -> Made<Parts> {
        match x.lane {
            // There is no room for the reciprocal, but only one quotient above 0.
            Lane::I64 if divisor > 1 << 63 => {
                let (limit, one) = (self.splat_like(x, divisor)?, self.splat_like(x, 1)?);
                let zero = self.splat_like(x, 0)?;
                let reached = self.compare_ints(BinOp::Ge, false, x, &limit)?;
                self.choose(&reached, &one, &zero)
            }
            Lane::I8 => {
                let wide = self.resize(x, d.lanes, 16, false)?;
                let quotient = self.divide_by_high_half(d.lanes, &wide, divisor, 8)?;
                self.resize(&quotient, d.lanes, 8, false)
            }
            _ => self.divide_by_high_half(d.lanes, x, divisor, width),
        }
    }
    /// With the upper half of a product: `x * reciprocal >> (bits + shift)`.
    fn divide_by_high_half(&mut self, lanes: usize, x: &Parts, divisor: u64, width: u32) -> Made<Parts> {
        let reciprocal = Reciprocal::of(divisor, x.lane.bits(), width);
        let high = if x.lane == Lane::I64 {
            let factor = self.constant_halves(x, reciprocal.factor)?;
            self.mul_high_halves(x, &factor)?
        } else {
            let factor = self.splat_like(x, reciprocal.factor)?;
            self.mul_high(lanes, false, x, &factor)?
        };
        if reciprocal.exact {
            return self.shift_const(false, &high, -i64::from(reciprocal.shift));
        }
        let rest = self.zip_op(by_bits(x.lane, SUB), x, &high)?;
        let half = self.shift_const(false, &rest, -1)?;
        let sum = self.zip_op(by_bits(x.lane, ADD), &half, &high)?;
        self.shift_const(false, &sum, 1 - i64::from(reciprocal.shift))
    }

    /// By lanes of any value: 8 and 16 bits divide as f32, 32 bits as f64. That is exact: the quotient of two integers that
    /// a float holds is never so close below an integer that rounding lifts it there.
    fn divide_lanes(&mut self, d: Division, x: &Parts, y: &Parts) -> Made<Parts> {
        let bits = x.lane.bits();
        match bits {
            8 | 16 => {
                let (x, y) = (self.resize(x, d.lanes, 32, d.signed)?, self.resize(y, d.lanes, 32, d.signed)?);
                let (a, b) = (self.map_op(Op::I32ToF32, &x)?, self.map_op(Op::I32ToF32, &y)?);
                let quotient = self.zip_op(Op::DivF32, &a, &b)?;
                // Of a division by zero nothing is kept, so what it converts to does not matter.
                let quotient = self.map_op(Op::F32ToI32, &quotient)?;
                let result = self.finish_division(d, &x, &y, &quotient)?;
                self.resize(&result, d.lanes, bits, false)
            }
            32 => {
                let double = |e: &mut Self, x| match d.signed {
                    true => e.widen(Op::I32ToF64, x, d.lanes, Lane::F64),
                    false => e.u32_to_doubles(x, d.lanes),
                };
                let (a, b) = (double(self, x)?, double(self, y)?);
                let quotient = self.zip_op(Op::DivF64, &a, &b)?;
                let quotient = self.small_doubles_to_32_bits(&quotient, d.lanes, d.signed)?;
                self.finish_division(d, x, y, &quotient)
            }
            _ => self.divide_lanes_64(d, x, y),
        }
    }
    /// From the quotient rounded to zero of 32-bit lanes to what was asked for.
    fn finish_division(&mut self, d: Division, x: &Parts, y: &Parts, quotient: &Parts) -> Made<Parts> {
        let product = self.int_mul(quotient, y)?;
        let mut rest = self.zip_op(Op::SubD, x, &product)?;
        let mut quotient = quotient.clone();
        if d.signed && d.euclidean {
            // A negative remainder becomes positive, and the quotient changes with it: one less for a positive divisor, one
            // more for a negative one.
            let (negative, sign) = (self.shift_const(true, &rest, -31)?, self.shift_const(true, y, -31)?);
            let flipped = self.zip_op(Op::Xor, y, &sign)?;
            let magnitude = self.zip_op(Op::SubD, &flipped, &sign)?;
            let more = self.zip_op(Op::And, &magnitude, &negative)?;
            let one = self.splat_like(&sign, 1)?;
            let step = self.zip_op(Op::Or, &sign, &one)?;
            let step = self.zip_op(Op::And, &step, &negative)?;
            quotient = self.zip_op(Op::SubD, &quotient, &step)?;
            rest = self.zip_op(Op::AddD, &rest, &more)?;
        }
        let result = if d.remainder { rest } else { quotient };
        let zero = self.splat_like(&result, 0)?;
        let by_zero = self.compare_ints(BinOp::Eq, false, y, &zero)?;
        self.choose(&by_zero, &zero, &result)
    }
}

//! Integer operators: wrapping, and total.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::kernel::Emit;
use super::value::{Parts, Val, by_bits};
use crate::shared::lane::Lane;
use crate::shared::lane::data;
use crate::shared::range::int_range;
use halide_backend::{Arithmetic, IntLanes, Interval, Products};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Expr, Intrinsic, build};

impl Emit<'_> {
    /// A one-operand operator on data.
    pub(super) fn unary(&mut self, op: UnOp, a: &Expr) -> Emitted<Val> {
        let ty = data(a.ty().elem);
        let counts = matches!(op, UnOp::Popcount | UnOp::Clz | UnOp::Ctz);
        if ty.is_float() && !counts && op != UnOp::Not {
            return self.float_unary(op, ty, a);
        }
        if matches!(op, UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite) {
            return refuse(format!("{op:?} of integers"));
        }
        let parts = self.lanes(a)?;
        let lane = parts.lane.as_int();
        let bits = parts.as_lane(lane);
        let made = match op {
            UnOp::Neg => {
                let zero = self.splat_like(&bits, 0)?;
                self.zip_op(by_bits(lane, SUB), &zero, &bits)?
            }
            UnOp::Not => self.invert(&bits)?,
            UnOp::Abs if !ty.is_signed_int() => bits,
            UnOp::Abs => self.map_op(by_bits(lane, [Op::AbsB, Op::AbsW, Op::AbsD, Op::AbsQ]), &bits)?,
            UnOp::Popcount | UnOp::Clz | UnOp::Ctz => self.count_bits(op, a.lanes() as usize, &bits)?,
            _ => return refuse(format!("{op:?} of {ty}")),
        };
        Ok(Val::Lanes(made.as_lane(parts.lane)))
    }
    /// All bits flipped.
    pub(super) fn invert(&mut self, a: &Parts) -> Emitted<Parts> {
        let view = a.view;
        if self.lacks(Op::Ternary, view) {
            let ones = self.splat_like(a, u64::MAX)?;
            return self.zip_op(Op::Xor, a, &ones);
        }
        self.map(a, |e, a| e.ternary(view, a, a, a, 0x0f))
    }

    /// A two-operand operator on data that is no comparison.
    pub(super) fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Emitted<Val> {
        let ty = data(a.ty().elem);
        let bitwise = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
        match op {
            BinOp::Shl | BinOp::Shr => return Ok(Val::Lanes(self.shift(op, ty, a, b)?)),
            _ if ty.is_float() && !bitwise => return Ok(Val::Lanes(self.float_binary(op, ty, a, b)?)),
            BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero => {
                return Ok(Val::Lanes(self.divide(op, ty, a, b)?));
            }
            BinOp::Mul => {
                if let Some(product) = self.known_product(a, b)? {
                    return Ok(Val::Lanes(product));
                }
            }
            _ => {}
        }
        let (x, y) = (self.lanes(a)?, self.lanes(b)?);
        Ok(Val::Lanes(self.int_binary(op, ty.is_signed_int(), &x, &y)?))
    }
    /// Operators that are the same for every integer type but for its sign. Bitwise ones also take floats.
    pub(super) fn int_binary(&mut self, op: BinOp, signed: bool, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let lane = x.lane;
        let row = match op {
            BinOp::Add => by_bits(lane, ADD),
            BinOp::Sub => by_bits(lane, SUB),
            BinOp::Mul => return self.int_mul(x, y),
            BinOp::Min | BinOp::Max => extreme(op, lane, signed),
            BinOp::BitAnd => Op::And,
            BinOp::BitOr => Op::Or,
            BinOp::BitXor => Op::Xor,
            BinOp::Absd => return self.integers(x.per()).absolute_difference(signed, x, y),
            _ => return refuse(format!("{op:?} of integers")),
        };
        self.zip_op(row, x, y)
    }
    /// Wrapping product. There is none of bytes: even and odd ones are multiplied as 16-bit lanes.
    pub(super) fn int_mul(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        match x.lane.bits() {
            16 => return self.zip_op(Op::MulW, x, y),
            32 => return self.zip_op(Op::MulD, x, y),
            64 => return self.zip_op(Op::MulQ, x, y),
            _ => {}
        }
        let (x, y) = (x.as_lane(Lane::I16), y.as_lane(Lane::I16));
        let both = self.integers(x.per()).mul_bytes(&x, &y)?;
        Ok(both.as_lane(Lane::I8))
    }

    /// `ExprKind::Intrinsic`.
    pub(super) fn intrinsic(&mut self, op: Intrinsic, args: &[Expr]) -> Emitted<Val> {
        let [a, b] = args else { return refuse(format!("{op:?} of {} operands", args.len())) };
        let ty = data(a.ty().elem);
        let (x, y) = (self.lanes(a)?, self.lanes(b)?);
        let (signed, lane, lanes) = (ty.is_signed_int(), x.lane, a.lanes() as usize);
        Ok(Val::Lanes(match op {
            Intrinsic::WideningMul => self.widened_product(ty, a, b)?,
            Intrinsic::MulHigh => self.mul_high(lanes, signed, &x, &y)?,
            Intrinsic::MulRounded => self.mul_rounded(&x, &y, [a, b].map(int_range))?,
            Intrinsic::SaturatingAdd => self.saturating(BinOp::Add, signed, lanes, &x, &y)?,
            Intrinsic::SaturatingSub => self.saturating(BinOp::Sub, signed, lanes, &x, &y)?,
            Intrinsic::RoundingHalvingAdd if !signed && lane.bits() <= 16 => {
                self.zip_op(if lane == Lane::I8 { Op::AvgB } else { Op::AvgW }, &x, &y)?
            }
            Intrinsic::RoundingHalvingAdd => self.integers(lanes).rounding_halving_add(signed, &x, &y)?,
            Intrinsic::HalvingAdd => self.integers(lanes).halving_add(signed, &x, &y)?,
        }))
    }
    /// The instruction wraps the one product that does not fit, of two least values: to the least value, which no other
    /// product comes to.
    fn mul_rounded(&mut self, x: &Parts, y: &Parts, ranges: [Interval; 2]) -> Emitted<Parts> {
        let product = self.zip_op(Op::MulRoundedW, x, y)?;
        let least = i128::from(i16::MIN);
        if ranges.iter().any(|r| r.low > least) {
            return Ok(product);
        }
        // All bits where it is the least value, else none.
        let wrapped = self.splat_like(&product, i16::MIN as u16 as u64)?;
        let one = self.splat_like(&product, 1)?;
        let other = self.zip_op(Op::Xor, &product, &wrapped)?;
        let other = self.zip_op(Op::MinUW, &other, &one)?;
        let bits = self.zip_op(Op::SubW, &other, &one)?;
        self.zip_op(Op::Xor, &product, &bits)
    }
    /// Lanes of 8 and 16 bits have instructions.
    fn saturating(&mut self, op: BinOp, signed: bool, lanes: usize, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let lane = x.lane;
        if lane.bits() > 16 {
            return self.integers(lanes).saturating(op, signed, x, y);
        }
        let ops = match (op == BinOp::Add, signed) {
            (true, true) => [Op::AddSatB, Op::AddSatW],
            (true, false) => [Op::AddSatUB, Op::AddSatUW],
            (false, true) => [Op::SubSatB, Op::SubSatW],
            (false, false) => [Op::SubSatUB, Op::SubSatUW],
        };
        self.zip_op(ops[usize::from(lane == Lane::I16)], x, y)
    }

    /// The product of expressions in lanes of twice the width. Each is widened where it is computed, so a constant is
    /// one of that width, and what stays the same in a loop is widened in front of it.
    fn widened_product(&mut self, ty: ScalarType, a: &Expr, b: &Expr) -> Emitted<Parts> {
        if ty.bits() == 64 {
            return refuse("a product of 128 bits");
        }
        let wide =
            if ty.is_signed_int() { ScalarType::signed(2 * ty.bits()) } else { ScalarType::unsigned(2 * ty.bits()) };
        let [a, b] = [a, b].map(|e| build::cast_data(wide, e.clone()));
        if let Some(product) = self.known_product(&a, &b)? {
            return Ok(product);
        }
        let (x, y) = (self.lanes(&a)?, self.lanes(&b)?);
        match ty.bits() {
            32 => self.zip_op(if ty.is_signed_int() { Op::MulWideD } else { Op::MulWideUD }, &x, &y),
            _ => self.int_mul(&x, &y),
        }
    }
    /// The product in lanes of twice the width.
    pub(super) fn widening_mul(&mut self, lanes: usize, signed: bool, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let bits = x.lane.bits();
        if bits == 64 {
            return self.int_mul(x, y);
        }
        let (x, y) = (self.resize(x, lanes, 2 * bits, signed)?, self.resize(y, lanes, 2 * bits, signed)?);
        match bits {
            32 => self.zip_op(if signed { Op::MulWideD } else { Op::MulWideUD }, &x, &y),
            _ => self.int_mul(&x, &y),
        }
    }
    /// The upper half of the product.
    pub(super) fn mul_high(&mut self, lanes: usize, signed: bool, x: &Parts, y: &Parts) -> Emitted<Parts> {
        match x.lane.bits() {
            16 => self.zip_op(if signed { Op::MulHighW } else { Op::MulHighUW }, x, y),
            8 => {
                let product = self.widening_mul(lanes, signed, x, y)?;
                let high = self.map_imm(Op::ShrW, &product, 8)?;
                self.resize(&high, lanes, 8, false)
            }
            32 => {
                let wide = if signed { Op::MulWideD } else { Op::MulWideUD };
                let even = self.zip_op(wide, x, y)?;
                let (x, y) = (self.map_imm(Op::ShrQ, x, 32)?, self.map_imm(Op::ShrQ, y, 32)?);
                let odd = self.zip_op(wide, &x, &y)?;
                let even = self.map_imm(Op::ShrQ, &even, 32)?;
                // Odd lanes of the one, even lanes of the other.
                let view = x.view;
                self.zip(&even, &odd, |e, even, odd| e.blend_odd(view, odd, even))
            }
            _ => Products::mul_high(&mut self.integers(lanes), signed, x, y),
        }
    }

    /// `Shl` or `Shr` of integers.
    fn shift(&mut self, op: BinOp, ty: ScalarType, a: &Expr, amount: &Expr) -> Emitted<Parts> {
        if ty.is_float() {
            return refuse("a shift of floats");
        }
        let x = self.lanes(a)?;
        let signed = ty.is_signed_int();
        let constant = build::as_const(amount).map(|v| v.as_i128()).or(build::as_int(amount).map(i128::from));
        if let Some(n) = constant {
            let n = n.clamp(-64, 64) as i64;
            return self.shift_const(signed, &x, if op == BinOp::Shl { n } else { -n });
        }
        let n = self.lanes(amount)?;
        if x.lane == Lane::I8 || (x.lane == Lane::I16 && self.lacks(Op::ShlEachW, x.view)) {
            // As 32-bit lanes, in which what is shifted out to the left is cut off afterwards.
            let lanes = a.lanes() as usize;
            let (wide, n) = (self.resize(&x, lanes, 32, signed)?, self.resize(&n, lanes, 32, true)?);
            let shifted = self.shift_each(op, signed, &wide, &n)?;
            return self.resize(&shifted, lanes, x.lane.bits(), false);
        }
        self.shift_each(op, signed, &x, &n)
    }
    /// Lanes by signed amounts of their own; the machine shifts everything out by amounts of the width or more, taken
    /// as unsigned integers.
    fn shift_each(&mut self, op: BinOp, signed: bool, x: &Parts, n: &Parts) -> Emitted<Parts> {
        let lane = x.lane;
        let at = lane.bits().trailing_zeros() as usize - 4;
        let zero = self.splat_like(n, 0)?;
        let back = self.zip_op(by_bits(lane, SUB), &zero, n)?;
        let (left, right) = if op == BinOp::Shl { (n, &back) } else { (&back, n) };
        let shifted = self.zip_op([Op::ShlEachW, Op::ShlEachD, Op::ShlEachQ][at], x, left)?;
        let rights = if signed {
            [Op::SarEachW, Op::SarEachD, Op::SarEachQ]
        } else {
            [Op::ShrEachW, Op::ShrEachD, Op::ShrEachQ]
        };
        let reversed = self.zip_op(rights[at], x, right)?;
        // To the right where that amount is positive. The most negative amount is its own opposite; in either direction
        // it is far out, and its own sign says which direction it is.
        let (there, here) = if op == BinOp::Shl { (&reversed, &shifted) } else { (&shifted, &reversed) };
        self.integers(x.per()).select_negative(n, there, here)
    }
    /// By a constant to the left, or to the right where it is negative.
    pub(super) fn shift_const(&mut self, signed: bool, x: &Parts, left: i64) -> Emitted<Parts> {
        self.integers(x.per()).shift(signed, x, left)
    }
    /// By a constant above 0 and below the width.
    pub(super) fn shift_left(&mut self, x: &Parts, by: u32) -> Emitted<Parts> {
        let by = i64::from(by);
        match x.lane.bits() {
            8 => self.shift_bytes(false, x, by),
            16 => self.map_imm(Op::ShlW, x, by),
            32 => self.map_imm(Op::ShlD, x, by),
            _ => self.map_imm(Op::ShlQ, x, by),
        }
    }
    /// By a constant above 0 and below the width.
    pub(super) fn shift_right(&mut self, signed: bool, x: &Parts, by: u32) -> Emitted<Parts> {
        let by = i64::from(by);
        match (x.lane.bits(), signed) {
            (8, _) => self.shift_bytes(signed, x, -by),
            (16, true) => self.map_imm(Op::SarW, x, by),
            (32, true) => self.map_imm(Op::SarD, x, by),
            (_, true) => self.map_imm(Op::SarQ, x, by),
            (16, false) => self.map_imm(Op::ShrW, x, by),
            (32, false) => self.map_imm(Op::ShrD, x, by),
            (_, false) => self.map_imm(Op::ShrQ, x, by),
        }
    }
    /// Bytes shift as 16-bit lanes; what crosses over is cut off, and the sign put back.
    fn shift_bytes(&mut self, signed: bool, x: &Parts, left: i64) -> Emitted<Parts> {
        let words = x.as_lane(Lane::I16);
        if left > 0 {
            let moved = self.map_imm(Op::ShlW, &words, left)?.as_lane(Lane::I8);
            let keep = self.splat_like(&moved, (0xff << left) & 0xff)?;
            return self.zip_op(Op::And, &moved, &keep);
        }
        let right = (-left).min(7);
        let moved = self.map_imm(Op::ShrW, &words, right)?.as_lane(Lane::I8);
        let keep = self.splat_like(&moved, 0xff >> right)?;
        let moved = self.zip_op(Op::And, &moved, &keep)?;
        if !signed {
            return Ok(moved);
        }
        let sign = self.splat_like(&moved, 0x80 >> right)?;
        let flipped = self.zip_op(Op::Xor, &moved, &sign)?;
        self.zip_op(Op::SubB, &flipped, &sign)
    }
}

/// Sums, by width.
pub(super) const ADD: [Op; 4] = [Op::AddB, Op::AddW, Op::AddD, Op::AddQ];
/// Differences, by width.
pub(super) const SUB: [Op; 4] = [Op::SubB, Op::SubW, Op::SubD, Op::SubQ];

/// The minimum or maximum.
pub(super) fn extreme(op: BinOp, lane: Lane, signed: bool) -> Op {
    by_bits(
        lane,
        match (op, signed) {
            (BinOp::Min, true) => [Op::MinSB, Op::MinSW, Op::MinSD, Op::MinSQ],
            (BinOp::Min, false) => [Op::MinUB, Op::MinUW, Op::MinUD, Op::MinUQ],
            (_, true) => [Op::MaxSB, Op::MaxSW, Op::MaxSD, Op::MaxSQ],
            (_, false) => [Op::MaxUB, Op::MaxUW, Op::MaxUD, Op::MaxUQ],
        },
    )
}

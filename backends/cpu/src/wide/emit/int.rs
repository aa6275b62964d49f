//! Integer operators: wrapping, and total.

use super::super::instruction_table::Op;
use super::super::machine::View;
use super::super::{Made, refuse};
use super::Emit;
use super::value::{Parts, Val, by_bits, data};
use crate::codegen::{Lane, int_range};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Expr, Intrinsic, build};
use regalloc2::VReg;

impl Emit<'_> {
    /// A one-operand operator on data.
    pub(super) fn unary(&mut self, op: UnOp, a: &Expr) -> Made<Val> {
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
            UnOp::Popcount | UnOp::Clz | UnOp::Ctz => self.count_bits(op, &bits)?,
            _ => return refuse(format!("{op:?} of {ty}")),
        };
        Ok(Val::Lanes(made.as_lane(parts.lane)))
    }
    /// All bits flipped.
    pub(super) fn invert(&mut self, a: &Parts) -> Made<Parts> {
        let view = a.view;
        if self.lacks(Op::Ternary, view) {
            let ones = self.splat_like(a, u64::MAX)?;
            return self.zip_op(Op::Xor, a, &ones);
        }
        self.map(a, |e, a| e.ternary(view, a, a, a, 0x0f))
    }

    /// A two-operand operator on data that is no comparison.
    pub(super) fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Made<Val> {
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
    pub(super) fn int_binary(&mut self, op: BinOp, signed: bool, x: &Parts, y: &Parts) -> Made<Parts> {
        let lane = x.lane;
        let row = match op {
            BinOp::Add => by_bits(lane, ADD),
            BinOp::Sub => by_bits(lane, SUB),
            BinOp::Mul => return self.int_mul(x, y),
            BinOp::Min | BinOp::Max => extreme(op, lane, signed),
            BinOp::BitAnd => Op::And,
            BinOp::BitOr => Op::Or,
            BinOp::BitXor => Op::Xor,
            BinOp::Absd => {
                let low = self.zip_op(extreme(BinOp::Min, lane, signed), x, y)?;
                let high = self.zip_op(extreme(BinOp::Max, lane, signed), x, y)?;
                return self.zip_op(by_bits(lane, SUB), &high, &low);
            }
            _ => return refuse(format!("{op:?} of integers")),
        };
        self.zip_op(row, x, y)
    }
    /// Wrapping product. There is none of bytes: even and odd ones are multiplied as 16-bit lanes.
    pub(super) fn int_mul(&mut self, x: &Parts, y: &Parts) -> Made<Parts> {
        match x.lane.bits() {
            16 => return self.zip_op(Op::MulW, x, y),
            32 => return self.zip_op(Op::MulD, x, y),
            64 => return self.zip_op(Op::MulQ, x, y),
            _ => {}
        }
        let (x, y) = (x.as_lane(Lane::I16), y.as_lane(Lane::I16));
        let even = self.zip_op(Op::MulW, &x, &y)?;
        let (x, y) = (self.map_imm(Op::ShrW, &x, 8)?, self.map_imm(Op::ShrW, &y, 8)?);
        let odd = self.zip_op(Op::MulW, &x, &y)?;
        let odd = self.map_imm(Op::ShlW, &odd, 8)?;
        let low = self.splat_like(&even, 0xff)?;
        let view = even.view;
        if self.lacks(Op::Ternary, view) {
            let even = self.zip_op(Op::And, &even, &low)?;
            return Ok(self.zip_op(Op::Or, &even, &odd)?.as_lane(Lane::I8));
        }
        // even & low | odd
        let pairs: Vec<_> = odd.regs.iter().zip(low.regs.iter()).map(|(o, l)| (*o, *l)).collect();
        let mut pairs = pairs.into_iter();
        let both = self.map(&even, |e, even| match pairs.next() {
            Some((odd, low)) => e.ternary(view, even, low, odd, 0xea),
            None => Ok(even),
        })?;
        Ok(both.as_lane(Lane::I8))
    }

    /// `ExprKind::Intrinsic`.
    pub(super) fn intrinsic(&mut self, op: Intrinsic, args: &[Expr]) -> Made<Val> {
        let [a, b] = args else { return refuse(format!("{op:?} of {} operands", args.len())) };
        let ty = data(a.ty().elem);
        let (x, y) = (self.lanes(a)?, self.lanes(b)?);
        let (signed, lane, lanes) = (ty.is_signed_int(), x.lane, a.lanes() as usize);
        Ok(Val::Lanes(match op {
            Intrinsic::MulHigh => self.mul_high(lanes, signed, &x, &y)?,
            Intrinsic::MulRounded => self.mul_rounded(&x, &y, [a, b].map(int_range))?,
            Intrinsic::WideningMul => self.widening_mul(lanes, signed, &x, &y)?,
            Intrinsic::SaturatingAdd | Intrinsic::SaturatingSub => self.saturating(op, signed, &x, &y)?,
            Intrinsic::RoundingHalvingAdd if !signed && lane.bits() <= 16 => {
                self.zip_op(if lane == Lane::I8 { Op::AvgB } else { Op::AvgW }, &x, &y)?
            }
            Intrinsic::RoundingHalvingAdd => {
                let (either, differ) = (self.zip_op(Op::Or, &x, &y)?, self.zip_op(Op::Xor, &x, &y)?);
                let half = self.shift_const(signed, &differ, -1)?;
                self.zip_op(by_bits(lane, SUB), &either, &half)?
            }
            Intrinsic::HalvingAdd => {
                let (both, differ) = (self.zip_op(Op::And, &x, &y)?, self.zip_op(Op::Xor, &x, &y)?);
                let half = self.shift_const(signed, &differ, -1)?;
                self.zip_op(by_bits(lane, ADD), &both, &half)?
            }
        }))
    }
    /// The instruction wraps the one product that does not fit, of two least values: to the least value, which no other
    /// product comes to.
    fn mul_rounded(&mut self, x: &Parts, y: &Parts, ranges: [(i128, i128); 2]) -> Made<Parts> {
        let product = self.zip_op(Op::MulRoundedW, x, y)?;
        let least = i128::from(i16::MIN);
        if ranges.iter().any(|r| r.0 > least) {
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
    fn saturating(&mut self, op: Intrinsic, signed: bool, x: &Parts, y: &Parts) -> Made<Parts> {
        let lane = x.lane;
        let add = op == Intrinsic::SaturatingAdd;
        if lane.bits() <= 16 {
            let ops = match (add, signed) {
                (true, true) => [Op::AddSatB, Op::AddSatW],
                (true, false) => [Op::AddSatUB, Op::AddSatUW],
                (false, true) => [Op::SubSatB, Op::SubSatW],
                (false, false) => [Op::SubSatUB, Op::SubSatUW],
            };
            return self.zip_op(ops[usize::from(lane == Lane::I16)], x, y);
        }
        match (add, signed) {
            (true, false) => {
                let room = self.invert(y)?;
                let fits = self.zip_op(extreme(BinOp::Min, lane, false), x, &room)?;
                self.zip_op(by_bits(lane, ADD), &fits, y)
            }
            (false, false) => {
                let most = self.zip_op(extreme(BinOp::Max, lane, false), x, y)?;
                self.zip_op(by_bits(lane, SUB), &most, y)
            }
            (_, true) => {
                let wrapped = self.zip_op(by_bits(lane, if add { ADD } else { SUB }), x, y)?;
                let top = i64::from(lane.bits()) - 1;
                let sign = self.shift_const(true, x, -top)?;
                let most = self.splat_like(x, (1u64 << top) - 1)?;
                let extreme = self.zip_op(Op::Xor, &sign, &most)?;
                let regs = (0..x.regs.len()).map(|i| {
                    let over = self.overflow(add, x.view, x.regs[i], y.regs[i], wrapped.regs[i])?;
                    let over = self.sign_mask(lane, x.view, over)?;
                    self.blend(lane, x.view, over, extreme.regs[i], wrapped.regs[i])
                });
                let regs = regs.collect::<Made<Vec<_>>>()?;
                Ok(Parts { regs: regs.into(), ..x.clone() })
            }
        }
    }

    /// Lanes whose top bit says that a sum or difference did not fit: a sum's sign differs from both operands', a difference's
    /// from x's, whose differs from y's.
    fn overflow(&mut self, add: bool, view: View, x: VReg, y: VReg, wrapped: VReg) -> Made<VReg> {
        if !self.lacks(Op::Ternary, view) {
            return self.ternary(view, x, y, wrapped, if add { 0x42 } else { 0x18 });
        }
        let changed = self.op2(Op::Xor, view, x, wrapped)?;
        let other = self.op2(Op::Xor, view, y, if add { wrapped } else { x })?;
        self.op2(Op::And, view, changed, other)
    }

    /// The product in lanes of twice the width.
    pub(super) fn widening_mul(&mut self, lanes: usize, signed: bool, x: &Parts, y: &Parts) -> Made<Parts> {
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
    pub(super) fn mul_high(&mut self, lanes: usize, signed: bool, x: &Parts, y: &Parts) -> Made<Parts> {
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
            _ => self.mul_high_64(signed, x, y),
        }
    }

    /// `Shl` or `Shr` of integers.
    fn shift(&mut self, op: BinOp, ty: ScalarType, a: &Expr, amount: &Expr) -> Made<Parts> {
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
    /// Lanes by signed amounts of their own; the machine shifts everything out by amounts of the width or more, taken as
    /// unsigned integers.
    fn shift_each(&mut self, op: BinOp, signed: bool, x: &Parts, n: &Parts) -> Made<Parts> {
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
        let regs = (0..x.regs.len()).map(|i| {
            // To the right where that amount is positive. The most negative amount is its own opposite; in either
            // direction it is far out, and its own sign says which direction it is.
            let negative = self.sign_mask(lane, x.view, n.regs[i])?;
            let (there, here) = if op == BinOp::Shl { (&reversed, &shifted) } else { (&shifted, &reversed) };
            self.blend(lane, x.view, negative, there.regs[i], here.regs[i])
        });
        let regs = regs.collect::<Made<Vec<_>>>()?;
        Ok(Parts { regs: regs.into(), ..x.clone() })
    }
    /// By a constant to the left, or to the right where it is negative.
    pub(super) fn shift_const(&mut self, signed: bool, x: &Parts, left: i64) -> Made<Parts> {
        let bits = i64::from(x.lane.bits());
        if left == 0 {
            return Ok(x.clone());
        }
        if left >= bits || (left <= -bits && !signed) {
            return self.splat_like(x, 0);
        }
        if x.lane == Lane::I8 {
            return self.shift_bytes(signed, x, left);
        }
        let at = x.lane.bits().trailing_zeros() as usize - 4;
        match (left > 0, signed) {
            (true, _) => self.map_imm([Op::ShlW, Op::ShlD, Op::ShlQ][at], x, left),
            (false, true) => self.map_imm([Op::SarW, Op::SarD, Op::SarQ][at], x, (-left).min(bits - 1)),
            (false, false) => self.map_imm([Op::ShrW, Op::ShrD, Op::ShrQ][at], x, -left),
        }
    }
    /// Bytes shift as 16-bit lanes; what crosses over is cut off, and the sign put back.
    fn shift_bytes(&mut self, signed: bool, x: &Parts, left: i64) -> Made<Parts> {
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

const ADD: [Op; 4] = [Op::AddB, Op::AddW, Op::AddD, Op::AddQ];
const SUB: [Op; 4] = [Op::SubB, Op::SubW, Op::SubD, Op::SubQ];

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

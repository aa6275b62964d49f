//! Comparisons, and truth in mask registers.

use super::super::machine::{Arg, View};
use super::super::rows::Op;
use super::super::{Made, refuse};
use super::Emit;
use super::float::pick;
use super::index::is_general;
use super::value::{Mask, Parts, Val, by_bits, data, per_part, shape};
use crate::codegen::Lane;
use halide_core::ops::{BinOp, UnOp};
use halide_sched::ir::Expr;
use iced_x86::Code;
use regalloc2::VReg;

/// What a comparison of floats asks; a NaN is only ever unordered, or unequal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Unordered,
}

impl Emit<'_> {
    /// A comparison of data or of Index vectors.
    pub(super) fn compare(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Made<Val> {
        let ty = data(a.ty().elem);
        let (x, y) = match ty.is_float() {
            true => (self.floats(ty, a)?, self.floats(ty, b)?),
            false => (self.lanes(a)?, self.lanes(b)?),
        };
        let mask = if ty.is_float() {
            let (order, x, y) = match op {
                BinOp::Eq => (Order::Equal, &x, &y),
                BinOp::Ne => (Order::NotEqual, &x, &y),
                BinOp::Lt => (Order::Less, &x, &y),
                BinOp::Le => (Order::LessOrEqual, &x, &y),
                BinOp::Gt => (Order::Less, &y, &x),
                _ => (Order::LessOrEqual, &y, &x),
            };
            self.compare_floats(order, x, y)?
        } else {
            self.compare_ints(op, ty.is_signed_int(), &x, &y)?
        };
        self.truth_value(mask, a.lanes())
    }
    /// Truth as what an expression of so many lanes has: a scalar's in a general register.
    pub(super) fn truth_value(&mut self, mask: Mask, lanes: u16) -> Made<Val> {
        if lanes > 1 {
            return Ok(Val::Mask(mask));
        }
        let bits = self.made(Code::VEX_Kmovd_r32_kr, View::G32, &[Arg::Use(mask.regs[0], View::K)]);
        let to = self.register(View::G64);
        self.push(Code::And_rm64_imm32, vec![Arg::Mod { to, from: bits, view: View::G64 }, Arg::Imm(1)]);
        Ok(Val::Scalar(to))
    }
    pub(super) fn compare_floats(&mut self, order: Order, x: &Parts, y: &Parts) -> Made<Mask> {
        let predicate = match order {
            Order::Equal => 0,
            Order::Less => 1,
            Order::LessOrEqual => 2,
            Order::Unordered => 3,
            Order::NotEqual => 4,
        };
        self.compare_by(pick(x.lane, Op::CompareF32, Op::CompareF64), predicate, x, y)
    }
    pub(super) fn compare_ints(&mut self, op: BinOp, signed: bool, x: &Parts, y: &Parts) -> Made<Mask> {
        let predicate = match op {
            BinOp::Eq => 0,
            BinOp::Lt => 1,
            BinOp::Le => 2,
            BinOp::Ne => 4,
            BinOp::Ge => 5,
            _ => 6,
        };
        let rows = if signed {
            [Op::CompareSB, Op::CompareSW, Op::CompareSD, Op::CompareSQ]
        } else {
            [Op::CompareUB, Op::CompareUW, Op::CompareUD, Op::CompareUQ]
        };
        self.compare_by(by_bits(x.lane, rows), predicate, x, y)
    }
    fn compare_by(&mut self, row: Op, predicate: i64, x: &Parts, y: &Parts) -> Made<Mask> {
        let code = self.code(row, x.view)?;
        let view = x.view;
        let pairs: Vec<(VReg, VReg)> = x.regs.iter().copied().zip(y.regs.iter().copied()).collect();
        let regs = pairs
            .into_iter()
            .map(|(a, b)| self.made(code, View::K, &[Arg::Use(a, view), Arg::Use(b, view), Arg::Imm(predicate)]));
        let regs = regs.collect();
        Ok(Mask { per: x.per(), regs })
    }

    // Masks.

    fn mask2(&mut self, code: Code, a: VReg, b: VReg) -> VReg {
        self.made(code, View::K, &[Arg::Use(a, View::K), Arg::Use(b, View::K)])
    }
    pub(super) fn mask_and(&mut self, a: VReg, b: VReg) -> VReg {
        self.mask2(Code::VEX_Kandq_kr_kr_kr, a, b)
    }
    /// A mask shifted to the right.
    pub(super) fn mask_from(&mut self, mask: VReg, first: usize) -> VReg {
        if first == 0 {
            return mask;
        }
        self.made(Code::VEX_Kshiftrq_kr_kr_imm8, View::K, &[Arg::Use(mask, View::K), Arg::Imm(first as i64)])
    }
    /// The same truth with `per` lanes in each register.
    pub(super) fn recut(&mut self, mask: &Mask, lanes: usize, per: usize) -> Made<Mask> {
        if mask.per == per {
            return Ok(mask.clone());
        }
        let count = lanes.div_ceil(per);
        let regs = (0..count).map(|i| {
            let first = i * per;
            if per < mask.per {
                return Ok(self.mask_from(mask.regs[first / mask.per], first % mask.per));
            }
            let sources = per.min(lanes - first).div_ceil(mask.per);
            let mut sum = mask.regs[first / mask.per];
            if sources > 1 {
                sum = self.cut(sum, mask.per)?;
            }
            for k in 1..sources {
                let next = mask.regs[first / mask.per + k];
                let next = if k + 1 < sources { self.cut(next, mask.per)? } else { next };
                let shift = Arg::Imm((k * mask.per) as i64);
                let moved = self.made(Code::VEX_Kshiftlq_kr_kr_imm8, View::K, &[Arg::Use(next, View::K), shift]);
                sum = self.mask2(Code::VEX_Korq_kr_kr_kr, sum, moved);
            }
            Ok(sum)
        });
        Ok(Mask { per, regs: regs.collect::<Made<Vec<_>>>()?.into() })
    }
    /// Only the first `count` lanes of a mask.
    pub(super) fn cut(&mut self, mask: VReg, count: usize) -> Made<VReg> {
        if count >= 64 {
            return Ok(mask);
        }
        let first = self.first_lanes(count)?;
        Ok(self.mask_and(mask, first))
    }
    /// Lanes that are not 0, of bytes.
    pub(super) fn bytes_to_mask(&mut self, bytes: &Parts) -> Made<Mask> {
        let code = self.code(Op::TestB, bytes.view)?;
        let view = bytes.view;
        let regs: Vec<VReg> = bytes.regs.to_vec();
        let regs =
            regs.into_iter().map(|r| self.made(code, View::K, &[Arg::Use(r, view), Arg::Use(r, view)])).collect();
        Ok(Mask { per: bytes.per(), regs })
    }
    /// Lanes with these bits where the mask is true, and 0 elsewhere.
    pub(super) fn mask_to_lanes(&mut self, mask: &Mask, lane: Lane, lanes: usize, bits: u64) -> Made<Parts> {
        let (view, _) = shape(lane, lanes);
        let mask = self.recut(mask, lanes, per_part(lane, view))?;
        let ones = self.splat(lane, view, bits)?;
        let code = self.code(by_bits(lane, [Op::LoadB, Op::LoadW, Op::LoadD, Op::LoadQ]), view)?;
        let masks: Vec<VReg> = mask.regs.to_vec();
        let regs =
            masks.into_iter().map(|m| self.made(code, view, &[Arg::ZeroMask(m), Arg::Use(ones, view)])).collect();
        Ok(Parts { lane, view, regs })
    }

    // Operators on truth.

    pub(super) fn bool_unary(&mut self, op: UnOp, a: &Expr) -> Made<Val> {
        if !matches!(op, UnOp::Not) {
            return refuse(format!("{op:?} of truths"));
        }
        match self.eval(a)? {
            Val::Scalar(v) => Ok(Val::Scalar(self.scalar_not(v))),
            Val::Mask(mask) => {
                let regs: Vec<VReg> = mask.regs.to_vec();
                let regs = regs
                    .into_iter()
                    .map(|m| self.made(Code::VEX_Knotq_kr_kr, View::K, &[Arg::Use(m, View::K)]))
                    .collect();
                Ok(Val::Mask(Mask { regs, ..mask }))
            }
            Val::Lanes(_) => refuse("truth in data lanes"),
        }
    }
    pub(super) fn bool_binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Made<Val> {
        let (x, y) = match (self.eval(a)?, self.eval(b)?) {
            (Val::Scalar(x), Val::Scalar(y)) => return Ok(Val::Scalar(self.scalar_truth(op, x, y)?)),
            (Val::Mask(x), Val::Mask(y)) => (x, y),
            _ => return refuse("truths of different kinds"),
        };
        // The finer cut, which needs no joining.
        let (lanes, per) = (a.lanes() as usize, x.per.min(y.per));
        let (mut x, mut y) = (self.recut(&x, lanes, per)?, self.recut(&y, lanes, per)?);
        if op == BinOp::Gt {
            std::mem::swap(&mut x, &mut y);
        }
        let code = match op {
            BinOp::BitAnd | BinOp::Min | BinOp::Mul => Code::VEX_Kandq_kr_kr_kr,
            BinOp::BitOr | BinOp::Max => Code::VEX_Korq_kr_kr_kr,
            BinOp::BitXor | BinOp::Ne => Code::VEX_Kxorq_kr_kr_kr,
            BinOp::Eq => Code::VEX_Kxnorq_kr_kr_kr,
            // The first is inverted.
            BinOp::Lt | BinOp::Gt => Code::VEX_Kandnq_kr_kr_kr,
            _ => return refuse(format!("{op:?} of truths")),
        };
        let pairs: Vec<(VReg, VReg)> = x.regs.iter().copied().zip(y.regs.iter().copied()).collect();
        Ok(Val::Mask(Mask { per, regs: pairs.into_iter().map(|(a, b)| self.mask2(code, a, b)).collect() }))
    }

    /// `ExprKind::Select`.
    pub(super) fn select(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Made<Val> {
        if is_general(a) {
            return self.choose_scalar(c, a, b);
        }
        if a.ty().is_bool() {
            return refuse("a choice of truths");
        }
        let (x, y) = (self.lanes(a)?, self.lanes(b)?);
        let mask = match self.eval(c)? {
            Val::Mask(mask) => self.recut(&mask, a.lanes() as usize, x.per())?,
            Val::Scalar(v) => {
                let ones = self.negated(v);
                let mask = self.mask_of_general(ones);
                Mask { per: x.per(), regs: x.regs.iter().map(|_| mask).collect() }
            }
            Val::Lanes(_) => return refuse("truth in data lanes"),
        };
        Ok(Val::Lanes(self.choose(&mask, &x, &y)?))
    }
}

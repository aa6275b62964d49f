//! Comparisons, and choices by them.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::{Arg, View};
use super::index::is_general;
use super::int::extreme;
use super::kernel::Emit;
use super::value::{Mask, Order, Parts, Val, by_bits, pick};
use crate::shared::lane::Lane;
use crate::shared::lane::data;
use halide_core::ops::BinOp;
use halide_ir::Expr;
use regalloc2::VReg;

impl Emit<'_> {
    /// A comparison of data or of Index vectors.
    pub(super) fn compare(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Emitted<Val> {
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
        self.mask_value(mask, a.lanes())
    }
    pub(super) fn compare_floats(&mut self, order: Order, x: &Parts, y: &Parts) -> Emitted<Mask> {
        self.compare_by(x, y, |e, a, b| e.compare_float(x.lane, x.view, order, a, b))
    }
    /// A comparison of floats in one register.
    pub(super) fn compare_float(&mut self, lane: Lane, view: View, order: Order, a: VReg, b: VReg) -> Emitted<VReg> {
        let predicate = match order {
            Order::Equal => 0,
            Order::Less => 1,
            Order::LessOrEqual => 2,
            Order::Unordered => 3,
            Order::NotEqual => 4,
        };
        if self.body.evex {
            return self.compare_masked(pick(lane, Op::CompareF32, Op::CompareF64), view, predicate, a, b);
        }
        let args = [Arg::Use(a, view), Arg::Use(b, view), Arg::Imm(predicate)];
        self.op(pick(lane, Op::TruthF32, Op::TruthF64), view, &args)
    }
    pub(super) fn compare_ints(&mut self, op: BinOp, signed: bool, x: &Parts, y: &Parts) -> Emitted<Mask> {
        self.compare_by(x, y, |e, a, b| e.compare_int(x.lane, x.view, op, signed, a, b))
    }
    fn compare_int(&mut self, lane: Lane, view: View, op: BinOp, signed: bool, a: VReg, b: VReg) -> Emitted<VReg> {
        if !self.body.evex {
            return self.compare_int_lanes(lane, view, op, signed, a, b);
        }
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
        self.compare_masked(by_bits(lane, rows), view, predicate, a, b)
    }
    fn compare_masked(&mut self, row: Op, view: View, predicate: i64, a: VReg, b: VReg) -> Emitted<VReg> {
        let code = self.code(row, view)?;
        Ok(self.result_of(code, View::K, &[Arg::Use(a, view), Arg::Use(b, view), Arg::Imm(predicate)]))
    }
    /// AVX2 knows whether lanes are equal, and which of two signed ones is greater.
    fn compare_int_lanes(
        &mut self,
        lane: Lane,
        view: View,
        op: BinOp,
        signed: bool,
        a: VReg,
        b: VReg,
    ) -> Emitted<VReg> {
        let equal = by_bits(lane, [Op::EqualB, Op::EqualW, Op::EqualD, Op::EqualQ]);
        let greater = by_bits(lane, [Op::GreaterB, Op::GreaterW, Op::GreaterD, Op::GreaterQ]);
        let (made, opposite) = match op {
            BinOp::Eq => (self.op2(equal, view, a, b)?, false),
            BinOp::Ne => (self.op2(equal, view, a, b)?, true),
            _ if signed => match op {
                BinOp::Gt => (self.op2(greater, view, a, b)?, false),
                BinOp::Lt => (self.op2(greater, view, b, a)?, false),
                BinOp::Le => (self.op2(greater, view, a, b)?, true),
                _ => (self.op2(greater, view, b, a)?, true),
            },
            _ if lane == Lane::I64 => {
                // Of numbers with the top bit flipped, signed order is that of unsigned ones.
                let top = self.splat(lane, view, 1 << 63)?;
                let (a, b) = (self.op2(Op::Xor, view, a, top)?, self.op2(Op::Xor, view, b, top)?);
                return self.compare_int_lanes(lane, view, op, true, a, b);
            }
            _ => {
                // The larger of both is the first where that is at least the second.
                let which = if matches!(op, BinOp::Ge | BinOp::Lt) { BinOp::Max } else { BinOp::Min };
                let most = self.op2(extreme(which, lane, false), view, a, b)?;
                (self.op2(equal, view, most, a)?, matches!(op, BinOp::Lt | BinOp::Gt))
            }
        };
        if opposite { self.mask_not(view, made) } else { Ok(made) }
    }
    fn compare_by(
        &mut self,
        x: &Parts,
        y: &Parts,
        mut compare: impl FnMut(&mut Self, VReg, VReg) -> Emitted<VReg>,
    ) -> Emitted<Mask> {
        let regs = x.regs.iter().zip(y.regs.iter()).map(|(a, b)| compare(self, *a, *b)).collect::<Emitted<Vec<_>>>()?;
        Ok(Mask { lane: x.lane.as_int(), view: x.view, regs: regs.into() })
    }

    /// `ExprKind::Select`.
    pub(super) fn select(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Emitted<Val> {
        if is_general(a) {
            return self.choose_scalar(c, a, b);
        }
        if a.ty().is_bool() {
            return refuse("a choice of truths");
        }
        let (x, y) = (self.lanes(a)?, self.lanes(b)?);
        let mask = match self.eval(c)? {
            Val::Mask(mask) => self.recut(&mask, a.lanes() as usize, x.lane)?,
            Val::Scalar(v) => self.mask_of_truth(v, x.lane, a.lanes() as usize)?,
            Val::Lanes(_) => return refuse("truth in data lanes"),
        };
        Ok(Val::Lanes(self.choose(&mask, &x, &y)?))
    }
}

//! Float operators: IEEE, and the language's minimum and maximum.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::Arg;
use super::kernel::Emit;
use super::lane_ops::Floats;
use super::places::Place;
use super::value::{Order, Parts, Val, pick};
use crate::shared::lane::Lane;
use crate::shared::range::float_range;
use halide_backend::{FloatLanes, NanRule};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Expr, ExprKind};

impl Emit<'_> {
    /// A one-operand operator on floats that is not about their bits.
    pub(super) fn float_unary(&mut self, op: UnOp, ty: ScalarType, a: &Expr) -> Emitted<Val> {
        let x = self.floats(ty, a)?;
        let lane = x.lane;
        let made = match op {
            UnOp::Neg => self.flip_sign(&x)?,
            UnOp::Abs => self.magnitude(&x)?,
            UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc => self.round(op, &x)?,
            UnOp::Sqrt => self.map_op(pick(lane, Op::SqrtF32, Op::SqrtF64), &x)?,
            UnOp::IsNan => return self.truth(&x, &x, Order::Unordered, a),
            UnOp::IsInf | UnOp::IsFinite => {
                let order = if op == UnOp::IsInf { BinOp::Eq } else { BinOp::Lt };
                let mask = Floats(self).against_infinity(order, &x)?;
                return self.mask_value(mask, a.lanes());
            }
            UnOp::Not | UnOp::Popcount | UnOp::Clz | UnOp::Ctz => return refuse(format!("{op:?} of floats")),
        };
        Ok(Val::Lanes(self.rounded_to(ty, a.lanes(), made)?))
    }
    /// Rounds the result of an operation on lanes of `floats` to its type, which may be a half.
    pub(super) fn rounded_to(&mut self, ty: ScalarType, lanes: u16, made: Parts) -> Emitted<Parts> {
        if ty.bits() == 16 { self.f32_to_half(ty, lanes as usize, &made) } else { Ok(made) }
    }
    /// The truth of a comparison of floats, as wide as `of`.
    fn truth(&mut self, x: &Parts, y: &Parts, order: Order, of: &Expr) -> Emitted<Val> {
        let mask = self.compare_floats(order, x, y)?;
        self.mask_value(mask, of.lanes())
    }
    /// Rounded to an integer.
    pub(super) fn round(&mut self, op: UnOp, x: &Parts) -> Emitted<Parts> {
        let mode = match op {
            UnOp::Floor => 1,
            UnOp::Ceil => 2,
            UnOp::Trunc => 3,
            _ => 0,
        };
        // Bit 3: the flag of inexact results stays as it is.
        self.map_imm(pick(x.lane, Op::RoundF32, Op::RoundF64), x, mode | 8)
    }
    fn flip_sign(&mut self, x: &Parts) -> Emitted<Parts> {
        let sign = self.splat_like(&x.as_lane(x.lane.as_int()), 1 << (x.lane.bits() - 1))?;
        self.zip_op(Op::Xor, x, &sign)
    }
    pub(super) fn magnitude(&mut self, x: &Parts) -> Emitted<Parts> {
        let rest = self.splat_like(&x.as_lane(x.lane.as_int()), (1u64 << (x.lane.bits() - 1)) - 1)?;
        self.zip_op(Op::And, x, &rest)
    }
    /// Lanes that compute: f32 for halves.
    pub(super) fn floats(&mut self, ty: ScalarType, a: &Expr) -> Emitted<Parts> {
        let parts = self.lanes(a)?;
        if ty.bits() == 16 { self.half_to_f32(ty, a.lanes() as usize, &parts) } else { Ok(parts) }
    }

    /// A two-operand operator on floats that is neither a comparison nor about their bits.
    pub(super) fn float_binary(&mut self, op: BinOp, ty: ScalarType, a: &Expr, b: &Expr) -> Emitted<Parts> {
        let made = self.float_operation(op, ty, a, b)?;
        self.rounded_to(ty, a.lanes(), made)
    }
    fn float_operation(&mut self, op: BinOp, ty: ScalarType, a: &Expr, b: &Expr) -> Emitted<Parts> {
        let (x, y) = (self.floats(ty, a)?, self.floats(ty, b)?);
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => Floats(self).arithmetic(op, &x, &y),
            BinOp::Div | BinOp::DivToZero => Floats(self).arithmetic(BinOp::Div, &x, &y),
            BinOp::Mod | BinOp::ModToZero => Floats(self).remainder(&x, &y),
            BinOp::Absd => Floats(self).absolute_difference(&x, &y),
            BinOp::Min | BinOp::Max => Floats(self).min_max(op, NanRule::new(float_range(a), float_range(b)), &x, &y),
            _ => refuse(format!("{op:?} of floats")),
        }
    }

    /// `a * b + c`, rounded once; for halves, as f32. Instructions take the negative of the product or of `c`.
    pub(super) fn fused(&mut self, ty: ScalarType, a: &Expr, b: &Expr, c: &Expr) -> Emitted<Parts> {
        let ((a, less_a), (b, less_b), (c, less)) = (magnitude_of(a), magnitude_of(b), magnitude_of(c));
        // The product's second operand and a sum that is not kept can be memory.
        let (a, b) = if self.in_memory(a) && !self.in_memory(b) { (b, a) } else { (a, b) };
        let keeps_sum = self.in_memory(c) || matches!(c.kind(), ExprKind::Broadcast(_) | ExprKind::Const(_));
        let (x, y, z) = (self.floats(ty, a)?, self.floats(ty, b)?, self.floats(ty, c)?);
        let view = x.view;
        let op = fused_op(keeps_sum, less_a != less_b, less, x.lane);
        let mut regs = Vec::new();
        for i in 0..x.regs.len() {
            let (x, y, z) = (x.regs[i], y.regs[i], z.regs[i]);
            let (changed, rest) = if keeps_sum { (x, [y, z]) } else { (z, [x, y]) };
            regs.push(self.op_mod(op, view, changed, &rest.map(|r| Arg::Use(r, view)))?);
            self.last_folds(view.bytes());
        }
        let made = Parts { regs: regs.into(), ..x };
        self.rounded_to(ty, a.lanes(), made)
    }

    /// Returns true if lanes are loaded from memory as they are.
    fn in_memory(&self, e: &Expr) -> bool {
        let ExprKind::Load { buf, mask: None, .. } = e.kind() else { return false };
        !matches!(self.slots.places.get(buf), Some(Place::Registers))
    }
}

/// An expression, or what it is the negative of; true for the latter.
fn magnitude_of(e: &Expr) -> (&Expr, bool) {
    match e.kind() {
        ExprKind::Unary(UnOp::Neg, positive) => (positive, true),
        _ => (e, false),
    }
}

/// The instruction that multiplies and adds: over the sum, or over a factor if it `keeps_sum`; with the negative of the
/// product, and of the sum.
fn fused_op(keeps_sum: bool, less_product: bool, less_sum: bool, lane: Lane) -> Op {
    let (single, double) = match (keeps_sum, less_product, less_sum) {
        (false, false, false) => (Op::AddMul231F32, Op::AddMul231F64),
        (false, true, false) => (Op::SubMul231F32, Op::SubMul231F64),
        (false, false, true) => (Op::MulSub231F32, Op::MulSub231F64),
        (false, true, true) => (Op::NegMulSub231F32, Op::NegMulSub231F64),
        (true, false, false) => (Op::MulAdd213F32, Op::MulAdd213F64),
        (true, true, false) => (Op::NegMulAdd213F32, Op::NegMulAdd213F64),
        (true, false, true) => (Op::MulSub213F32, Op::MulSub213F64),
        (true, true, true) => (Op::NegMulSub213F32, Op::NegMulSub213F64),
    };
    pick(lane, single, double)
}

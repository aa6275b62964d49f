//! Shifts by any amount: negative reverses, the width or more shifts everything out.

use super::func::Func;
use super::value::Parts;
use crate::shared::lane::{Lane, data};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_backend::IntLanes;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::{Expr, ExprKind, build};

impl Func<'_> {
    /// `Shl` or `Shr` of integers (floats by their bits).
    pub(super) fn shift(&mut self, op: BinOp, ty: ScalarType, a: &Expr, amount: &Expr) -> Parts {
        let (lane, lanes) = (Lane::of_data(ty).as_int(), a.lanes());
        let signed = ty.is_signed_int();
        let parts = self.data(a);
        let x = self.cast_parts(&parts, lane);
        let constant = build::as_const(amount).map(|v| v.as_i128()).or(build::as_int(amount).map(i128::from));
        let shifted = if let Some(n) = constant {
            let n = n.clamp(-64, 64) as i64;
            let left = if op == BinOp::Shl { n } else { -n };
            {
                let Ok(made) = self.integers(lane, lanes).shift(signed, &x, left);
                made
            }
        } else if let (ExprKind::Broadcast(n), true) = (amount.kind(), lanes > 1) {
            let n = self.amount(op, n);
            self.shift_uniform(lane, signed, &x, n)
        } else {
            let amount_lane = Lane::of_elem(amount.ty().elem);
            let n = self.data(amount);
            self.per_lane(lanes, &[(lane, &x), (amount_lane, &n)], lane, |f, v| {
                let n = f.left_amount(op, v[1]);
                f.shift_scalar(lane, signed, v[0], n)
            })
        };
        self.cast_parts(&shifted, Lane::of_data(ty))
    }
    /// A scalar amount to the left, as i64.
    fn amount(&mut self, op: BinOp, e: &Expr) -> Value {
        debug_assert!(!data(e.ty().elem).is_float());
        let n = self.scalar(e);
        self.left_amount(op, n)
    }
    fn left_amount(&mut self, op: BinOp, n: Value) -> Value {
        let n = if self.ty(n) == types::I64 { n } else { self.ins().sextend(types::I64, n) };
        if op == BinOp::Shl {
            return n;
        }
        // The most negative amount stays what it is when negated: far out in either direction.
        let most = self.index(i64::MAX);
        let n = self.ins().ineg(n);
        let overflow = self.icmp_const(IntCC::Equal, n, i64::MIN as u64);
        self.choose(overflow, most, n)
    }
    /// Vectors by one i64 amount to the left.
    fn shift_uniform(&mut self, lane: Lane, signed: bool, x: &Parts, left: Value) -> Parts {
        let bits = i64::from(lane.bits());
        let right = self.ins().ineg(left);
        let ones = |f: &mut Self, truth: Value| {
            let ones = f.ins().bmask(lane.scalar(), truth);
            f.splat(lane.vector(), ones)
        };
        let within = self.icmp_const(IntCC::UnsignedLessThan, left, bits as u64);
        let keep_left = ones(self, within);
        let negative = self.icmp_const(IntCC::SignedLessThan, left, 0);
        let last = self.index(bits - 1);
        let (amount, keep_right) = if signed {
            let amount = self.ins().umin(right, last);
            (amount, ones(self, negative))
        } else {
            let fits = self.icmp_const(IntCC::UnsignedLessThan, right, bits as u64);
            let both = self.ins().band(negative, fits);
            (right, ones(self, both))
        };
        self.map(x, |f, v| {
            let l = f.ins().ishl(v, left);
            let l = f.ins().band(l, keep_left);
            let r = if signed { f.ins().sshr(v, amount) } else { f.ins().ushr(v, amount) };
            let r = f.ins().band(r, keep_right);
            f.ins().bor(l, r)
        })
    }
    /// A scalar by an i64 amount to the left.
    fn shift_scalar(&mut self, lane: Lane, signed: bool, v: Value, left: Value) -> Value {
        let bits = lane.bits() as u64;
        let ty = lane.scalar();
        let zero = self.constant(ty, 0);
        let right = self.ins().ineg(left);
        let l = self.ins().ishl(v, left);
        let within = self.icmp_const(IntCC::UnsignedLessThan, left, bits);
        let l = self.choose(within, l, zero);
        let r = if signed {
            let last = self.index(bits as i64 - 1);
            let amount = self.ins().umin(right, last);
            self.ins().sshr(v, amount)
        } else {
            let r = self.ins().ushr(v, right);
            let within = self.icmp_const(IntCC::UnsignedLessThan, right, bits);
            self.choose(within, r, zero)
        };
        let negative = self.icmp_const(IntCC::SignedLessThan, left, 0);
        self.choose(negative, r, l)
    }
}

//! Operators on truth: `Bool` computes as a one-bit unsigned integer.

use super::func::Func;
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use cranelift_codegen::ir::{InstBuilder, Value};
use halide_backend::{TruthOp, truth_op};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::Expr;

impl Func<'_> {
    /// A one-operand operator on `Bool`.
    pub(super) fn bool_unary(&mut self, op: UnOp, a: &Expr) -> Val {
        let lanes = a.lanes();
        match op {
            UnOp::Not | UnOp::Clz | UnOp::Ctz => {
                let lane = self.natural_mask(a).unwrap_or(Lane::I8);
                let parts = self.truth(a, lane);
                let flipped = self.map(&parts, |f, v| f.bool_not(v));
                self.truth_val(lane, flipped, lanes)
            }
            UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite => {
                let all = halide_core::value::Scalar::bool(op == UnOp::IsFinite);
                self.const_lanes(all, lanes)
            }
            _ => self.eval(a),
        }
    }
    /// A two-operand operator on `Bool`.
    pub(super) fn bool_binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Val {
        let lanes = a.lanes();
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            return self.bool_shift(a, b);
        }
        let lane = self.natural_mask(a).or_else(|| self.natural_mask(b)).unwrap_or(Lane::I8);
        let (x, y) = (self.truth(a, lane), self.truth(b, lane));
        let parts = self.zip(&x, &y, |f, x, y| f.bool_op(op, x, y));
        self.truth_val(lane, parts, lanes)
    }
    fn bool_op(&mut self, op: BinOp, x: Value, y: Value) -> Value {
        let Some((function, swapped)) = truth_op(op) else { return x };
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        match function {
            TruthOp::Never => self.ins().bxor(x, x),
            TruthOp::And => self.ins().band(x, y),
            TruthOp::Or => self.ins().bor(x, y),
            TruthOp::Xor => self.ins().bxor(x, y),
            TruthOp::Same => {
                let differ = self.ins().bxor(x, y);
                self.bool_not(differ)
            }
            TruthOp::Less => self.ins().band_not(y, x),
            TruthOp::LessOrEqual => {
                let greater = self.ins().band_not(x, y);
                self.bool_not(greater)
            }
        }
    }
    /// The other truth: of a mask, or of an i8 that is 0 or 1.
    pub(super) fn bool_not(&mut self, v: Value) -> Value {
        if self.ty(v).is_vector() { self.ins().bnot(v) } else { self.ins().bxor_imm_u(v, 1) }
    }
    /// Only an amount of 0 leaves the one bit where it is.
    fn bool_shift(&mut self, a: &Expr, amount: &Expr) -> Val {
        let ty = crate::shared::lane::data(amount.ty().elem);
        let lane = Lane::of_data(ty);
        let (x, n) = (self.truth(a, lane), self.data(amount));
        let parts = self.zip(&x, &n, |f, x, n| {
            let stays = f.icmp_const(cranelift_codegen::ir::condcodes::IntCC::Equal, n, 0);
            f.ins().band(x, stays)
        });
        self.truth_val(lane, parts, a.lanes())
    }
    /// Truth as lanes 0 or 1 of an integer or float type.
    pub(super) fn bool_to(&mut self, a: &Expr, to: ScalarType) -> Parts {
        let lanes = a.lanes();
        if lanes == 1 {
            let bytes = Func::single(self.scalar(a));
            return self.ints_to(&bytes, 1, ScalarType::U8, to);
        }
        let lane = Lane::of_data(to);
        let one = match to {
            ScalarType::F16 | ScalarType::BF16 => halide_core::value::Scalar::int(to, 1).bits(),
            ScalarType::F32 => u64::from(1f32.to_bits()),
            ScalarType::F64 => 1f64.to_bits(),
            _ => 1,
        };
        let mask = self.mask(a, lane);
        let ones = self.constant(lane.as_int().vector(), one);
        let bits = self.map(&mask, |f, m| f.ins().band(m, ones));
        self.cast_parts(&bits, lane)
    }
}

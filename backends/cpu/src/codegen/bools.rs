//! Operators on truth: `Bool` computes as a one-bit unsigned integer.

use super::func::Func;
use super::value::{Lane, Parts, Val};
use cranelift_codegen::ir::{InstBuilder, Value};
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
        match op {
            BinOp::Add | BinOp::Sub | BinOp::BitXor | BinOp::Absd | BinOp::Ne => self.ins().bxor(x, y),
            // x / 0 = 0, so a quotient of truths is their conjunction, and a remainder is never left.
            BinOp::Mul | BinOp::Div | BinOp::DivToZero | BinOp::Min | BinOp::BitAnd => self.ins().band(x, y),
            BinOp::Mod | BinOp::ModToZero => self.ins().bxor(x, x),
            BinOp::Max | BinOp::BitOr => self.ins().bor(x, y),
            BinOp::Eq => {
                let differ = self.ins().bxor(x, y);
                self.bool_not(differ)
            }
            BinOp::Lt => self.ins().band_not(y, x),
            BinOp::Gt => self.ins().band_not(x, y),
            BinOp::Le => {
                let greater = self.ins().band_not(x, y);
                self.bool_not(greater)
            }
            BinOp::Ge => {
                let less = self.ins().band_not(y, x);
                self.bool_not(less)
            }
            BinOp::Shl | BinOp::Shr => x,
        }
    }
    /// The other truth: of a mask, or of an i8 that is 0 or 1.
    pub(super) fn bool_not(&mut self, v: Value) -> Value {
        if self.ty(v).is_vector() { self.ins().bnot(v) } else { self.ins().bxor_imm_u(v, 1) }
    }
    /// Only an amount of 0 leaves the one bit where it is.
    fn bool_shift(&mut self, a: &Expr, amount: &Expr) -> Val {
        let ty = super::value::data(amount.ty().elem);
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
            let bytes = Func::one(self.scalar(a));
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

//! Float operators: IEEE, and the language's minimum and maximum.

use super::conditions::float_condition;
use super::func::Func;
use super::lane_ops::Floats;
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use crate::shared::range::float_range;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_backend::{FloatLanes, NanRule};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType::{self, F32};
use halide_ir::Expr;

impl Func<'_> {
    /// A one-operand operator on floats that is not about their bits.
    pub(super) fn float_unary(&mut self, op: UnOp, ty: ScalarType, lanes: u16, a: &Parts) -> Val {
        let tests = matches!(op, UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite);
        if ty.bits() == 16 {
            let wide = self.half_to_f32(ty, lanes, a);
            return match self.float_unary(op, F32, lanes, &wide) {
                Val::Data(parts) if !tests => Val::Data(self.f32_to_half(ty, lanes, &parts)),
                truth => truth,
            };
        }
        let parts = self.map(a, |f, v| f.float_unary_part(op, v));
        if tests { self.truth_val(Lane::of_data(ty), parts, lanes) } else { Val::Data(parts) }
    }
    fn float_unary_part(&mut self, op: UnOp, v: Value) -> Value {
        match op {
            UnOp::Neg => self.flip_bits(v, true),
            UnOp::Abs => self.flip_bits(v, false),
            UnOp::Floor => self.ins().floor(v),
            UnOp::Ceil => self.ins().ceil(v),
            UnOp::Round => self.ins().nearest(v),
            UnOp::Trunc => self.ins().trunc(v),
            UnOp::Sqrt => self.ins().sqrt(v),
            UnOp::IsNan => self.fcmp(FloatCC::Unordered, v, v),
            UnOp::IsInf | UnOp::IsFinite => {
                let order = if op == UnOp::IsInf { BinOp::Eq } else { BinOp::Lt };
                let Ok(truth) = Floats(self).against_infinity(order, &v);
                truth
            }
            UnOp::Not | UnOp::Popcount | UnOp::Clz | UnOp::Ctz => v,
        }
    }
    /// Negates, or takes the magnitude: one instruction on vectors, with a constant.
    pub(super) fn flip_bits(&mut self, v: Value, negate: bool) -> Value {
        let ty = self.ty(v);
        if !ty.is_vector() {
            return if negate { self.ins().fneg(v) } else { self.ins().fabs(v) };
        }
        let lane = if ty == types::F32X4 { Lane::I32 } else { Lane::I64 };
        let sign = 1u64 << (lane.bits() - 1);
        let bits = self.bitcast(lane.vector(), v);
        let made = if negate {
            let sign = self.constant(lane.vector(), sign);
            self.ins().bxor(bits, sign)
        } else {
            let rest = self.constant(lane.vector(), !sign);
            self.ins().band(bits, rest)
        };
        self.bitcast(ty, made)
    }

    /// A two-operand operator on floats that is not about their bits.
    pub(super) fn float_binary(&mut self, op: BinOp, ty: ScalarType, a: &Expr, b: &Expr) -> Val {
        let lanes = a.lanes();
        let (mut x, mut y) = (self.data(a), self.data(b));
        if ty.bits() == 16 {
            (x, y) = (self.half_to_f32(ty, lanes, &x), self.half_to_f32(ty, lanes, &y));
        }
        if let Some(cc) = float_condition(op) {
            let truth = self.zip(&x, &y, |f, x, y| f.fcmp(cc, x, y));
            let lane = if ty.bits() == 16 { Lane::I32 } else { Lane::of_data(ty) };
            return self.truth_val(lane, truth, lanes);
        }
        let rule = NanRule::new(float_range(a), float_range(b));
        let parts = self.zip(&x, &y, |f, x, y| match op {
            BinOp::Min | BinOp::Max => f.float_min_max(op, rule, x, y),
            _ => f.float_arithmetic(op, x, y),
        });
        Val::Data(if ty.bits() == 16 { self.f32_to_half(ty, lanes, &parts) } else { parts })
    }
    pub(super) fn float_arithmetic(&mut self, op: BinOp, x: Value, y: Value) -> Value {
        match op {
            BinOp::Add => self.ins().fadd(x, y),
            BinOp::Sub => self.ins().fsub(x, y),
            BinOp::Mul => self.ins().fmul(x, y),
            BinOp::Div | BinOp::DivToZero => self.ins().fdiv(x, y),
            BinOp::Mod | BinOp::ModToZero => {
                let Ok(rest) = Floats(self).remainder(&x, &y);
                rest
            }
            BinOp::Absd => {
                let Ok(difference) = Floats(self).absolute_difference(&x, &y);
                difference
            }
            _ => x,
        }
    }
    /// A minimum or maximum. Scalars compute as vectors, which need no branch.
    fn float_min_max(&mut self, op: BinOp, rule: NanRule, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        if !ty.is_vector() {
            let vector = if ty == types::F32 { types::F32X4 } else { types::F64X2 };
            let (x, y) = (self.ins().scalar_to_vector(vector, x), self.ins().scalar_to_vector(vector, y));
            let made = self.float_min_max(op, rule, x, y);
            return self.ins().extractlane(made, 0);
        }
        let Ok(made) = Floats(self).min_max(op, rule, &x, &y);
        made
    }
}

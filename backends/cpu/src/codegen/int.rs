//! Integer operators on scalars and parts alike; wrapping, and total.

use super::conditions::int_condition;
use super::func::Func;
use super::value::{Parts, Val};
use crate::shared::lane::{Lane, data};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_backend::{Arithmetic, BitCounts, Products};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Expr, Intrinsic};

impl Func<'_> {
    /// A one-operand operator on integers or floats.
    pub(super) fn unary(&mut self, op: UnOp, ty: ScalarType, lanes: u16, a: &Parts) -> Val {
        let lane = Lane::of_data(ty);
        let counts = matches!(op, UnOp::Popcount | UnOp::Clz | UnOp::Ctz);
        if ty.is_float() && (counts || op == UnOp::Not) {
            // These act on the bits.
            let bits = self.cast_parts(a, lane.as_int());
            let result = self.map(&bits, |f, v| f.int_unary(op, lane.as_int(), v));
            return Val::Data(self.cast_parts(&result, lane));
        }
        if ty.is_float() {
            return self.float_unary(op, ty, lanes, a);
        }
        match op {
            UnOp::Abs if !ty.is_signed_int() => Val::Data(a.clone()),
            UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite => {
                self.const_lanes(halide_core::value::Scalar::bool(op == UnOp::IsFinite), lanes)
            }
            _ => Val::Data(self.map(a, |f, v| f.int_unary(op, lane, v))),
        }
    }
    fn int_unary(&mut self, op: UnOp, lane: Lane, v: Value) -> Value {
        match op {
            UnOp::Neg => self.ins().ineg(v),
            UnOp::Not => self.ins().bnot(v),
            UnOp::Abs => self.ins().iabs(v),
            UnOp::Popcount | UnOp::Clz | UnOp::Ctz => self.count_bits(op, lane, v),
            _ => v,
        }
    }
    fn count_bits(&mut self, op: UnOp, lane: Lane, v: Value) -> Value {
        if !self.ty(v).is_vector() {
            return match op {
                UnOp::Popcount => self.ins().popcnt(v),
                UnOp::Clz => self.ins().clz(v),
                _ => self.ins().ctz(v),
            };
        }
        let part = Func::single(v);
        let mut integers = self.integers(lane, lane.per_part() as u16);
        let Ok(made) = match op {
            UnOp::Popcount => integers.ones(&part),
            UnOp::Clz => integers.leading_zeros(&part),
            _ => integers.trailing_zeros(&part),
        };
        made[0]
    }

    /// A two-operand operator on integers (also Index) or floats.
    pub(super) fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Val {
        let ty = data(a.ty().elem);
        let (lane, lanes) = (Lane::of_data(ty), a.lanes());
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            return Val::Data(self.shift(op, ty, a, b));
        }
        let bitwise = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
        if ty.is_float() && !bitwise {
            return self.float_binary(op, ty, a, b);
        }
        if matches!(op, BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero) {
            return Val::Data(self.divide(op, ty, a, b));
        }
        let (x, y) = (self.data(a), self.data(b));
        if op.is_comparison() {
            let cc = int_condition(op, ty.is_signed_int());
            let truth = self.zip(&x, &y, |f, x, y| f.ins().icmp(cc, x, y));
            return self.truth_val(lane, truth, lanes);
        }
        let signed = ty.is_signed_int();
        Val::Data(self.zip(&x, &y, |f, x, y| f.int_binary(op, lane, signed, x, y)))
    }
    /// Operators that are the same for every integer type but for its sign. Bitwise ones also take floats.
    pub(super) fn int_binary(&mut self, op: BinOp, lane: Lane, signed: bool, x: Value, y: Value) -> Value {
        match op {
            BinOp::Add => self.ins().iadd(x, y),
            BinOp::Sub => self.ins().isub(x, y),
            BinOp::Mul => self.int_mul(lane, x, y),
            BinOp::Min if signed => self.ins().smin(x, y),
            BinOp::Min => self.ins().umin(x, y),
            BinOp::Max if signed => self.ins().smax(x, y),
            BinOp::Max => self.ins().umax(x, y),
            BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => {
                let ty = self.ty(x);
                let bits = if ty.is_vector() { lane.as_int().vector() } else { lane.as_int().scalar() };
                let (x, y) = (self.bitcast(bits, x), self.bitcast(bits, y));
                let made = match op {
                    BinOp::BitAnd => self.ins().band(x, y),
                    BinOp::BitOr => self.ins().bor(x, y),
                    _ => self.ins().bxor(x, y),
                };
                self.bitcast(ty, made)
            }
            BinOp::Absd => {
                let Ok(made) = self.integers(lane, 1).absolute_difference(signed, &Func::single(x), &Func::single(y));
                made[0]
            }
            _ => x,
        }
    }
    /// Wrapping product. x86 has none of bytes: even and odd ones are multiplied as 16-bit lanes.
    pub(super) fn int_mul(&mut self, lane: Lane, x: Value, y: Value) -> Value {
        if lane != Lane::I8 || !self.ty(x).is_vector() || !self.x64 {
            return self.ins().imul(x, y);
        }
        let [x, y] = [x, y].map(|v| Func::single(self.bitcast(types::I16X8, v)));
        let Ok(both) = self.integers(Lane::I16, 8).mul_bytes(&x, &y);
        self.bitcast(types::I8X16, both[0])
    }

    /// `ExprKind::Intrinsic`.
    pub(super) fn intrinsic(&mut self, op: Intrinsic, args: &[Expr]) -> Val {
        let [a, b] = args else {
            self.wrong(format!("{op:?} of {} operands", args.len()));
            return Val::Data(Func::single(self.worker));
        };
        let ty = data(a.ty().elem);
        let (lane, lanes, signed) = (Lane::of_data(ty), a.lanes(), ty.is_signed_int());
        let (x, y) = (self.data(a), self.data(b));
        Val::Data(match op {
            Intrinsic::MulHigh => self.mul_high(lane, lanes, signed, &x, &y),
            Intrinsic::MulRounded => self.zip(&x, &y, |f, x, y| f.mul_rounded(x, y)),
            Intrinsic::WideningMul if lane.bits() == 64 => self.zip(&x, &y, |f, x, y| f.ins().imul(x, y)),
            Intrinsic::WideningMul => self.widening_mul(lane, lanes, signed, &x, &y),
            Intrinsic::SaturatingAdd
            | Intrinsic::SaturatingSub
            | Intrinsic::HalvingAdd
            | Intrinsic::RoundingHalvingAdd => {
                self.zip(&x, &y, |f, x, y| f.saturating_or_halving(op, lane, signed, x, y))
            }
        })
    }
    /// Scalars are extended to 32 bits.
    fn mul_rounded(&mut self, x: Value, y: Value) -> Value {
        if self.ty(x).is_vector() {
            return self.ins().sqmul_round_sat(x, y);
        }
        let (x, y) = (self.ins().sextend(types::I32, x), self.ins().sextend(types::I32, y));
        let Ok(rounded) = self.integers(Lane::I32, 1).mul_rounded(&Func::single(x), &Func::single(y));
        self.ins().ireduce(types::I16, rounded[0])
    }
    /// Vectors of 8 and 16-bit lanes have instructions for most.
    fn saturating_or_halving(&mut self, op: Intrinsic, lane: Lane, signed: bool, x: Value, y: Value) -> Value {
        if lane.bits() <= 16 && self.ty(x).is_vector() {
            match (op, signed) {
                (Intrinsic::SaturatingAdd, true) => return self.ins().sadd_sat(x, y),
                (Intrinsic::SaturatingAdd, false) => return self.ins().uadd_sat(x, y),
                (Intrinsic::SaturatingSub, true) => return self.ins().ssub_sat(x, y),
                (Intrinsic::SaturatingSub, false) => return self.ins().usub_sat(x, y),
                (Intrinsic::RoundingHalvingAdd, false) => return self.ins().avg_round(x, y),
                _ => {}
            }
        }
        let (x, y) = (Func::single(x), Func::single(y));
        let mut integers = self.integers(lane, 1);
        let Ok(made) = match op {
            Intrinsic::SaturatingAdd => integers.saturating(BinOp::Add, signed, &x, &y),
            Intrinsic::SaturatingSub => integers.saturating(BinOp::Sub, signed, &x, &y),
            Intrinsic::RoundingHalvingAdd => integers.rounding_halving_add(signed, &x, &y),
            _ => integers.halving_add(signed, &x, &y),
        };
        made[0]
    }

    /// The product in lanes of twice the width.
    pub(super) fn widening_mul(&mut self, lane: Lane, lanes: u16, signed: bool, x: &Parts, y: &Parts) -> Parts {
        let wide = Lane::int(2 * lane.bits());
        let x = self.resize_ints(x, lanes, lane.bits(), wide.bits(), signed, true);
        let y = self.resize_ints(y, lanes, lane.bits(), wide.bits(), signed, true);
        // Of 32-bit lanes Cranelift sees that the upper halves are extensions.
        self.zip(&x, &y, |f, x, y| f.ins().imul(x, y))
    }
    /// The upper half of the product.
    pub(super) fn mul_high(&mut self, lane: Lane, lanes: u16, signed: bool, x: &Parts, y: &Parts) -> Parts {
        if lane == Lane::I64 {
            return self.per_lane(lanes, &[(lane, x), (lane, y)], lane, |f, v| match signed {
                true => f.ins().smulhi(v[0], v[1]),
                false => f.ins().umulhi(v[0], v[1]),
            });
        }
        if lane == Lane::I16 && lanes > 1 && !signed && self.env.high_words {
            return self.zip(x, y, |f, x, y| f.ins().x86_pmulhrsw(x, y));
        }
        let product = self.widening_mul(lane, lanes, signed, x, y);
        if lanes == 1 {
            let high = self.ins().ushr_imm_u(product[0], i64::from(lane.bits()));
            return Func::single(self.ins().ireduce(lane.scalar(), high));
        }
        let picks: Vec<usize> = (0..lanes as usize).map(|i| 2 * i + 1).collect();
        let narrow = self.cast_parts(&product, lane);
        self.pick(lane, &narrow, &picks)
    }
}

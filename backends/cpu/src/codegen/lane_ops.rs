//! Parts as the lanes and floats of which `halide_backend` makes total operators.

use super::func::Func;
use super::value::Parts;
use crate::shared::lane::Lane;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_backend::{Arithmetic, BitCounts, Divide, DivideByConstant, FloatLanes, HalfFloats, IntLanes, Products};
use halide_core::ops::BinOp;
use std::convert::Infallible;

/// Integers of one lane type: a scalar, or the parts of a vector.
pub(super) struct Integers<'f, 'a> {
    f: &'f mut Func<'a>,
    lane: Lane,
    lanes: u16,
}

/// Floats: a scalar or a part.
pub(super) struct Floats<'f, 'a>(pub(super) &'f mut Func<'a>);

impl<'a> Func<'a> {
    /// The operators on integers of a lane type. Division alone asks how many `lanes` there are.
    pub(super) fn integers(&mut self, lane: Lane, lanes: u16) -> Integers<'_, 'a> {
        Integers { f: self, lane: lane.as_int(), lanes }
    }
    /// `make` on corresponding parts of values, one part after the other, so that few values are live at the same time.
    pub(super) fn each_part(
        &mut self,
        values: &[&Parts],
        mut make: impl FnMut(&mut Self, &[Parts]) -> Result<Parts, Infallible>,
    ) -> Parts {
        let count = values.first().map_or(0, |v| v.len());
        let made = (0..count).map(|i| {
            let parts: Vec<Parts> = values.iter().map(|v| Func::single(v[i])).collect();
            let Ok(made) = make(self, &parts);
            made[0]
        });
        made.collect()
    }
}

impl IntLanes for Integers<'_, '_> {
    type Value = Parts;
    type Truth = Parts;
    type Error = Infallible;

    fn width(&self, _: &Parts) -> u32 {
        self.lane.bits()
    }
    fn constant(&mut self, like: &Parts, bits: u64) -> Result<Parts, Infallible> {
        Ok(self.f.map(like, |f, v| {
            let ty = f.ty(v);
            f.constant(ty, bits)
        }))
    }
    fn add(&mut self, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| f.ins().iadd(x, y)))
    }
    fn sub(&mut self, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| f.ins().isub(x, y)))
    }
    fn mul(&mut self, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        let lane = self.lane;
        Ok(self.f.zip(x, y, |f, x, y| f.int_mul(lane, x, y)))
    }
    fn and(&mut self, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| f.ins().band(x, y)))
    }
    fn or(&mut self, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| f.ins().bor(x, y)))
    }
    fn xor(&mut self, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| f.ins().bxor(x, y)))
    }
    fn not(&mut self, x: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.map(x, |f, v| f.ins().bnot(v)))
    }
    fn min(&mut self, signed: bool, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| if signed { f.ins().smin(x, y) } else { f.ins().umin(x, y) }))
    }
    fn max(&mut self, signed: bool, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| if signed { f.ins().smax(x, y) } else { f.ins().umax(x, y) }))
    }
    fn shift_left(&mut self, x: &Parts, by: u32) -> Result<Parts, Infallible> {
        Ok(self.f.map(x, |f, v| f.ins().ishl_imm_u(v, i64::from(by))))
    }
    fn shift_right(&mut self, signed: bool, x: &Parts, by: u32) -> Result<Parts, Infallible> {
        let by = i64::from(by);
        Ok(self.f.map(x, |f, v| if signed { f.ins().sshr_imm_u(v, by) } else { f.ins().ushr_imm_u(v, by) }))
    }
    fn compare(&mut self, op: BinOp, signed: bool, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        let condition = super::conditions::int_condition(op, signed);
        Ok(self.f.zip(x, y, |f, x, y| f.ins().icmp(condition, x, y)))
    }
    fn select(&mut self, truth: &Parts, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        let arms = x.iter().zip(y.iter());
        Ok(truth.iter().zip(arms).map(|(truth, (x, y))| self.f.choose(*truth, *x, *y)).collect())
    }

    /// One instruction.
    fn and_not(&mut self, x: &Parts, y: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.zip(x, y, |f, x, y| f.ins().band_not(x, y)))
    }
    /// One instruction.
    fn negate(&mut self, x: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.map(x, |f, v| f.ins().ineg(v)))
    }
}

impl Arithmetic for Integers<'_, '_> {}
impl Products for Integers<'_, '_> {}

/// For vectors; scalars have instructions.
impl BitCounts for Integers<'_, '_> {
    fn ones_in_bytes(&mut self, x: &Parts) -> Result<Parts, Infallible> {
        let vector = self.lane.vector();
        Ok(self.f.map(x, |f, v| {
            let bytes = f.bitcast(types::I8X16, v);
            let counts = f.ins().popcnt(bytes);
            f.bitcast(vector, counts)
        }))
    }
}

impl Divide for Integers<'_, '_> {
    /// The truth of a vector is a mask.
    fn zero_where_zero(&mut self, divisor: &Parts, result: &Parts) -> Result<Parts, Infallible> {
        let zero = self.constant(result, 0)?;
        if self.lanes == 1 {
            let by_zero = self.compare(BinOp::Eq, false, divisor, &zero)?;
            return self.select(&by_zero, &zero, result);
        }
        let nonzero = self.compare(BinOp::Ne, false, divisor, &zero)?;
        self.and(result, &nonzero)
    }
}

impl DivideByConstant for Integers<'_, '_> {
    fn divide_unsigned(&mut self, x: &Parts, divisor: u64, width: u32) -> Result<Parts, Infallible> {
        let (lane, lanes) = (self.lane, self.lanes);
        if lanes == 1 || lane == Lane::I64 {
            return Ok(self
                .f
                .per_lane(lanes, &[(lane, x)], lane, |f, v| f.divide_scalar_unsigned(lane, v[0], divisor)));
        }
        if lane != Lane::I8 {
            return self.divide_by_reciprocal(x, divisor, width);
        }
        let wide = self.f.resize_ints(x, lanes, 8, 16, false, true);
        let quotient = self.f.integers(Lane::I16, lanes).divide_by_reciprocal(&wide, divisor, 8)?;
        Ok(self.f.resize_ints(&quotient, lanes, 16, 8, false, true))
    }
    fn mul_high_by(&mut self, x: &Parts, factor: u64) -> Result<Parts, Infallible> {
        let factors = self.constant(x, factor)?;
        Ok(self.f.mul_high(self.lane, self.lanes, false, x, &factors))
    }
}

impl HalfFloats for Integers<'_, '_> {
    /// A rebiased exponent is a multiplication by a power of two, which is exact also for subnormal numbers.
    fn f32_of_finite_f16(&mut self, _: &Parts, moved: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.map(moved, |f, v| {
            let (ty, float) = (f.ty(v), f.float_like(v));
            let small = f.bitcast(float, v);
            let scale = f.float(float, 2f64.powi(112));
            let number = f.ins().fmul(small, scale);
            f.bitcast(ty, number)
        }))
    }
    /// The last bit of a number just above 1/2 is that of the smallest f16.
    fn f16_of_small_f32(&mut self, magnitude: &Parts) -> Result<Parts, Infallible> {
        Ok(self.f.map(magnitude, |f, v| {
            let (ty, float) = (f.ty(v), f.float_like(v));
            let half = f.float(float, 0.5);
            let small = f.bitcast(float, v);
            let small = f.ins().fadd(small, half);
            let small = f.bitcast(ty, small);
            let half_bits = f.constant(ty, u64::from(0.5f32.to_bits()));
            f.ins().isub(small, half_bits)
        }))
    }
}

impl FloatLanes for Floats<'_, '_> {
    type Value = Value;
    type Truth = Value;
    type Error = Infallible;

    fn constant(&mut self, like: &Value, value: f64) -> Result<Value, Infallible> {
        let ty = self.0.ty(*like);
        Ok(self.0.float(ty, value))
    }
    fn arithmetic(&mut self, op: BinOp, x: &Value, y: &Value) -> Result<Value, Infallible> {
        Ok(self.0.float_arithmetic(op, *x, *y))
    }
    fn floor(&mut self, x: &Value) -> Result<Value, Infallible> {
        Ok(self.0.ins().floor(*x))
    }
    fn magnitude(&mut self, x: &Value) -> Result<Value, Infallible> {
        Ok(self.0.flip_bits(*x, false))
    }
    fn compare(&mut self, op: BinOp, x: &Value, y: &Value) -> Result<Value, Infallible> {
        let condition = super::conditions::float_condition(op).unwrap_or(FloatCC::Equal);
        Ok(self.0.fcmp(condition, *x, *y))
    }
    fn is_nan(&mut self, x: &Value) -> Result<Value, Infallible> {
        Ok(self.0.fcmp(FloatCC::Unordered, *x, *x))
    }
    fn select(&mut self, truth: &Value, x: &Value, y: &Value) -> Result<Value, Infallible> {
        Ok(self.0.choose(*truth, *x, *y))
    }
}

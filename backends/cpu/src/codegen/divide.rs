//! Integer division, total: Euclidean or rounded to zero, x / 0 = 0, MIN / -1 = MIN.
//!
//! By a constant it is a shift, or the upper half of a product with a rounded reciprocal. By other values, lanes of up
//! to 32 bits divide as floats, which is exact: the quotient of two integers that a float holds is never so close below an
//! integer that rounding lifts it there.

use super::func::Func;
use super::range::int_range;
use super::value::{Lane, Parts};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::{Expr, build};

/// The parameters of a division.
#[derive(Clone, Copy)]
struct Division {
    lane: Lane,
    lanes: u16,
    signed: bool,
    /// Euclidean rather than rounded to zero; the same for unsigned integers.
    euclidean: bool,
    /// The remainder rather than the quotient.
    remainder: bool,
    /// True if the dividend is known to be non-negative.
    positive: bool,
}

/// The multiplier and the shift that divide by a constant, with the upper half of a product.
pub(crate) struct Reciprocal {
    /// The multiplier.
    pub(crate) factor: u64,
    /// By how much the upper half is then shifted to the right.
    pub(crate) shift: u32,
    /// True if multiplying and shifting suffice. If not, the factor lacks its highest bit, and half of what the product
    /// lacks is to be added.
    pub(crate) exact: bool,
}

impl Reciprocal {
    /// For dividing integers of `bits` bits that are below 2^width.
    pub(crate) fn of(divisor: u64, bits: u32, width: u32) -> Reciprocal {
        let most = 1u128 << bits;
        let length = 64 - (divisor - 1).leading_zeros();
        let exact = (0..=length).find_map(|shift| {
            let power = most << shift;
            let factor = power.div_ceil(u128::from(divisor));
            let error = factor * u128::from(divisor) - power;
            let fits = factor < most && (error << width) <= power;
            fits.then_some(Reciprocal { factor: factor as u64, shift, exact: true })
        });
        exact.unwrap_or_else(|| {
            let factor = (most << length).div_ceil(u128::from(divisor)) - most;
            Reciprocal { factor: factor as u64, shift: length, exact: false }
        })
    }
}

impl Func<'_> {
    /// `Div`, `Mod`, `DivToZero` or `ModToZero` of integers.
    pub(super) fn divide(&mut self, op: BinOp, ty: ScalarType, a: &Expr, b: &Expr) -> Parts {
        let division = Division {
            lane: Lane::of_data(ty),
            lanes: a.lanes(),
            signed: ty.is_signed_int(),
            euclidean: matches!(op, BinOp::Div | BinOp::Mod),
            remainder: matches!(op, BinOp::Mod | BinOp::ModToZero),
            positive: int_range(a).0 >= 0,
        };
        let x = self.data(a);
        let constant = build::as_const(b).map(|v| v.as_i128()).or(build::as_int(b).map(i128::from));
        if let Some(divisor) = constant {
            return self.divide_const(division, &x, divisor);
        }
        let y = self.data(b);
        if division.lanes > 1 && division.lane.bits() <= 32 {
            return self.divide_vectors(division, &x, &y);
        }
        let lane = division.lane;
        self.per_lane(division.lanes, &[(lane, &x), (lane, &y)], lane, |f, v| f.divide_scalar(division, v[0], v[1]))
    }

    // By a constant.

    fn divide_const(&mut self, d: Division, x: &Parts, divisor: i128) -> Parts {
        let bits = d.lane.bits();
        let magnitude = divisor.unsigned_abs() as u64;
        if divisor == 0 {
            return self.map(x, |f, v| {
                let ty = f.ty(v);
                f.constant(ty, 0)
            });
        }
        if magnitude.is_power_of_two() {
            let power = magnitude.trailing_zeros();
            return self.map(x, |f, v| f.divide_power(d, v, power, divisor < 0));
        }
        // For operands of 0 or more, and quotients of them, signs do not matter.
        let (unsigned, sign) = self.magnitudes(d, x);
        let width = if d.signed && (d.euclidean || d.positive) { bits - 1 } else { bits };
        let quotient = self.divide_unsigned(d, &unsigned, magnitude, width);
        let quotient = match sign {
            None => quotient,
            // ~q for negative operands: rounded down.
            Some(sign) if d.euclidean => self.zip(&quotient, &sign, |f, q, s| f.ins().bxor(q, s)),
            Some(sign) => self.zip(&quotient, &sign, |f, q, s| {
                let flipped = f.ins().bxor(q, s);
                f.ins().isub(flipped, s)
            }),
        };
        if d.remainder {
            // The remainder is that of the magnitude of the divisor.
            return self.zip(x, &quotient, |f, x, q| {
                let ty = f.ty(q);
                let divisor = f.constant(ty, magnitude);
                let product = f.int_mul(d.lane, q, divisor);
                f.ins().isub(x, product)
            });
        }
        if divisor < 0 { self.map(&quotient, |f, q| f.ins().ineg(q)) } else { quotient }
    }
    /// Operands as unsigned integers to divide, and all ones where they were negative: `~x` for Euclidean division, whose
    /// quotient is then flipped back, `-x` for the other.
    fn magnitudes(&mut self, d: Division, x: &Parts) -> (Parts, Option<Parts>) {
        if !d.signed || d.positive {
            return (x.clone(), None);
        }
        let top = i64::from(d.lane.bits()) - 1;
        let sign = self.map(x, |f, v| f.ins().sshr_imm_u(v, top));
        let flipped = self.zip(x, &sign, |f, v, s| f.ins().bxor(v, s));
        let magnitude = match d.euclidean {
            true => flipped,
            false => self.zip(&flipped, &sign, |f, v, s| f.ins().isub(v, s)),
        };
        (magnitude, Some(sign))
    }
    /// By 2^power or -(2^power).
    fn divide_power(&mut self, d: Division, x: Value, power: u32, negative: bool) -> Value {
        let ty = self.ty(x);
        let bits = d.lane.bits();
        let below = if power == 0 { 0 } else { u64::MAX >> (64 - power) };
        if d.remainder && (d.euclidean || !d.signed) {
            let mask = self.constant(ty, below);
            return self.ins().band(x, mask);
        }
        let mut biased = x;
        if d.signed && !d.euclidean && !d.positive && power > 0 {
            // Negative operands are rounded up: 2^power - 1 is added to them first.
            let sign = self.ins().sshr_imm_u(x, i64::from(bits) - 1);
            let bias = self.ins().ushr_imm_u(sign, i64::from(bits - power));
            biased = self.ins().iadd(x, bias);
        }
        let quotient = self.shift_const(d.lane, d.signed, biased, -i64::from(power));
        if d.remainder {
            let multiple = self.shift_const(d.lane, true, quotient, i64::from(power));
            return self.ins().isub(x, multiple);
        }
        if negative { self.ins().ineg(quotient) } else { quotient }
    }
    /// Unsigned operands below 2^width by a constant that is no power of two.
    fn divide_unsigned(&mut self, d: Division, x: &Parts, divisor: u64, width: u32) -> Parts {
        let (lane, lanes) = (d.lane, d.lanes);
        if lanes == 1 || lane == Lane::I64 {
            return self.per_lane(lanes, &[(lane, x)], lane, |f, v| f.divide_scalar_unsigned(lane, v[0], divisor));
        }
        match lane {
            Lane::I8 => {
                let wide = self.resize_ints(x, lanes, 8, 16, false, true);
                let quotient = self.divide_by_high_half(Lane::I16, lanes, &wide, divisor, 8);
                self.resize_ints(&quotient, lanes, 16, 8, false, true)
            }
            _ => self.divide_by_high_half(lane, lanes, x, divisor, width),
        }
    }
    /// Cranelift knows reciprocals for scalars of 32 and 64 bits.
    fn divide_scalar_unsigned(&mut self, lane: Lane, x: Value, divisor: u64) -> Value {
        if lane.bits() >= 32 {
            let divisor = self.constant(lane.scalar(), divisor);
            return self.ins().udiv(x, divisor);
        }
        let wide = self.ins().uextend(types::I32, x);
        let divisor = self.constant(types::I32, divisor);
        let quotient = self.ins().udiv(wide, divisor);
        self.ins().ireduce(lane.scalar(), quotient)
    }
    /// With the upper half of a product: `x * reciprocal >> (bits + shift)`.
    fn divide_by_high_half(&mut self, lane: Lane, lanes: u16, x: &Parts, divisor: u64, width: u32) -> Parts {
        let reciprocal = Reciprocal::of(divisor, lane.bits(), width);
        let constant = self.constant(lane.vector(), reciprocal.factor);
        let constants: Parts = x.iter().map(|_| constant).collect();
        let high = self.mul_high(lane, lanes, false, x, &constants);
        let shift = i64::from(reciprocal.shift);
        self.zip(x, &high, |f, x, high| {
            if reciprocal.exact {
                return f.shift_const(lane, false, high, -shift);
            }
            let rest = f.ins().isub(x, high);
            let half = f.ins().ushr_imm_u(rest, 1);
            let sum = f.ins().iadd(half, high);
            f.shift_const(lane, false, sum, 1 - shift)
        })
    }

    // By anything.

    /// Scalars. The machine's division must never see a zero, nor MIN / -1.
    fn divide_scalar(&mut self, d: Division, x: Value, y: Value) -> Value {
        let narrow = d.lane.bits() < 32;
        let ty = if narrow { types::I32 } else { d.lane.scalar() };
        let (x, y) = match (narrow, d.signed) {
            (false, _) => (x, y),
            (true, true) => (self.ins().sextend(ty, x), self.ins().sextend(ty, y)),
            (true, false) => (self.ins().uextend(ty, x), self.ins().uextend(ty, y)),
        };
        let (zero, one) = (self.constant(ty, 0), self.constant(ty, 1));
        let by_zero = self.icmp_const(IntCC::Equal, y, 0);
        let result = if d.signed {
            let by_minus_one = self.icmp_const(IntCC::Equal, y, u64::MAX);
            let unsafe_divisor = self.ins().bor(by_zero, by_minus_one);
            let divisor = self.choose(unsafe_divisor, one, y);
            let quotient = self.ins().sdiv(x, divisor);
            let product = self.ins().imul(quotient, divisor);
            let rest = self.ins().isub(x, product);
            let (quotient, rest) = if d.euclidean { self.euclidean(quotient, rest, divisor) } else { (quotient, rest) };
            // By 1 or -1 nothing is left, and divided by 1 it was.
            let negated = self.ins().ineg(x);
            let quotient = self.choose(by_minus_one, negated, quotient);
            if d.remainder { rest } else { quotient }
        } else {
            let divisor = self.choose(by_zero, one, y);
            match d.remainder {
                true => self.ins().urem(x, divisor),
                false => self.ins().udiv(x, divisor),
            }
        };
        let result = self.choose(by_zero, zero, result);
        if narrow { self.ins().ireduce(d.lane.scalar(), result) } else { result }
    }
    /// A negative remainder becomes positive, and the quotient changes with it.
    fn euclidean(&mut self, quotient: Value, rest: Value, divisor: Value) -> (Value, Value) {
        let ty = self.ty(quotient);
        let top = i64::from(ty.lane_bits()) - 1;
        let negative = self.ins().sshr_imm_u(rest, top);
        let sign = self.ins().sshr_imm_u(divisor, top);
        let flipped = self.ins().bxor(divisor, sign);
        let magnitude = self.ins().isub(flipped, sign);
        let more = self.ins().band(magnitude, negative);
        // One less for a positive divisor, one more for a negative one.
        let one = self.constant(ty, 1);
        let step = self.ins().bor(sign, one);
        let step = self.ins().band(step, negative);
        (self.ins().isub(quotient, step), self.ins().iadd(rest, more))
    }
    /// Vectors of 8, 16 or 32-bit lanes: 8 and 16 bits divide as f32, 32 bits as f64.
    fn divide_vectors(&mut self, d: Division, x: &Parts, y: &Parts) -> Parts {
        let bits = d.lane.bits();
        if bits < 32 {
            let (x, y) = (
                self.resize_ints(x, d.lanes, bits, 32, d.signed, true),
                self.resize_ints(y, d.lanes, bits, 32, d.signed, true),
            );
            let result = self.zip(&x, &y, |f, x, y| {
                let (a, b) = (f.ins().fcvt_from_sint(types::F32X4, x), f.ins().fcvt_from_sint(types::F32X4, y));
                let quotient = f.ins().fdiv(a, b);
                // Of a division by zero nothing is kept, so what it converts to does not matter.
                let quotient = match f.x64 {
                    true => f.ins().x86_cvtt2dq(types::I32X4, quotient),
                    false => f.ins().fcvt_to_sint_sat(types::I32X4, quotient),
                };
                f.finish_division(d, x, y, quotient)
            });
            return self.resize_ints(&result, d.lanes, 32, bits, false, false);
        }
        let ty = if d.signed { ScalarType::I32 } else { ScalarType::U32 };
        let (a, b) = (self.ints_to(x, d.lanes, ty, ScalarType::F64), self.ints_to(y, d.lanes, ty, ScalarType::F64));
        let quotients = self.zip(&a, &b, |f, a, b| {
            let quotient = f.ins().fdiv(a, b);
            let whole = f.ins().trunc(quotient);
            // 2^52 + 2^51 makes room for the sign below the exponent; the low 32 bits are the integer.
            let magic = f.float(types::F64X2, 6755399441055744.0);
            let moved = f.ins().fadd(whole, magic);
            f.bitcast(types::I64X2, moved)
        });
        let quotients = self.resize_ints(&quotients, d.lanes, 64, 32, d.signed, false);
        let pairs: Vec<(Value, Value)> = x.iter().copied().zip(y.iter().copied()).collect();
        pairs.into_iter().zip(quotients.iter()).map(|((x, y), q)| self.finish_division(d, x, y, *q)).collect()
    }
    /// From the quotient rounded to zero of 32-bit lanes to what was asked for.
    fn finish_division(&mut self, d: Division, x: Value, y: Value, quotient: Value) -> Value {
        let product = self.ins().imul(quotient, y);
        let rest = self.ins().isub(x, product);
        let (quotient, rest) =
            if d.signed && d.euclidean { self.euclidean(quotient, rest, y) } else { (quotient, rest) };
        let result = if d.remainder { rest } else { quotient };
        let nonzero = self.icmp_const(IntCC::NotEqual, y, 0);
        self.ins().band(result, nonzero)
    }
}

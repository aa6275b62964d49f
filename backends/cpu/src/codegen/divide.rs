//! Integer division. By constants it is what `halide_backend` makes of it. By other values, lanes of up to 32 bits
//! divide as floats, which is exact: the quotient of two integers that a float holds is never so close below an integer
//! that rounding lifts it there.

use super::func::Func;
use super::value::Parts;
use crate::shared::lane::Lane;
use crate::shared::range::int_range;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_backend::{Divide, DivideByConstant, Division};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::{Expr, build};

impl Func<'_> {
    /// `Div`, `Mod`, `DivToZero` or `ModToZero` of integers.
    pub(super) fn divide(&mut self, op: BinOp, ty: ScalarType, a: &Expr, b: &Expr) -> Parts {
        let (lane, lanes) = (Lane::of_data(ty), a.lanes());
        let d = Division::new(op, ty.is_signed_int(), int_range(a).low >= 0);
        let x = self.data(a);
        let constant = build::as_const(b).map(|v| v.as_i128()).or(build::as_int(b).map(i128::from));
        if let Some(divisor) = constant {
            if divisor.unsigned_abs().is_power_of_two() {
                return self.each_part(&[&x], |f, part| f.integers(lane, lanes).divide_by(d, &part[0], divisor));
            }
            let Ok(made) = self.integers(lane, lanes).divide_by(d, &x, divisor);
            return made;
        }
        let y = self.data(b);
        if lanes > 1 && lane.bits() <= 32 {
            return self.divide_vectors(lane, lanes, d, &x, &y);
        }
        self.per_lane(lanes, &[(lane, &x), (lane, &y)], lane, |f, v| f.divide_scalar(lane, d, v[0], v[1]))
    }
    /// Cranelift knows reciprocals for scalars of 32 and 64 bits.
    pub(super) fn divide_scalar_unsigned(&mut self, lane: Lane, x: Value, divisor: u64) -> Value {
        if lane.bits() >= 32 {
            let divisor = self.constant(lane.scalar(), divisor);
            return self.ins().udiv(x, divisor);
        }
        let wide = self.ins().uextend(types::I32, x);
        let divisor = self.constant(types::I32, divisor);
        let quotient = self.ins().udiv(wide, divisor);
        self.ins().ireduce(lane.scalar(), quotient)
    }
    /// Scalars. The machine's division must never see a zero, nor MIN / -1.
    fn divide_scalar(&mut self, lane: Lane, d: Division, x: Value, y: Value) -> Value {
        let narrow = lane.bits() < 32;
        let ty = if narrow { types::I32 } else { lane.scalar() };
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
            let wide = if narrow { Lane::I32 } else { lane };
            let [dividend, divisor, quotient] = [x, divisor, quotient].map(Func::single);
            let Ok(made) = self.integers(wide, 1).of_truncated(d, &dividend, &divisor, &quotient);
            // By 1 or -1 nothing is left, and divided by 1 it was.
            if d.remainder {
                made[0]
            } else {
                let negated = self.ins().ineg(x);
                self.choose(by_minus_one, negated, made[0])
            }
        } else {
            let divisor = self.choose(by_zero, one, y);
            match d.remainder {
                true => self.ins().urem(x, divisor),
                false => self.ins().udiv(x, divisor),
            }
        };
        let result = self.choose(by_zero, zero, result);
        if narrow { self.ins().ireduce(lane.scalar(), result) } else { result }
    }
    /// Vectors of 8, 16 or 32-bit lanes: 8 and 16 bits divide as f32, 32 bits as f64.
    fn divide_vectors(&mut self, lane: Lane, lanes: u16, d: Division, x: &Parts, y: &Parts) -> Parts {
        let bits = lane.bits();
        if bits < 32 {
            let (x, y) = (
                self.resize_ints(x, lanes, bits, 32, d.signed, true),
                self.resize_ints(y, lanes, bits, 32, d.signed, true),
            );
            let result = self.each_part(&[&x, &y], |f, part| {
                let [x, y] = [&part[0], &part[1]];
                let [a, b] = [x, y].map(|v| f.ins().fcvt_from_sint(types::F32X4, v[0]));
                let quotient = f.ins().fdiv(a, b);
                // Of a division by zero nothing is kept, so what it converts to does not matter.
                let quotient = match f.x64 {
                    true => f.ins().x86_cvtt2dq(types::I32X4, quotient),
                    false => f.ins().fcvt_to_sint_sat(types::I32X4, quotient),
                };
                f.integers(Lane::I32, lanes).finish_division(d, x, y, &Func::single(quotient))
            });
            return self.resize_ints(&result, lanes, 32, bits, false, false);
        }
        let ty = if d.signed { ScalarType::I32 } else { ScalarType::U32 };
        let (a, b) = (self.ints_to(x, lanes, ty, ScalarType::F64), self.ints_to(y, lanes, ty, ScalarType::F64));
        let quotients = self.zip(&a, &b, |f, a, b| {
            let quotient = f.ins().fdiv(a, b);
            let whole = f.ins().trunc(quotient);
            // 2^52 + 2^51 makes room for the sign below the exponent; the low 32 bits are the integer.
            let magic = f.float(types::F64X2, 6755399441055744.0);
            let moved = f.ins().fadd(whole, magic);
            f.bitcast(types::I64X2, moved)
        });
        let quotients = self.resize_ints(&quotients, lanes, 64, 32, d.signed, false);
        self.each_part(&[x, y, &quotients], |f, part| {
            f.integers(Lane::I32, lanes).finish_division(d, &part[0], &part[1], &part[2])
        })
    }
}

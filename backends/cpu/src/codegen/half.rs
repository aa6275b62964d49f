//! The 16-bit floats: no machine computes in them here, so they are widened to f32 and rounded back, by integer
//! arithmetic on the bits.

use super::abi::RuntimeFn;
use super::func::{Callee, Func};
use super::value::{Lane, Parts};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use halide_core::types::ScalarType;

impl Func<'_> {
    /// The exact f32 of each lane.
    pub(super) fn half_to_f32(&mut self, ty: ScalarType, lanes: u16, x: &Parts) -> Parts {
        let wide = self.resize_ints(x, lanes, 16, 32, false, true);
        self.map(&wide, |f, v| {
            let float = f.float_like(v);
            let bits = if ty == ScalarType::BF16 { f.ins().ishl_imm_u(v, 16) } else { f.f16_to_f32_bits(v) };
            f.bitcast(float, bits)
        })
    }
    /// Each lane rounded to nearest even.
    pub(super) fn f32_to_half(&mut self, ty: ScalarType, lanes: u16, x: &Parts) -> Parts {
        let bits = self.cast_parts(x, Lane::I32);
        let rounded = self.map(&bits, |f, v| match ty {
            ScalarType::BF16 => f.f32_bits_to_bf16(v),
            _ => f.f32_bits_to_f16(v),
        });
        self.resize_ints(&rounded, lanes, 32, 16, false, true)
    }
    fn float_like(&mut self, v: Value) -> Type {
        if self.ty(v).is_vector() { types::F32X4 } else { types::F32 }
    }
    /// A rebiased exponent is a multiplication by a power of two, which is exact also for subnormal numbers.
    fn f16_to_f32_bits(&mut self, v: Value) -> Value {
        let (ty, float) = (self.ty(v), self.float_like(v));
        let rest = self.constant(ty, 0x7fff);
        let magnitude = self.ins().band(v, rest);
        let moved = self.ins().ishl_imm_u(magnitude, 13);
        let small = self.bitcast(float, moved);
        let scale = self.float(float, 2f64.powi(112));
        let number = self.ins().fmul(small, scale);
        let number = self.bitcast(ty, number);
        let exponent = self.constant(ty, 0x7f80_0000);
        let special = self.ins().bor(moved, exponent);
        let is_special = self.icmp_const(IntCC::SignedGreaterThan, magnitude, 0x7bff);
        let made = self.choose(is_special, special, number);
        let sign = self.ins().bxor(v, magnitude);
        let sign = self.ins().ishl_imm_u(sign, 16);
        self.ins().bor(made, sign)
    }
    fn f32_bits_to_f16(&mut self, v: Value) -> Value {
        let (ty, float) = (self.ty(v), self.float_like(v));
        let rest = self.constant(ty, 0x7fff_ffff);
        let magnitude = self.ins().band(v, rest);
        // Normal results: the exponent is rebiased while the lost bits are rounded to even.
        let odd = self.ins().ushr_imm_u(magnitude, 13);
        let one = self.constant(ty, 1);
        let odd = self.ins().band(odd, one);
        let bias = self.constant(ty, 0xc800_0fff);
        let normal = self.ins().iadd(magnitude, bias);
        let normal = self.ins().iadd(normal, odd);
        let normal = self.ins().ushr_imm_u(normal, 13);
        let infinity = self.constant(ty, 0x7c00);
        let normal = self.ins().umin(normal, infinity);
        // Subnormal results: the last bit of a number just above 1/2 is that of the smallest f16.
        let half = self.float(float, 0.5);
        let small = self.bitcast(float, magnitude);
        let small = self.ins().fadd(small, half);
        let small = self.bitcast(ty, small);
        let half_bits = self.constant(ty, u64::from(0.5f32.to_bits()));
        let small = self.ins().isub(small, half_bits);
        let is_small = self.icmp_const(IntCC::SignedLessThan, magnitude, 0x3880_0000);
        let made = self.choose(is_small, small, normal);
        let nan = self.constant(ty, 0x7e00);
        self.with_nan_and_sign(v, magnitude, made, nan)
    }
    fn f32_bits_to_bf16(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        let rest = self.constant(ty, 0x7fff_ffff);
        let magnitude = self.ins().band(v, rest);
        let odd = self.ins().ushr_imm_u(magnitude, 16);
        let one = self.constant(ty, 1);
        let odd = self.ins().band(odd, one);
        let bias = self.constant(ty, 0x7fff);
        let rounded = self.ins().iadd(magnitude, bias);
        let rounded = self.ins().iadd(rounded, odd);
        let rounded = self.ins().ushr_imm_u(rounded, 16);
        let nan = self.constant(ty, 0x7fc0);
        self.with_nan_and_sign(v, magnitude, rounded, nan)
    }
    fn with_nan_and_sign(&mut self, v: Value, magnitude: Value, made: Value, nan: Value) -> Value {
        let is_nan = self.icmp_const(IntCC::SignedGreaterThan, magnitude, 0x7f80_0000);
        let made = self.choose(is_nan, nan, made);
        let sign = self.ins().bxor(v, magnitude);
        let sign = self.ins().ushr_imm_u(sign, 16);
        self.ins().bor(made, sign)
    }

    /// The nearest 16-bit float of a scalar f64, which two roundings might miss.
    pub(super) fn half_from_f64(&mut self, ty: ScalarType, v: Value) -> Value {
        let id = self.type_number(ty);
        let bits = self.call_value(Callee::Runtime(RuntimeFn::HalfFromF64), &[id, v]);
        self.ins().ireduce(types::I16, bits)
    }
    /// The nearest 16-bit float of a scalar integer.
    pub(super) fn half_from_int(&mut self, ty: ScalarType, v: Value, signed: bool) -> Value {
        let wide = match (self.ty(v) == types::I64, signed) {
            (true, _) => v,
            (_, true) => self.ins().sextend(types::I64, v),
            _ => self.ins().uextend(types::I64, v),
        };
        let (id, unsigned) = (self.type_number(ty), self.index(i64::from(!signed)));
        let bits = self.call_value(Callee::Runtime(RuntimeFn::HalfFromInt), &[id, wide, unsigned]);
        self.ins().ireduce(types::I16, bits)
    }
    fn type_number(&mut self, ty: ScalarType) -> Value {
        let number = ScalarType::ALL.iter().position(|t| *t == ty).unwrap_or(0);
        self.index(number as i64)
    }
}

//! The 16-bit floats: no machine computes in them here, so they are widened to f32 and rounded back, by integer
//! arithmetic on the bits.

use super::abi::RuntimeFn;
use super::func::{Callee, Func};
use super::value::Parts;
use crate::shared::lane::Lane;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use halide_backend::{HalfFloats, IntLanes};
use halide_core::types::ScalarType;

impl Func<'_> {
    /// The exact f32 of each lane.
    pub(super) fn half_to_f32(&mut self, ty: ScalarType, lanes: u16, x: &Parts) -> Parts {
        let wide = self.resize_ints(x, lanes, 16, 32, false, true);
        let bits = self.each_part(&[&wide], |f, part| {
            let mut integers = f.integers(Lane::I32, lanes);
            if ty == ScalarType::BF16 { integers.shift_left(&part[0], 16) } else { integers.f32_of_f16(&part[0]) }
        });
        self.cast_parts(&bits, Lane::F32)
    }
    /// Each lane rounded to nearest even.
    pub(super) fn f32_to_half(&mut self, ty: ScalarType, lanes: u16, x: &Parts) -> Parts {
        let bits = self.cast_parts(x, Lane::I32);
        let rounded = self.each_part(&[&bits], |f, part| {
            let mut integers = f.integers(Lane::I32, lanes);
            if ty == ScalarType::BF16 { integers.bf16_of_f32(&part[0]) } else { integers.f16_of_f32(&part[0]) }
        });
        self.resize_ints(&rounded, lanes, 32, 16, false, true)
    }
    /// The float type of as many lanes as `v` has.
    pub(super) fn float_like(&mut self, v: Value) -> Type {
        if self.ty(v).is_vector() { types::F32X4 } else { types::F32 }
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

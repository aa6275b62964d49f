//! Transcendental functions: those of f32 are the operations of [`halide_core::math`] as code of the shader, each a
//! function of it, so that they have the bits that they have everywhere. A driver's own are off by up to thousands of
//! units.

use super::builder::{Builder, V};
use super::helper::Helper;
use super::types::Reg;
use halide_core::math::{FloatOps, emit};
use halide_core::ops::{MathFn, UnOp};
use halide_core::types::ScalarType;
use naga::BinaryOperator;

impl Builder<'_> {
    /// A function of floats of type `ty`. `None` for those of f64 that only the standard library has.
    pub(super) fn math(&mut self, function: MathFn, ty: ScalarType, args: &[V]) -> Option<V> {
        match ty {
            // Drivers round once or twice, as they like, and a shader cannot tell them.
            _ if function == MathFn::Fma => None,
            ScalarType::F64 => self.math_f64(function, args),
            ScalarType::F32 => Some(self.math_f32(function, args)),
            _ => {
                let wide: Vec<V> = args.iter().map(|&v| self.widen(ty, v)).collect();
                let made = self.math_f32(function, &wide);
                Some(self.narrow(ty, made))
            }
        }
    }
    fn math_f32(&mut self, function: MathFn, args: &[V]) -> V {
        let name = format!("{}_f32", function.name());
        let helper = Helper { name, args: &[Reg::F32; 3][..function.arity()], result: Reg::F32 };
        self.helper(helper, args, |c, args| emit(c, function, args))
    }
    /// The functions that are arithmetic.
    fn math_f64(&mut self, function: MathFn, args: &[V]) -> Option<V> {
        if let (MathFn::MulAdd, &[a, b, c]) = (function, args) {
            let product = self.float_op(BinaryOperator::Multiply, Reg::F64, a, b);
            return Some(self.float_op(BinaryOperator::Add, Reg::F64, product, c));
        }
        let divisor = match function {
            MathFn::FastInverse => args[0],
            MathFn::FastInverseSqrt => self.float_unary(UnOp::Sqrt, ScalarType::F64, args[0])?,
            _ => return None,
        };
        let one = self.float(Reg::F64, 1.0);
        Some(self.float_op(BinaryOperator::Divide, Reg::F64, one, divisor))
    }
    /// A rounding, or the root, of an f32.
    fn round_f32(&mut self, op: UnOp, v: V) -> V {
        self.float_unary(op, ScalarType::F32, v).unwrap_or(v)
    }
}

impl FloatOps for Builder<'_> {
    type F = V;
    type I = V;
    type M = V;

    fn float(&mut self, value: f32) -> V {
        self.float_bits(Reg::F32, value.to_bits().into())
    }
    fn int(&mut self, value: i32) -> V {
        self.i32(value)
    }
    fn add(&mut self, a: V, b: V) -> V {
        self.float_op(BinaryOperator::Add, Reg::F32, a, b)
    }
    fn sub(&mut self, a: V, b: V) -> V {
        self.float_op(BinaryOperator::Subtract, Reg::F32, a, b)
    }
    fn mul(&mut self, a: V, b: V) -> V {
        self.float_op(BinaryOperator::Multiply, Reg::F32, a, b)
    }
    fn div(&mut self, a: V, b: V) -> V {
        self.float_op(BinaryOperator::Divide, Reg::F32, a, b)
    }
    fn sqrt(&mut self, a: V) -> V {
        self.round_f32(UnOp::Sqrt, a)
    }
    fn floor(&mut self, a: V) -> V {
        self.round_f32(UnOp::Floor, a)
    }
    fn round(&mut self, a: V) -> V {
        self.round_f32(UnOp::Round, a)
    }
    fn lt(&mut self, a: V, b: V) -> V {
        self.float_compare(BinaryOperator::Less, Reg::F32, a, b)
    }
    fn eq(&mut self, a: V, b: V) -> V {
        if a == b {
            let nan = self.is_nan(Reg::F32, a);
            return Builder::not(self, nan);
        }
        self.float_compare(BinaryOperator::Equal, Reg::F32, a, b)
    }
    fn and(&mut self, a: V, b: V) -> V {
        self.truth_op(BinaryOperator::LogicalAnd, a, b)
    }
    fn or(&mut self, a: V, b: V) -> V {
        self.truth_op(BinaryOperator::LogicalOr, a, b)
    }
    fn not(&mut self, a: V) -> V {
        Builder::not(self, a)
    }
    fn select(&mut self, mask: V, a: V, b: V) -> V {
        Builder::select(self, Reg::F32, mask, a, b)
    }
    fn iadd(&mut self, a: V, b: V) -> V {
        self.op(BinaryOperator::Add, a, b)
    }
    fn isub(&mut self, a: V, b: V) -> V {
        self.op(BinaryOperator::Subtract, a, b)
    }
    fn iand(&mut self, a: V, b: V) -> V {
        self.op(BinaryOperator::And, a, b)
    }
    fn ior(&mut self, a: V, b: V) -> V {
        self.op(BinaryOperator::InclusiveOr, a, b)
    }
    fn ixor(&mut self, a: V, b: V) -> V {
        self.op(BinaryOperator::ExclusiveOr, a, b)
    }
    fn shl(&mut self, a: V, bits: u32) -> V {
        self.shift_left(a, bits)
    }
    fn shr(&mut self, a: V, bits: u32) -> V {
        self.shift_right(a, bits)
    }
    fn to_int(&mut self, a: V) -> V {
        self.convert(Reg::I32, a)
    }
    fn to_float(&mut self, a: V) -> V {
        self.convert(Reg::F32, a)
    }
    fn bits(&mut self, a: V) -> V {
        self.bits_as(Reg::I32, a)
    }
    fn float_of_bits(&mut self, a: V) -> V {
        self.bits_as(Reg::F32, a)
    }
}

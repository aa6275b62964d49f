//! Registers as the integers and floats of which `halide_backend` makes total operators.
//!
//! Values of 8 and 16 bits fill a register of 32, so operators on them compute in that and wrap afterwards
//! ([`super::int`], [`super::shift`]). Shaders count bits and divide by constants with operations of their own.

use super::builder::{Builder, V};
use super::int::comparison;
use super::types::Reg;
use halide_backend::{Arithmetic, Divide, FloatLanes, HalfFloats, IntLanes, NanRule, Products};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use naga::{BinaryOperator, MathFunction, UnaryOperator};
use std::convert::Infallible;

/// Integers in registers of a type.
pub(super) struct Integers<'c, 's> {
    code: &'c mut Builder<'s>,
    reg: Reg,
}

/// Floats in registers of a type: F32 or F64.
pub(super) struct Floats<'c, 's> {
    code: &'c mut Builder<'s>,
    reg: Reg,
}

impl<'s> Builder<'s> {
    /// The operators on integers in registers of a type.
    pub(super) fn integers(&mut self, reg: Reg) -> Integers<'_, 's> {
        Integers { code: self, reg }
    }
    /// The operators on floats in registers of a type.
    pub(super) fn floats(&mut self, reg: Reg) -> Floats<'_, 's> {
        Floats { code: self, reg }
    }
}

impl Integers<'_, '_> {
    /// A value as an operation takes it that goes by the sign of its register type.
    fn as_signed(&mut self, signed: bool, v: V) -> V {
        match signed == self.reg.is_signed() {
            true => v,
            false => self.code.bits_as(if signed { self.reg.signed() } else { self.reg.unsigned() }, v),
        }
    }
    /// The result of such an operation.
    fn back(&mut self, signed: bool, v: V) -> V {
        if signed == self.reg.is_signed() { v } else { self.code.bits_as(self.reg, v) }
    }
    fn extreme(&mut self, function: MathFunction, signed: bool, x: V, y: V) -> V {
        let (x, y) = (self.as_signed(signed, x), self.as_signed(signed, y));
        let made = self.code.math_op(function, &[x, y]);
        self.back(signed, made)
    }
}

impl IntLanes for Integers<'_, '_> {
    type Value = V;
    type Truth = V;
    type Error = Infallible;

    fn width(&self, _: &V) -> u32 {
        self.reg.bits()
    }
    fn constant(&mut self, _: &V, bits: u64) -> Result<V, Infallible> {
        Ok(self.code.int(self.reg, bits as i64))
    }
    fn add(&mut self, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.op(BinaryOperator::Add, *x, *y))
    }
    fn sub(&mut self, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.op(BinaryOperator::Subtract, *x, *y))
    }
    fn mul(&mut self, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.op(BinaryOperator::Multiply, *x, *y))
    }
    fn and(&mut self, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.op(BinaryOperator::And, *x, *y))
    }
    fn or(&mut self, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.op(BinaryOperator::InclusiveOr, *x, *y))
    }
    fn xor(&mut self, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.op(BinaryOperator::ExclusiveOr, *x, *y))
    }
    fn not(&mut self, x: &V) -> Result<V, Infallible> {
        Ok(self.code.unary_op(UnaryOperator::BitwiseNot, *x))
    }
    fn min(&mut self, signed: bool, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.extreme(MathFunction::Min, signed, *x, *y))
    }
    fn max(&mut self, signed: bool, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.extreme(MathFunction::Max, signed, *x, *y))
    }
    fn shift_left(&mut self, x: &V, by: u32) -> Result<V, Infallible> {
        Ok(self.code.shift_left(*x, by))
    }
    fn shift_right(&mut self, signed: bool, x: &V, by: u32) -> Result<V, Infallible> {
        let v = self.as_signed(signed, *x);
        let made = self.code.shift_right(v, by);
        Ok(self.back(signed, made))
    }
    fn compare(&mut self, op: BinOp, signed: bool, x: &V, y: &V) -> Result<V, Infallible> {
        let equality = matches!(op, BinOp::Eq | BinOp::Ne);
        let signed = if equality { self.reg.is_signed() } else { signed };
        let (x, y) = (self.as_signed(signed, *x), self.as_signed(signed, *y));
        Ok(self.code.op(comparison(op).unwrap_or(BinaryOperator::Equal), x, y))
    }
    fn select(&mut self, truth: &V, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.pick(*truth, *x, *y))
    }
}

impl Arithmetic for Integers<'_, '_> {}
impl Products for Integers<'_, '_> {}
impl Divide for Integers<'_, '_> {}

/// Devices may take subnormal numbers for zeros, so these are made by integer arithmetic.
impl HalfFloats for Integers<'_, '_> {
    /// Bits of halves are in unsigned registers.
    fn compare_magnitudes(&mut self, op: BinOp, x: &V, y: &V) -> Result<V, Infallible> {
        self.compare(op, false, x, y)
    }
    fn f32_of_finite_f16(&mut self, magnitude: &V, moved: &V) -> Result<V, Infallible> {
        Ok(self.code.f32_of_finite_f16(*magnitude, *moved))
    }
    fn f16_of_small_f32(&mut self, magnitude: &V) -> Result<V, Infallible> {
        Ok(self.code.f16_subnormal(*magnitude))
    }
}

impl FloatLanes for Floats<'_, '_> {
    type Value = V;
    type Truth = V;
    type Error = Infallible;

    fn constant(&mut self, _: &V, value: f64) -> Result<V, Infallible> {
        Ok(self.code.float(self.reg, value))
    }
    fn arithmetic(&mut self, op: BinOp, x: &V, y: &V) -> Result<V, Infallible> {
        let operator = match op {
            BinOp::Add => BinaryOperator::Add,
            BinOp::Sub => BinaryOperator::Subtract,
            BinOp::Mul => BinaryOperator::Multiply,
            _ => BinaryOperator::Divide,
        };
        Ok(self.code.float_op(operator, self.reg, *x, *y))
    }
    fn floor(&mut self, x: &V) -> Result<V, Infallible> {
        let ty = if self.reg == Reg::F64 { ScalarType::F64 } else { ScalarType::F32 };
        Ok(self.code.float_unary(UnOp::Floor, ty, *x).unwrap_or(*x))
    }
    fn magnitude(&mut self, x: &V) -> Result<V, Infallible> {
        Ok(self.code.float_sign(UnOp::Abs, self.reg, *x))
    }
    fn compare(&mut self, op: BinOp, x: &V, y: &V) -> Result<V, Infallible> {
        let operator = comparison(op).unwrap_or(BinaryOperator::Equal);
        Ok(self.code.float_compare(operator, self.reg, *x, *y))
    }
    fn is_nan(&mut self, x: &V) -> Result<V, Infallible> {
        Ok(self.code.is_nan(self.reg, *x))
    }
    fn select(&mut self, truth: &V, x: &V, y: &V) -> Result<V, Infallible> {
        Ok(self.code.select(self.reg, *truth, *x, *y))
    }
    /// One choice by either truth, since a choice between floats may have to be hidden from the driver.
    fn min_max(&mut self, op: BinOp, _: NanRule, x: &V, y: &V) -> Result<V, Infallible> {
        let operator = if op == BinOp::Min { BinaryOperator::Less } else { BinaryOperator::Greater };
        let before = self.code.float_compare(operator, self.reg, *x, *y);
        let loses = self.code.is_nan(self.reg, *y);
        let first = self.code.truth_op(BinaryOperator::LogicalOr, before, loses);
        Ok(self.code.select(self.reg, first, *x, *y))
    }
}

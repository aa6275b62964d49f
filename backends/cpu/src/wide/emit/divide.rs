//! Integer division. By constants it is what `halide_backend` makes of it; by other values, lanes of up to 32 bits
//! divide as floats, and those of 64 bits as [`super::divide64`] says.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::kernel::Emit;
use super::value::Parts;
use crate::shared::lane::Lane;
use crate::shared::range::int_range;
use halide_backend::{Divide, DivideByConstant, Division};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::{Expr, build};

impl Emit<'_> {
    /// `Div`, `Mod`, `DivToZero` or `ModToZero` of integers.
    pub(super) fn divide(&mut self, op: BinOp, ty: ScalarType, a: &Expr, b: &Expr) -> Emitted<Parts> {
        let constant = build::as_const(b).map(|v| v.as_i128()).or(build::as_int(b).map(i128::from));
        let d = Division::new(op, ty.is_signed_int(), int_range(a).low >= 0);
        let lanes = a.lanes() as usize;
        let x = self.lanes(a)?;
        match constant {
            Some(divisor) => self.integers(lanes).divide_by(d, &x, divisor),
            None => {
                let y = self.lanes(b)?;
                self.divide_lanes(d, lanes, &x, &y)
            }
        }
    }

    /// By lanes of any value: 8 and 16 bits divide as f32, 32 bits as f64. That is exact: the quotient of two integers
    /// that a float holds is never so close below an integer that rounding lifts it there.
    fn divide_lanes(&mut self, d: Division, lanes: usize, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let bits = x.lane.bits();
        match bits {
            8 | 16 => {
                let (x, y) = (self.resize(x, lanes, 32, d.signed)?, self.resize(y, lanes, 32, d.signed)?);
                let (a, b) = (self.map_op(Op::I32ToF32, &x)?, self.map_op(Op::I32ToF32, &y)?);
                let quotient = self.zip_op(Op::DivF32, &a, &b)?;
                // Of a division by zero nothing is kept, so what it converts to does not matter.
                let quotient = self.map_op(Op::F32ToI32, &quotient)?;
                let result = self.integers(lanes).finish_division(d, &x, &y, &quotient)?;
                self.resize(&result, lanes, bits, false)
            }
            32 => {
                let double = |e: &mut Self, x| match d.signed {
                    true => e.widen(Op::I32ToF64, x, lanes, Lane::F64),
                    false => e.u32_to_doubles(x, lanes),
                };
                let (a, b) = (double(self, x)?, double(self, y)?);
                let quotient = self.zip_op(Op::DivF64, &a, &b)?;
                let quotient = self.small_doubles_to_32_bits(&quotient, lanes, d.signed)?;
                self.integers(lanes).finish_division(d, x, y, &quotient)
            }
            _ => self.divide_lanes_64(d, lanes, x, y),
        }
    }
}

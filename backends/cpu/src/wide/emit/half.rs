//! Floats of 16 bits compute as f32 and are rounded once.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::Arg;
use super::kernel::Emit;
use super::value::{Order, Parts};
use crate::shared::lane::Lane;
use halide_core::types::ScalarType;
use regalloc2::VReg;

impl Emit<'_> {
    /// Halves, as their bits, as f32 lanes, exactly.
    pub(super) fn half_to_f32(&mut self, ty: ScalarType, lanes: usize, x: &Parts) -> Emitted<Parts> {
        match ty {
            ScalarType::F16 => self.widen(Op::F16ToF32, x, lanes, Lane::F32),
            ScalarType::BF16 => {
                // The upper half of a float.
                let wide = self.resize(x, lanes, 32, false)?;
                Ok(self.map_imm(Op::ShlD, &wide, 16)?.as_lane(Lane::F32))
            }
            _ => refuse(format!("{ty} as halves")),
        }
    }
    /// Doubles, or integers of 32 or 64 bits, as floats that round to the same halves as they do: what is below 13
    /// binary digits is cut off, and makes the last one that is left odd. A float holds that, wherever it does not
    /// round to zero.
    pub(super) fn floats_for_halves(&mut self, x: &Parts, lanes: usize, from: ScalarType) -> Emitted<Parts> {
        let exact = match from.bits() {
            _ if from.is_float() => x.clone(),
            64 => {
                let odd = self.rounded_to_odd(x, from.is_signed_int())?;
                self.ints_to_floats(&odd, lanes, from, ScalarType::F64)?
            }
            _ => self.ints_to_floats(x, lanes, from, ScalarType::F64)?,
        };
        const BELOW: u64 = (1 << 40) - 1;
        let bits = exact.as_lane(Lane::I64);
        let below = self.splat_like(&bits, BELOW)?;
        let rest = self.zip_op(Op::And, &bits, &below)?;
        let sticky = self.zip_op(Op::AddQ, &rest, &below)?;
        let odd = self.zip_op(Op::Or, &bits, &sticky)?;
        let kept = self.splat_like(&bits, !BELOW)?;
        let odd = self.zip_op(Op::And, &odd, &kept)?;
        self.narrow(Op::F64ToF32, &odd.as_lane(Lane::F64), lanes, Lane::F32)
    }
    /// f32 lanes rounded to halves, to even.
    pub(super) fn f32_to_half(&mut self, ty: ScalarType, lanes: usize, x: &Parts) -> Emitted<Parts> {
        match ty {
            ScalarType::F16 => {
                let code = self.code(Op::F32ToF16, x.view)?;
                let result = super::shuffle::narrower(x.view);
                let sources: Vec<VReg> = x.regs.to_vec();
                let chunks: Vec<VReg> = sources
                    .into_iter()
                    .map(|r| self.result_of(code, result, &[Arg::Use(r, x.view), Arg::Imm(0)]))
                    .collect();
                self.join(Lane::I16, lanes, &chunks, x.view.bytes() / 2)
            }
            ScalarType::BF16 => {
                let bits = x.as_lane(Lane::I32);
                let upper = self.map_imm(Op::ShrD, &bits, 16)?;
                let one = self.splat_like(&bits, 1)?;
                let odd = self.zip_op(Op::And, &upper, &one)?;
                let half = self.splat_like(&bits, 0x7fff)?;
                let sum = self.zip_op(Op::AddD, &bits, &half)?;
                let sum = self.zip_op(Op::AddD, &sum, &odd)?;
                let rounded = self.map_imm(Op::ShrD, &sum, 16)?;
                // A NaN must not be rounded to an infinity: it keeps its upper half, and is quiet.
                let quiet = self.splat_like(&bits, 0x40)?;
                let nan = self.zip_op(Op::Or, &upper, &quiet)?;
                let is_nan = self.compare_floats(Order::Unordered, x, x)?;
                let made = self.choose(&is_nan, &nan, &rounded)?;
                self.resize(&made, lanes, 16, false)
            }
            _ => refuse(format!("{ty} as halves")),
        }
    }
}

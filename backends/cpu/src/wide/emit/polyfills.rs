//! Polyfills: operations that AVX2 has no instruction for, made of those that it has. Each gives the very bits that the
//! instruction of AVX-512 gives, where somebody uses them.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, View};
use super::kernel::Emit;
use super::value::{Order, Parts};
use crate::shared::lane::Lane;
use halide_core::ops::UnOp;
use halide_core::types::ScalarType;
use regalloc2::VReg;

/// The bits of 2^52 as a double: below it, the lowest bits of a double are an integer.
const TWO_52: u64 = 0x4330_0000_0000_0000;
/// The bits of 2^84: the lowest bits of such a double are an integer times 2^32.
const TWO_84: u64 = 0x4530_0000_0000_0000;

impl Emit<'_> {
    /// An operation of one operand, if it has to be built.
    pub(super) fn polyfill1(&mut self, op: Op, view: View, a: VReg) -> Emitted<Option<VReg>> {
        if self.body.evex || !self.lacks(op, view) {
            return Ok(None);
        }
        Ok(Some(match op {
            Op::AbsQ => {
                let sign = self.sign_mask(Lane::I64, view, a)?;
                let flipped = self.op2(Op::Xor, view, a, sign)?;
                self.op2(Op::SubQ, view, flipped, sign)?
            }
            Op::U32ToF32 => {
                // Both halves are exact, so their sum is rounded once.
                let low = self.splat(Lane::I32, view, 0xffff)?;
                let low = self.op2(Op::And, view, a, low)?;
                let high = self.op_imm(Op::ShrD, view, a, 16)?;
                let (low, high) = (self.op1(Op::I32ToF32, view, low)?, self.op1(Op::I32ToF32, view, high)?);
                let factor = self.splat(Lane::F32, view, u64::from(65536f32.to_bits()))?;
                let high = self.op2(Op::MulF32, view, high, factor)?;
                self.op2(Op::AddF32, view, high, low)?
            }
            Op::I64ToF64 | Op::U64ToF64 => self.polyfill_i64_to_f64(view, a, op == Op::I64ToF64)?,
            Op::F32ToU32 => {
                let half = self.splat(Lane::F32, view, u64::from(2f32.powi(31).to_bits()))?;
                let limit = self.splat(Lane::F32, view, u64::from(2f32.powi(32).to_bits()))?;
                let upper = self.op2(Op::SubF32, view, a, half)?;
                let (low, high) = (self.op1(Op::F32ToI32, view, a)?, self.op1(Op::F32ToI32, view, upper)?);
                self.polyfill_unsigned(Lane::F32, view, [low, high], limit, a)?
            }
            Op::F64ToU64 => {
                let half = self.splat(Lane::F64, view, 2f64.powi(63).to_bits())?;
                let limit = self.splat(Lane::F64, view, 2f64.powi(64).to_bits())?;
                let upper = self.op2(Op::SubF64, view, a, half)?;
                let (low, high) = (self.op1(Op::F64ToI64, view, a)?, self.op1(Op::F64ToI64, view, upper)?);
                self.polyfill_unsigned(Lane::F64, view, [low, high], limit, a)?
            }
            Op::F64ToI64 => self.polyfill_f64_to_i64(view, a)?,
            _ => return Ok(None),
        }))
    }
    /// An operation of two operands, if it has to be built.
    pub(super) fn polyfill2(&mut self, op: Op, view: View, a: VReg, b: VReg) -> Emitted<Option<VReg>> {
        if self.body.evex || !self.lacks(op, view) {
            return Ok(None);
        }
        Ok(Some(match op {
            Op::MinSQ | Op::MaxSQ => {
                let greater = self.op2(Op::GreaterQ, view, a, b)?;
                let (yes, no) = if op == Op::MaxSQ { (a, b) } else { (b, a) };
                self.blend(Lane::I64, view, greater, yes, no)?
            }
            Op::MinUQ | Op::MaxUQ => {
                let top = self.splat(Lane::I64, view, 1 << 63)?;
                let (x, y) = (self.op2(Op::Xor, view, a, top)?, self.op2(Op::Xor, view, b, top)?);
                let greater = self.op2(Op::GreaterQ, view, x, y)?;
                let (yes, no) = if op == Op::MaxUQ { (a, b) } else { (b, a) };
                self.blend(Lane::I64, view, greater, yes, no)?
            }
            Op::MulQ => {
                let low = self.op2(Op::MulWideUD, view, a, b)?;
                let (x, y) = (self.op_imm(Op::ShrQ, view, a, 32)?, self.op_imm(Op::ShrQ, view, b, 32)?);
                let (x, y) = (self.op2(Op::MulWideUD, view, x, b)?, self.op2(Op::MulWideUD, view, a, y)?);
                let crossed = self.op2(Op::AddQ, view, x, y)?;
                let crossed = self.op_imm(Op::ShlQ, view, crossed, 32)?;
                self.op2(Op::AddQ, view, low, crossed)?
            }
            Op::SarEachQ => {
                let sign = self.sign_mask(Lane::I64, view, a)?;
                let flipped = self.op2(Op::Xor, view, a, sign)?;
                let shifted = self.op2(Op::ShrEachQ, view, flipped, b)?;
                self.op2(Op::Xor, view, shifted, sign)?
            }
            _ => return Ok(None),
        }))
    }
    /// An operation by a constant, if it has to be built.
    pub(super) fn polyfill_imm(&mut self, op: Op, view: View, a: VReg, imm: i64) -> Emitted<Option<VReg>> {
        if self.body.evex || op != Op::SarQ {
            return Ok(None);
        }
        if imm >= 63 {
            return Ok(Some(self.sign_mask(Lane::I64, view, a)?));
        }
        // The sign, where it lands, is put back above.
        let shifted = self.op_imm(Op::ShrQ, view, a, imm)?;
        let sign = self.splat(Lane::I64, view, 1 << (63 - imm))?;
        let flipped = self.op2(Op::Xor, view, shifted, sign)?;
        Ok(Some(self.op2(Op::SubQ, view, flipped, sign)?))
    }

    /// Both halves become doubles that are exact; the sum of these is rounded once.
    fn polyfill_i64_to_f64(&mut self, view: View, a: VReg, signed: bool) -> Emitted<VReg> {
        let (magic, bias) = if signed { (TWO_84 | 1 << 31, 1 << 31) } else { (TWO_84, 0) };
        let high = self.op_imm(Op::ShrQ, view, a, 32)?;
        let high_bits = self.splat(Lane::I64, view, magic)?;
        // A signed half has its top bit flipped, which adds 2^31 to it.
        let high = self.op2(Op::Xor, view, high, high_bits)?;
        let exponent = self.splat(Lane::I64, view, TWO_52)?;
        let low = self.blend_odd(view, exponent, a)?;
        let both = f64::from_bits(TWO_84 | bias) + f64::from_bits(TWO_52);
        let both = self.splat(Lane::F64, view, both.to_bits())?;
        let high = self.op2(Op::SubF64, view, high, both)?;
        self.op2(Op::AddF64, view, high, low)
    }
    /// Unsigned integers of floats that are not negative: what converts as it is, and what converts when half of the
    /// range is taken away; the machine gives the sign bit for what does not. All ones from `limit` on.
    fn polyfill_unsigned(
        &mut self,
        lane: Lane,
        view: View,
        [low, high]: [VReg; 2],
        limit: VReg,
        x: VReg,
    ) -> Emitted<VReg> {
        let large = self.sign_mask(lane, view, low)?;
        let high = self.op2(Op::And, view, high, large)?;
        let made = self.op2(Op::Or, view, low, high)?;
        let over = self.compare_float(lane, view, Order::LessOrEqual, limit, x)?;
        self.op2(Op::Or, view, made, over)
    }
    /// Lane by lane.
    fn polyfill_f64_to_i64(&mut self, view: View, a: VReg) -> Emitted<VReg> {
        let code = self.code(Op::FirstF64ToI64, View::X)?;
        let parts = Parts { lane: Lane::F64, view, regs: [a].into() };
        let mut quarters = Vec::new();
        for i in 0..view.bytes() / 16 {
            let x = self.quarter(&parts, i)?;
            let upper = self.op(Op::UpperBytes, View::X, &[Arg::Use(x, View::X), Arg::Imm(8)])?;
            let first = self.result_of(code, View::G64, &[Arg::Use(x, View::X)]);
            let second = self.result_of(code, View::G64, &[Arg::Use(upper, View::X)]);
            let first = self.vector_of_general(first)?;
            let args = [Arg::Use(first, View::X), Arg::Use(second, View::G64), Arg::Imm(1)];
            quarters.push(self.op(Op::InsertQ, View::X, &args)?);
        }
        match quarters[..] {
            [low, high] => self.join_pair(low, high, 16),
            _ => Ok(quarters[0]),
        }
    }

    // Conversions of whole values.

    /// 64-bit integers that a double holds, and that round to the same f32: what a double has no room for is cut off,
    /// and makes the last bit that is left odd.
    pub(super) fn rounded_to_odd(&mut self, x: &Parts, signed: bool) -> Emitted<Parts> {
        let rest = self.splat_like(x, 0x7ff)?;
        let sticky = self.zip_op(Op::And, x, &rest)?;
        let sticky = self.zip_op(Op::AddQ, &sticky, &rest)?;
        let odd = self.zip_op(Op::Or, x, &sticky)?;
        let kept = self.splat_like(x, !0x7ff)?;
        let odd = self.zip_op(Op::And, &odd, &kept)?;
        // Numbers up to 2^53 stay as they are.
        let (offset, bits) = if signed { (1u64 << 53, 54) } else { (0, 53) };
        let offset = self.splat_like(x, offset)?;
        let shifted = self.zip_op(Op::AddQ, x, &offset)?;
        let upper = self.map_imm(Op::ShrQ, &shifted, bits)?;
        let zero = self.splat_like(x, 0)?;
        let small = self.compare_ints(halide_core::ops::BinOp::Eq, false, &upper, &zero)?;
        self.choose(&small, x, &odd)
    }
    /// Unsigned 32-bit lanes as doubles.
    pub(super) fn u32_to_doubles(&mut self, x: &Parts, lanes: usize) -> Emitted<Parts> {
        if self.body.evex {
            return self.widen(Op::U32ToF64, x, lanes, Lane::F64);
        }
        let top = self.splat_like(x, 1 << 31)?;
        let less = self.zip_op(Op::Xor, x, &top)?;
        let made = self.widen(Op::I32ToF64, &less, lanes, Lane::F64)?;
        let half = self.splat_like(&made, 2f64.powi(31).to_bits())?;
        self.zip_op(Op::AddF64, &made, &half)
    }
    /// Doubles that fit into 32 bits, of which the lowest are what matters, truncated.
    pub(super) fn small_doubles_to_32_bits(&mut self, x: &Parts, lanes: usize, signed: bool) -> Emitted<Parts> {
        if self.body.evex {
            let wide = self.map_op(Op::F64ToI64, x)?.as_lane(Lane::I64);
            return self.resize(&wide, lanes, 32, true);
        }
        if signed {
            return self.narrow(Op::F64ToI32, x, lanes, Lane::I32);
        }
        let whole = self.round(UnOp::Floor, x)?;
        let half = self.splat_like(x, 2f64.powi(31).to_bits())?;
        let less = self.zip_op(Op::SubF64, &whole, &half)?;
        let made = self.narrow(Op::F64ToI32, &less, lanes, Lane::I32)?;
        let top = self.splat_like(&made, 1 << 31)?;
        self.zip_op(Op::Xor, &made, &top)
    }
    /// Doubles as integers of up to 32 bits: truncated, saturated, NaN gives 0.
    pub(super) fn doubles_to_small_ints(&mut self, x: &Parts, lanes: usize, to: ScalarType) -> Emitted<Parts> {
        let signed = to.is_signed_int();
        let limit = |v: Option<i128>| (v.unwrap_or(0) as f64).to_bits();
        let most = self.splat_like(x, limit(to.int_max()))?;
        let made = if signed {
            let least = self.splat_like(x, limit(to.int_min()))?;
            let clamped = self.zip_op(Op::MinF64, x, &most)?;
            let clamped = self.zip_op(Op::MaxF64, &clamped, &least)?;
            let nan = self.compare_floats(Order::Unordered, x, x)?;
            let zero = self.splat_like(x, 0)?;
            self.choose(&nan, &zero, &clamped)?
        } else {
            let positive = self.positive(x, Op::MaxF64)?;
            self.zip_op(Op::MinF64, &positive, &most)?
        };
        let made = self.small_doubles_to_32_bits(&made, lanes, signed || to.bits() < 32)?;
        self.resize(&made, lanes, to.bits(), false)
    }
}

//! Registers as the lanes and floats of which `halide_backend` makes total operators.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, Refusal};
use super::int::{ADD, SUB, extreme};
use super::kernel::Emit;
use super::value::{Mask, Order, Parts, by_bits, pick};
use crate::shared::lane::Lane;
use halide_backend::{Arithmetic, BitCounts, Divide, DivideByConstant, FloatLanes, Halves, IntLanes, Products};
use halide_core::ops::{BinOp, UnOp};

/// Integers: the registers of `lanes` lanes.
pub(super) struct Integers<'e, 'a> {
    e: &'e mut Emit<'a>,
    lanes: usize,
}

/// Floats.
pub(super) struct Floats<'e, 'a>(pub(super) &'e mut Emit<'a>);

impl<'a> Emit<'a> {
    /// The operators on integers. Division alone asks how many `lanes` there are.
    pub(super) fn integers(&mut self, lanes: usize) -> Integers<'_, 'a> {
        Integers { e: self, lanes }
    }
}

impl IntLanes for Integers<'_, '_> {
    type Value = Parts;
    type Truth = Mask;
    type Error = Refusal;

    fn width(&self, x: &Parts) -> u32 {
        x.lane.bits()
    }
    fn constant(&mut self, like: &Parts, bits: u64) -> Emitted<Parts> {
        self.e.splat_like(like, bits)
    }
    fn add(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.zip_op(by_bits(x.lane, ADD), x, y)
    }
    fn sub(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.zip_op(by_bits(x.lane, SUB), x, y)
    }
    fn mul(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.int_mul(x, y)
    }
    fn and(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.zip_op(Op::And, x, y)
    }
    fn or(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.zip_op(Op::Or, x, y)
    }
    fn xor(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.zip_op(Op::Xor, x, y)
    }
    fn not(&mut self, x: &Parts) -> Emitted<Parts> {
        self.e.invert(x)
    }
    fn min(&mut self, signed: bool, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.zip_op(extreme(BinOp::Min, x.lane, signed), x, y)
    }
    fn max(&mut self, signed: bool, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.zip_op(extreme(BinOp::Max, x.lane, signed), x, y)
    }
    fn shift_left(&mut self, x: &Parts, by: u32) -> Emitted<Parts> {
        self.e.shift_left(x, by)
    }
    fn shift_right(&mut self, signed: bool, x: &Parts, by: u32) -> Emitted<Parts> {
        self.e.shift_right(signed, x, by)
    }
    fn compare(&mut self, op: BinOp, signed: bool, x: &Parts, y: &Parts) -> Emitted<Mask> {
        self.e.compare_ints(op, signed, x, y)
    }
    fn select(&mut self, truth: &Mask, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.e.choose(truth, x, y)
    }

    /// AVX-512 has it.
    fn ternary(&mut self, table: u8, x: &Parts, y: &Parts, z: &Parts) -> Emitted<Option<Parts>> {
        let view = x.view;
        if self.e.lacks(Op::Ternary, view) {
            return Ok(None);
        }
        let regs = (0..x.regs.len()).map(|i| self.e.ternary(view, x.regs[i], y.regs[i], z.regs[i], table));
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Some(Parts { regs: regs.into(), ..x.clone() }))
    }
    /// One comparison finds sign bits in either kind of mask.
    fn select_negative(&mut self, sign: &Parts, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let (lane, view) = (x.lane, x.view);
        let regs = (0..x.regs.len()).map(|i| {
            let negative = self.e.sign_mask(lane, view, sign.regs[i])?;
            self.e.blend(lane, view, negative, x.regs[i], y.regs[i])
        });
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { regs: regs.into(), ..x.clone() })
    }
}

impl Arithmetic for Integers<'_, '_> {}

/// Products of 64-bit lanes: the machine multiplies their lower halves, whatever is above.
impl Products for Integers<'_, '_> {
    fn mul_halves(&mut self, x: &Parts, y: &Parts) -> Emitted<Parts> {
        match x.lane {
            Lane::I64 => self.e.zip_op(Op::MulWideUD, x, y),
            _ => self.e.int_mul(x, y),
        }
    }
    fn lower_half(&mut self, x: &Parts) -> Emitted<Parts> {
        if x.lane == Lane::I64 {
            return Ok(x.clone());
        }
        let mask = self.e.splat_like(x, (1 << (x.lane.bits() / 2)) - 1)?;
        self.e.zip_op(Op::And, x, &mask)
    }
}

/// Ones of half bytes come from a table; those of bytes are added up.
impl BitCounts for Integers<'_, '_> {
    fn ones_in_bytes(&mut self, x: &Parts) -> Emitted<Parts> {
        let words = x.as_lane(Lane::I16);
        let table: Vec<u8> = (0..x.view.bytes()).map(|i| (i as u8 % 16).count_ones() as u8).collect();
        let table = self.e.pattern(table, x.view)?;
        let table = Parts { regs: x.regs.iter().map(|_| table).collect(), ..x.as_lane(Lane::I8) };
        let low = self.e.splat_like(&table, 0x0f)?;
        let upper = self.e.map_imm(Op::ShrW, &words, 4)?;
        let mut counts = Vec::new();
        for half in [&words, &upper] {
            let half = self.e.zip_op(Op::And, &half.as_lane(Lane::I8), &low)?;
            counts.push(self.e.zip_op(Op::ShuffleBytes, &table, &half)?);
        }
        Ok(self.e.zip_op(Op::AddB, &counts[0], &counts[1])?.as_lane(x.lane))
    }
}

impl Divide for Integers<'_, '_> {}

impl DivideByConstant for Integers<'_, '_> {
    fn divide_unsigned(&mut self, x: &Parts, divisor: u64, width: u32) -> Emitted<Parts> {
        match x.lane {
            // There is no room for the reciprocal, but only one quotient above 0.
            Lane::I64 if divisor > 1 << 63 => {
                let (limit, one) = (self.constant(x, divisor)?, self.constant(x, 1)?);
                let zero = self.constant(x, 0)?;
                let reached = self.compare(BinOp::Ge, false, x, &limit)?;
                self.select(&reached, &one, &zero)
            }
            Lane::I8 => {
                let wide = self.e.resize(x, self.lanes, 16, false)?;
                let quotient = self.divide_by_reciprocal(&wide, divisor, 8)?;
                self.e.resize(&quotient, self.lanes, 8, false)
            }
            _ => self.divide_by_reciprocal(x, divisor, width),
        }
    }
    fn mul_high_by(&mut self, x: &Parts, factor: u64) -> Emitted<Parts> {
        if x.lane == Lane::I64 {
            let factor = Halves { lower: self.constant(x, factor)?, upper: self.constant(x, factor >> 32)? };
            return self.mul_high_unsigned(x, &factor);
        }
        let factor = self.constant(x, factor)?;
        self.e.mul_high(self.lanes, false, x, &factor)
    }
}

impl FloatLanes for Floats<'_, '_> {
    type Value = Parts;
    type Truth = Mask;
    type Error = Refusal;

    fn constant(&mut self, like: &Parts, value: f64) -> Emitted<Parts> {
        let bits = if like.lane == Lane::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
        self.0.splat_like(like, bits)
    }
    fn arithmetic(&mut self, op: BinOp, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let row = match op {
            BinOp::Add => pick(x.lane, Op::AddF32, Op::AddF64),
            BinOp::Sub => pick(x.lane, Op::SubF32, Op::SubF64),
            BinOp::Mul => pick(x.lane, Op::MulF32, Op::MulF64),
            _ => pick(x.lane, Op::DivF32, Op::DivF64),
        };
        self.0.zip_op(row, x, y)
    }
    fn floor(&mut self, x: &Parts) -> Emitted<Parts> {
        self.0.round(UnOp::Floor, x)
    }
    fn magnitude(&mut self, x: &Parts) -> Emitted<Parts> {
        self.0.magnitude(x)
    }
    fn compare(&mut self, op: BinOp, x: &Parts, y: &Parts) -> Emitted<Mask> {
        let order = if op == BinOp::Eq { Order::Equal } else { Order::Less };
        self.0.compare_floats(order, x, y)
    }
    fn is_nan(&mut self, x: &Parts) -> Emitted<Mask> {
        self.0.compare_floats(Order::Unordered, x, x)
    }
    fn select(&mut self, truth: &Mask, x: &Parts, y: &Parts) -> Emitted<Parts> {
        self.0.choose(truth, x, y)
    }
    /// The instruction gives the second operand of equal ones, and where one is a NaN.
    fn extreme(&mut self, op: BinOp, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let row = match op {
            BinOp::Min => pick(x.lane, Op::MinF32, Op::MinF64),
            _ => pick(x.lane, Op::MaxF32, Op::MaxF64),
        };
        self.0.zip_op(row, x, y)
    }
}

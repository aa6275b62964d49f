//! Counts of bits.

use super::super::Made;
use super::super::instruction_table::Op;
use super::Emit;
use super::value::{Parts, by_bits};
use crate::codegen::Lane;
use halide_core::ops::UnOp;

const SHIFTS: [Op; 3] = [Op::ShrW, Op::ShrD, Op::ShrQ];

impl Emit<'_> {
    /// `Popcount`, `Clz` or `Ctz` of integer lanes.
    pub(super) fn count_bits(&mut self, op: UnOp, x: &Parts) -> Made<Parts> {
        let lane = x.lane;
        match op {
            UnOp::Clz if lane == Lane::I32 && !self.lacks(Op::LeadingZerosD, x.view) => {
                self.map_op(Op::LeadingZerosD, x)
            }
            UnOp::Clz if lane == Lane::I64 && !self.lacks(Op::LeadingZerosQ, x.view) => {
                self.map_op(Op::LeadingZerosQ, x)
            }
            UnOp::Clz => {
                // Ones below the highest one; what is left is leading.
                let mut filled = x.clone();
                let mut distance = 1;
                while distance < lane.bits() {
                    let shifted = self.shift_const(false, &filled, -i64::from(distance))?;
                    filled = self.zip_op(Op::Or, &filled, &shifted)?;
                    distance *= 2;
                }
                let leading = self.invert(&filled)?;
                self.popcount(&leading)
            }
            UnOp::Ctz => {
                // Ones just where the trailing zeros are.
                let one = self.splat_like(x, 1)?;
                let below = self.zip_op(by_bits(lane, [Op::SubB, Op::SubW, Op::SubD, Op::SubQ]), x, &one)?;
                let zeros = self.invert(x)?;
                let trailing = self.zip_op(Op::And, &below, &zeros)?;
                self.popcount(&trailing)
            }
            _ => self.popcount(x),
        }
    }
    /// Ones of half bytes come from a table; those of bytes are added up.
    fn popcount(&mut self, x: &Parts) -> Made<Parts> {
        let words = x.as_lane(Lane::I16);
        let table: Vec<u8> = (0..x.view.bytes()).map(|i| (i as u8 % 16).count_ones() as u8).collect();
        let table = self.pattern(table, x.view)?;
        let table = Parts { regs: x.regs.iter().map(|_| table).collect(), ..x.as_lane(Lane::I8) };
        let low = self.splat_like(&table, 0x0f)?;
        let upper = self.map_imm(Op::ShrW, &words, 4)?;
        let mut counts = Vec::new();
        for half in [&words, &upper] {
            let half = self.zip_op(Op::And, &half.as_lane(Lane::I8), &low)?;
            counts.push(self.zip_op(Op::ShuffleBytes, &table, &half)?);
        }
        let bytes = self.zip_op(Op::AddB, &counts[0], &counts[1])?;
        if x.lane == Lane::I8 {
            return Ok(bytes);
        }
        let at = x.lane.bits().trailing_zeros() as usize - 4;
        let mut sum = bytes.as_lane(x.lane);
        let mut width = 8;
        while width < x.lane.bits() {
            let higher = self.map_imm(SHIFTS[at], &sum, i64::from(width))?;
            sum = self.zip_op(Op::AddB, &sum, &higher)?;
            width *= 2;
        }
        // The count is in the lowest byte; above it are partial sums.
        let lowest = self.splat_like(&sum, 0xff)?;
        self.zip_op(Op::And, &sum, &lowest)
    }
}

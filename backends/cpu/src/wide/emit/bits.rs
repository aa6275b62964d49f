//! Counts of bits.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::kernel::Emit;
use super::value::Parts;
use crate::shared::lane::Lane;
use halide_backend::BitCounts;
use halide_core::ops::UnOp;

impl Emit<'_> {
    /// `Popcount`, `Clz` or `Ctz` of integer lanes.
    pub(super) fn count_bits(&mut self, op: UnOp, lanes: usize, x: &Parts) -> Emitted<Parts> {
        let lane = x.lane;
        match op {
            UnOp::Clz if lane == Lane::I32 && !self.lacks(Op::LeadingZerosD, x.view) => {
                self.map_op(Op::LeadingZerosD, x)
            }
            UnOp::Clz if lane == Lane::I64 && !self.lacks(Op::LeadingZerosQ, x.view) => {
                self.map_op(Op::LeadingZerosQ, x)
            }
            UnOp::Clz => self.integers(lanes).leading_zeros(x),
            UnOp::Ctz => self.integers(lanes).trailing_zeros(x),
            _ => self.integers(lanes).ones(x),
        }
    }
}

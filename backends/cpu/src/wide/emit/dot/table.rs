//! The instructions for sums of products.

use super::super::super::instruction_table::Op;
use halide_core::types::ScalarType::{self, *};

/// An instruction that multiplies narrow lanes, and adds so many of the products in each lane of 32 bits.
pub(super) struct Row {
    pub(super) op: Op,
    /// The number of products that are added.
    pub(super) count: usize,
    /// The types of the operands of a product.
    pub(super) sides: [ScalarType; 2],
    /// The side of which the machine takes the other sign: its top bits are flipped, and what it got too much, times
    /// the other side, is taken back from the sum.
    pub(super) flipped: Option<usize>,
    /// True if the instruction adds to a sum.
    pub(super) adds: bool,
    /// True if it is one of VNNI.
    pub(super) vnni: bool,
}

/// The instructions, those that add more products first. All of them wrap around as the sum itself does;
/// `vpmaddubsw`, which does not, is not one of them.
pub(super) static ROWS: &[Row] = &[
    Row { op: Op::AddDotB, count: 4, sides: [U8, I8], flipped: None, adds: true, vnni: true },
    Row { op: Op::AddDotB, count: 4, sides: [I8, I8], flipped: Some(0), adds: true, vnni: true },
    Row { op: Op::AddDotB, count: 4, sides: [U8, U8], flipped: Some(1), adds: true, vnni: true },
    Row { op: Op::AddDotW, count: 2, sides: [I16, I16], flipped: None, adds: true, vnni: true },
    Row { op: Op::DotW, count: 2, sides: [I16, I16], flipped: None, adds: false, vnni: false },
];

impl Row {
    /// The bits of an operand.
    pub(super) fn bits(&self) -> u32 {
        self.sides[0].bits()
    }
    /// Returns true if a machine has the instruction.
    pub(super) fn is_there(&self, vnni: bool) -> bool {
        vnni || !self.vnni
    }
    /// The instructions that a register of a sum takes, where there is a sum to add to or not; corrections for flipped
    /// bits are mostly made outside of the loop.
    fn cost(&self, has_sum: bool) -> u32 {
        let joined = if self.adds == has_sum { 0 } else { 1 };
        let corrected = if self.flipped.is_some() { 2 } else { 0 };
        1 + joined + corrected
    }
}

/// The row of least cost for products of operands of these types.
pub(super) fn cheapest(count: usize, sides: [ScalarType; 2], vnni: bool, has_sum: bool) -> Option<&'static Row> {
    let fits = |row: &&Row| row.count == count && row.sides == sides && row.is_there(vnni);
    ROWS.iter().filter(fits).min_by_key(|row| row.cost(has_sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum takes the instruction that adds to it, and a first product the one that needs no sum.
    #[test]
    fn the_cheapest_row_is_taken() {
        let op = |count, sides, vnni, has_sum| cheapest(count, sides, vnni, has_sum).map(|row| row.op);
        assert_eq!(op(2, [I16, I16], true, true), Some(Op::AddDotW));
        assert_eq!(op(2, [I16, I16], true, false), Some(Op::DotW));
        assert_eq!(op(2, [I16, I16], false, true), Some(Op::DotW));
        assert_eq!(op(4, [U8, I8], true, false), Some(Op::AddDotB));
        assert_eq!(op(4, [U8, I8], false, true), None);
    }
}

//! The representation of lanes in registers.
//!
//! An Index scalar and a scalar truth (0 or 1) are in general registers. All other lanes, also single ones, are in
//! vector registers: in as few and as narrow ones as hold them, all of one width, of which the last may be filled in
//! part; what its other lanes hold means nothing. Truth of vectors is cut as the lanes are that it is of
//! ([`super::mask`]); `F16` and `BF16` are their bits.

use super::super::instruction_table::Op;
use super::super::machine::View;
use crate::shared::lane::Lane;
use halide_ir::Type;
use regalloc2::VReg;
use std::rc::Rc;

/// Registers of one width.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) lane: Lane,
    pub(super) view: View,
    pub(super) regs: Rc<[VReg]>,
}

/// A constant in a register.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Constant {
    /// These bits in every lane.
    Splat(Lane, View, u64),
    Bytes(Vec<u8>),
    Mask(u64),
}

/// A value in registers.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// A scalar Index or truth.
    Scalar(VReg),
    /// Lanes of data.
    Lanes(Parts),
    /// Truth lanes of a vector.
    Mask(Mask),
}

/// Registers of which width, up to `widest`, hold `lanes` lanes, and how many.
pub(super) fn shape(widest: View, lane: Lane, lanes: usize) -> (View, usize) {
    let view = View::holding(lane.bytes() * lanes, widest);
    (view, (lane.bytes() * lanes).div_ceil(view.bytes()))
}

/// Lanes in a register.
pub(super) fn per_part(lane: Lane, view: View) -> usize {
    view.bytes() / lane.bytes()
}

/// Words that a captured value takes.
pub(super) fn words(ty: Type) -> usize {
    // As Cranelift's parts of 128 bits lie one after the other.
    if ty.lanes == 1 { 1 } else { 2 * (Lane::of_elem(ty.elem).bytes() * ty.lanes as usize).div_ceil(16) }
}

impl Parts {
    pub(super) fn per(&self) -> usize {
        per_part(self.lane, self.view)
    }
    /// The same registers as other lanes of the same width.
    pub(super) fn as_lane(&self, lane: Lane) -> Parts {
        Parts { lane, ..self.clone() }
    }
}

/// The broadcast of a lane.
pub(super) fn broadcast_op(lane: Lane) -> Op {
    by_bits(lane, [Op::BroadcastB, Op::BroadcastW, Op::BroadcastD, Op::BroadcastQ])
}

/// The operation of a list that is for lanes of this width: 8, 16, 32 or 64 bits.
pub(super) fn by_bits(lane: Lane, ops: [Op; 4]) -> Op {
    ops[lane.bits().trailing_zeros() as usize - 3]
}

/// Truth, cut as lanes of a width are: one register for each register of these.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    /// The integer lanes that it is cut like.
    pub(super) lane: Lane,
    /// The registers of these.
    pub(super) view: View,
    pub(super) regs: Rc<[VReg]>,
}

/// A truth in registers, and the lanes for which it is cut.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Predicate {
    pub(super) truth: Rc<[VReg]>,
    /// The lanes of a vector's truth; none for a scalar's.
    pub(super) of: Option<Lane>,
    pub(super) lane: Lane,
    pub(super) lanes: usize,
}

impl Mask {
    /// Returns the number of lanes in each register.
    pub(super) fn per(&self) -> usize {
        per_part(self.lane, self.view)
    }
    /// Returns the mask as integer lanes, if truth is in vector registers.
    pub(super) fn as_parts(&self) -> Parts {
        Parts { lane: self.lane, view: self.view, regs: self.regs.clone() }
    }
}

/// The kinds of comparison of floats; a NaN is only ever unordered, or unequal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Unordered,
}

/// The operation for f32 or for f64 lanes.
pub(super) fn pick(lane: Lane, single: Op, double: Op) -> Op {
    if lane == Lane::F32 { single } else { double }
}

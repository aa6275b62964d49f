//! Integer lanes of other widths. AVX2 packs registers two by two, half by half, where AVX-512 has one instruction.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, View};
use super::kernel::Emit;
use super::value::Parts;
use crate::shared::lane::Lane;
use halide_backend::Interval;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use regalloc2::VReg;

/// The ways to narrow two registers into one, of half the lanes' width.
#[derive(Clone, Copy)]
enum Pack {
    /// The lower halves of 64-bit lanes.
    Low,
    With(Op),
}

impl Emit<'_> {
    /// Integer lanes of another width: extended, or cut.
    pub(super) fn resize(&mut self, x: &Parts, lanes: usize, to: u32, signed: bool) -> Emitted<Parts> {
        let x = &x.as_lane(x.lane.as_int());
        let (from, target) = (x.lane.bits(), Lane::int(to));
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => Ok(x.clone()),
            std::cmp::Ordering::Less => self.widen(widening(from, to, signed), x, lanes, target),
            std::cmp::Ordering::Greater => self.cut_lanes(x, lanes, to, Cut::Wrap),
        }
    }
    /// An instruction whose result is wider than its operand, on every part of the result.
    pub(super) fn widen(&mut self, row: Op, x: &Parts, lanes: usize, lane: Lane) -> Emitted<Parts> {
        let (view, count) = self.shape(lane, lanes);
        let bytes = view.bytes() * x.lane.bytes() / lane.bytes();
        let source = View::holding(bytes, x.view);
        let regs = (0..count).map(|i| {
            let chunk = self.chunk(x, i, bytes.max(4).min(x.view.bytes()))?;
            let made = self.op(row, view, &[Arg::Use(chunk, source)])?;
            self.last_folds(bytes);
            Ok(made)
        });
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { lane, view, regs: regs.into() })
    }
    /// An instruction whose result is narrower than its operand, on every part of that.
    pub(super) fn narrow(&mut self, row: Op, x: &Parts, lanes: usize, lane: Lane) -> Emitted<Parts> {
        let code = self.code(row, x.view)?;
        let bytes = x.view.bytes() * lane.bytes() / x.lane.bytes();
        let result = View::holding(bytes, x.view);
        let sources: Vec<VReg> = x.regs.to_vec();
        let chunks: Vec<VReg> =
            sources.into_iter().map(|r| self.result_of(code, result, &[Arg::Use(r, x.view)])).collect();
        self.join(lane, lanes, &chunks, bytes)
    }
    /// Integers clamped to the range of `to`.
    pub(super) fn saturate(&mut self, x: &Parts, lanes: usize, from: ScalarType, to: ScalarType) -> Emitted<Parts> {
        let (source, target, signed) = (from.bits(), to.bits(), from.is_signed_int());
        let mut x = x.clone();
        if self.packs(&x, target) && signed && !to.is_signed_int() && target < source && source < 64 {
            return self.cut_lanes(&x, lanes, target, Cut::Positive);
        }
        if signed && !to.is_signed_int() {
            let zero = self.splat_like(&x, 0)?;
            x = self.int_binary(BinOp::Max, true, &x, &zero)?;
        }
        if target < source && (to.is_signed_int() == signed || !to.is_signed_int()) {
            let cut = if to.is_signed_int() { Cut::Signed } else { Cut::Unsigned };
            return self.cut_lanes(&x, lanes, target, cut);
        }
        if Interval::of_type(to).high < Interval::of_type(from).high {
            let most = self.splat_like(&x, Interval::of_type(to).high as u64)?;
            x = self.int_binary(BinOp::Min, signed, &x, &most)?;
        }
        self.resize(&x, lanes, target, signed)
    }

    /// Integers that are in the range of `to`, as lanes of its width.
    pub(super) fn fit(&mut self, x: &Parts, lanes: usize, to: ScalarType) -> Emitted<Parts> {
        match x.lane.bits() {
            from if from > to.bits() && from < 64 => {
                self.cut_lanes(x, lanes, to.bits(), if to.is_signed_int() { Cut::Signed } else { Cut::Positive })
            }
            _ => self.resize(x, lanes, to.bits(), to.is_signed_int()),
        }
    }
    /// Returns true if lanes become narrower ones by packing registers two by two: where there is nothing else, and
    /// where that fills registers, since an instruction that narrows one takes two steps on most machines, and its
    /// results are to be joined. Lanes that may not fit would have to be cut before.
    fn packs(&self, x: &Parts, to: u32) -> bool {
        let ratio = (x.lane.bits() / to.min(x.lane.bits())) as usize;
        !self.body.evex || (x.lane.bits() < 64 && x.view != View::X && x.regs.len().is_multiple_of(ratio))
    }
    /// Integer lanes of a smaller width.
    pub(super) fn cut_lanes(&mut self, x: &Parts, lanes: usize, to: u32, cut: Cut) -> Emitted<Parts> {
        let from = x.lane.bits();
        if !self.packs(x, to) || (self.body.evex && cut == Cut::Wrap) {
            return self.narrow(narrowing(from, to, cut), x, lanes, Lane::int(to));
        }
        // After this, all values fit, or packing makes them fit.
        let most = u64::MAX >> (64 - to);
        let mut x = match cut {
            Cut::Wrap if from == 64 => x.clone(),
            Cut::Wrap => {
                let low = self.splat_like(x, most)?;
                self.zip_op(Op::And, x, &low)?
            }
            Cut::Unsigned => {
                let most = self.splat_like(x, most)?;
                self.int_binary(BinOp::Min, false, x, &most)?
            }
            Cut::Signed if from == 64 => {
                let (low, high) = (self.splat_like(x, !(most >> 1))?, self.splat_like(x, most >> 1)?);
                let x = self.int_binary(BinOp::Max, true, x, &low)?;
                self.int_binary(BinOp::Min, true, &x, &high)?
            }
            Cut::Signed | Cut::Positive => x.clone(),
        };
        if from == 64 {
            x = self.pack(&x, lanes, Pack::Low)?;
            if to < 32 && cut == Cut::Wrap {
                return self.cut_lanes(&x, lanes, to, cut);
            }
        }
        self.pack_to(&x, lanes, to, cut == Cut::Signed)
    }
    /// Truth as lanes, as lanes of another width.
    pub(super) fn resize_mask_lanes(&mut self, x: &Parts, lanes: usize, to: Lane) -> Emitted<Parts> {
        if to.bits() > x.lane.bits() {
            return self.resize(x, lanes, to.bits(), true);
        }
        let x = if x.lane == Lane::I64 { self.pack(x, lanes, Pack::Low)? } else { x.clone() };
        self.pack_to(&x, lanes, to.bits(), true)
    }
    /// Lanes of up to 32 bits packed; what does not fit becomes the nearest value that does.
    fn pack_to(&mut self, x: &Parts, lanes: usize, to: u32, signed: bool) -> Emitted<Parts> {
        let last = |wide, narrow| if signed { wide } else { narrow };
        match (x.lane.bits(), to) {
            (32, 16) => self.pack(x, lanes, Pack::With(last(Op::PackSatDW, Op::PackSatUDW))),
            (16, 8) => self.pack(x, lanes, Pack::With(last(Op::PackSatWB, Op::PackSatUWB))),
            (32, 8) => {
                let row = last(Op::PackSatWB, Op::PackSatUWB);
                if x.view != View::X && x.regs.len() > 2 {
                    return self.pack_four(x, Op::PackSatDW, row);
                }
                let words = self.pack(x, lanes, Pack::With(Op::PackSatDW))?;
                self.pack(&words, lanes, Pack::With(row))
            }
            _ => Ok(x.clone()),
        }
    }
    /// Lanes of half the width, two registers at a time.
    fn pack(&mut self, x: &Parts, lanes: usize, how: Pack) -> Emitted<Parts> {
        let lane = Lane::int(x.lane.bits() / 2);
        let (view, count) = self.shape(lane, lanes);
        let mut regs: Vec<VReg> = x.regs.to_vec();
        if view == View::X && x.view == View::Y {
            let both = Parts { regs: [regs[0]].into(), ..x.clone() };
            regs.push(self.chunk(&both, 1, 16)?);
        }
        let joined = regs.chunks(2).map(|pair| {
            let (low, high) = (pair[0], pair.last().copied().unwrap_or(pair[0]));
            let packed = self.pack_pair(view, how, low, high)?;
            // Each 128 bits of the one are packed with the same of the other.
            match view {
                View::X => Ok(packed),
                View::Y => self.permute_quarters(packed, [0, 2, 1, 3]),
                _ => self.gather_packed(packed, view, 2),
            }
        });
        let joined = joined.collect::<Emitted<Vec<_>>>()?;
        debug_assert_eq!(joined.len(), count);
        Ok(Parts { lane, view, regs: joined.into() })
    }
    fn pack_pair(&mut self, view: View, how: Pack, low: VReg, high: VReg) -> Emitted<VReg> {
        match how {
            Pack::Low => {
                let args = [Arg::Use(low, view), Arg::Use(high, view), Arg::Imm(0x88)];
                self.op(Op::ShuffleF32, view, &args)
            }
            Pack::With(row) => self.op2(row, view, low, high),
        }
    }
    /// The pieces of registers that were packed within 128 bits, `count` of them together, register after register.
    fn gather_packed(&mut self, packed: VReg, view: View, count: usize) -> Emitted<VReg> {
        let (parts, words) = (view.bytes() / 16, 4 / count);
        let place = |part: usize, register: usize, word: usize| (part * 4 + register * words + word) as u32;
        let all = (0..count).flat_map(|r| (0..parts).flat_map(move |p| (0..words).map(move |w| (p, r, w))));
        let order = self.pattern(all.flat_map(|(p, r, w)| place(p, r, w).to_le_bytes()).collect(), view)?;
        self.op2(Op::PermuteD, view, order, packed)
    }
    /// Lanes of a quarter of the width, four registers at a time.
    fn pack_four(&mut self, x: &Parts, first: Op, second: Op) -> Emitted<Parts> {
        let view = x.view;
        let regs = x.regs.chunks(4).map(|four| {
            let at = |i: usize| four[i.min(four.len() - 1)];
            let low = self.op2(first, view, at(0), at(1))?;
            let high = self.op2(first, view, at(2), at(3))?;
            let packed = self.op2(second, view, low, high)?;
            self.gather_packed(packed, view, 4)
        });
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { lane: Lane::I8, view, regs: regs.into() })
    }
    /// Quarters of a register of 256 bits in this order.
    pub(super) fn permute_quarters(&mut self, x: VReg, order: [usize; 4]) -> Emitted<VReg> {
        if order == [0, 1, 2, 3] {
            return Ok(x);
        }
        let imm = order.iter().rev().fold(0, |imm, q| imm << 2 | *q as i64);
        self.op(Op::PermuteConstQ, View::Y, &[Arg::Use(x, View::Y), Arg::Imm(imm)])
    }
}

/// The treatment of values that do not fit into the narrower lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Wrap,
    Signed,
    /// Saturates unsigned lanes.
    Unsigned,
    /// Saturates signed lanes to unsigned ones, as only packing does; elsewhere for lanes that are in range.
    Positive,
}

fn widening(from: u32, to: u32, signed: bool) -> Op {
    match (from, to, signed) {
        (8, 16, true) => Op::WidenSignedBW,
        (8, 16, false) => Op::WidenUnsignedBW,
        (8, 32, true) => Op::WidenSignedBD,
        (8, 32, false) => Op::WidenUnsignedBD,
        (8, _, true) => Op::WidenSignedBQ,
        (8, _, false) => Op::WidenUnsignedBQ,
        (16, 32, true) => Op::WidenSignedWD,
        (16, 32, false) => Op::WidenUnsignedWD,
        (16, _, true) => Op::WidenSignedWQ,
        (16, _, false) => Op::WidenUnsignedWQ,
        (_, _, true) => Op::WidenSignedDQ,
        (_, _, false) => Op::WidenUnsignedDQ,
    }
}

fn narrowing(from: u32, to: u32, cut: Cut) -> Op {
    let rows = match (from, to) {
        (16, _) => [Op::NarrowWB, Op::NarrowSatWB, Op::NarrowSatUWB],
        (32, 8) => [Op::NarrowDB, Op::NarrowSatDB, Op::NarrowSatUDB],
        (32, _) => [Op::NarrowDW, Op::NarrowSatDW, Op::NarrowSatUDW],
        (_, 8) => [Op::NarrowQB, Op::NarrowSatQB, Op::NarrowSatUQB],
        (_, 16) => [Op::NarrowQW, Op::NarrowSatQW, Op::NarrowSatUQW],
        _ => [Op::NarrowQD, Op::NarrowSatQD, Op::NarrowSatUQD],
    };
    rows[match cut {
        Cut::Wrap => 0,
        Cut::Signed => 1,
        Cut::Unsigned | Cut::Positive => 2,
    }]
}

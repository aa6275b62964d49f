//! Scalarised gathers: lanes loaded one by one. A processor's own gather takes it as many steps, and on many of them
//! more: it is left for lanes of a mask, and for addresses that are no cheaper to have one by one.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, Mem, View};
use super::kernel::Emit;
use super::load_table::Load;
use super::value::{Parts, by_bits};
use crate::shared::lane::Lane;
use crate::shared::lane::data;
use crate::shared::linear::Linear;
use halide_core::types::ScalarType;
use halide_ir::{Expr, build};
use iced_x86::Code;
use regalloc2::VReg;

/// Indices of the lanes of a scalarised gather, which come to general registers one by one.
pub(super) struct LaneIndices {
    /// Lanes of 32 or 64 bits.
    indices: Parts,
    /// True if 32 bits are a number that may be negative.
    signed: bool,
    /// The indices of 32 bits that are in general registers: those of the lanes from `.0` on.
    ready: (usize, Vec<VReg>),
    /// The sixteen bytes of indices that were taken last, and which these are.
    quarter: Option<(usize, VReg)>,
}

impl Emit<'_> {
    /// Loads each lane of 32 or 64 bits from its own address.
    pub(super) fn load_scalarised(&mut self, load: &Load<'_>) -> Emitted<Parts> {
        let Load { lane, lanes, ref index, .. } = *load;
        let mem = self.start_of(load)?;
        if index.vectors.is_empty() {
            let addresses = self.lane_addresses(mem, lane.bytes(), index, lanes)?;
            return self.collect(lane, &addresses);
        }
        let Some(mut each) = self.small_indices(index)? else { return self.gather(lane, lanes, mem, index, None) };
        let table = self.flat(mem);
        self.collect_by(lane, lanes, |e, i| {
            let index = e.index_of(&mut each, i)?;
            Ok(Mem { index: Some((index, View::G64, lane.bytes() as u8)), ..table })
        })
    }
    /// The indices of lanes beyond an address, and that.
    pub(super) fn lane_indices(&mut self, lanes: usize, first: Mem, index: &Linear) -> Emitted<(LaneIndices, Mem)> {
        match self.small_indices(index)? {
            Some(each) => Ok((each, self.flat(first))),
            None => {
                let (indices, table) = self.indices(lanes, first, index)?;
                Ok((LaneIndices { indices, signed: true, ready: (0, Vec::new()), quarter: None }, table))
            }
        }
    }
    /// Indices that are data of at most 32 bits.
    fn small_indices(&mut self, index: &Linear) -> Emitted<Option<LaneIndices>> {
        let Some(x) = self.data_of(index).filter(|_| index.vectors[0].1 == 1) else { return Ok(None) };
        let ty = data(x.ty().elem);
        let (x, signed): (Expr, bool) = match ty.bits() {
            32 => (x, ty.is_signed_int()),
            8 | 16 => (build::cast_data(ScalarType::I32, x), true),
            _ => return Ok(None),
        };
        let indices = self.lanes(&x)?;
        Ok(Some(LaneIndices { indices, signed, ready: (0, Vec::new()), quarter: None }))
    }
    /// The index of lane `i` in a general register; lanes are to be asked for in order.
    pub(super) fn index_of(&mut self, each: &mut LaneIndices, i: usize) -> Emitted<VReg> {
        if each.indices.lane.bits() == 64 {
            return self.two_words(each, i);
        }
        if let Some(ready) = i.checked_sub(each.ready.0).and_then(|k| each.ready.1.get(k)) {
            return Ok(*ready);
        }
        let both = self.two_words(each, i / 2)?;
        let (shift, extend, view) = match each.signed {
            true => (Code::Sar_rm64_imm8, Code::Movsxd_r64_rm32, View::G64),
            false => (Code::Shr_rm64_imm8, Code::Mov_r32_rm32, View::G32),
        };
        let low = self.result_of(extend, view, &[Arg::Use(both, View::G32)]);
        let high = self.general(shift, both, Arg::Imm(32));
        each.ready = (i / 2 * 2, vec![low, high]);
        Ok(each.ready.1[i % 2])
    }
    /// Eight bytes of the indices, in a general register.
    fn two_words(&mut self, each: &mut LaneIndices, i: usize) -> Emitted<VReg> {
        let x = match each.quarter {
            Some((at, x)) if at == i / 2 => x,
            _ => self.quarter(&each.indices, i / 2)?,
        };
        each.quarter = Some((i / 2, x));
        self.word_of(x, i % 2)
    }
    /// Lane 0 or 1 of two 64-bit lanes, in a general register.
    fn word_of(&mut self, x: VReg, i: usize) -> Emitted<VReg> {
        if i == 0 {
            return self.general_of_lane(x);
        }
        let code = self.code(Op::ExtractQ, View::X)?;
        Ok(self.result_of(code, View::G64, &[Arg::Use(x, View::X), Arg::Imm(1)]))
    }

    /// One element from each address, in lanes that follow each other.
    pub(super) fn collect(&mut self, lane: Lane, addresses: &[Mem]) -> Emitted<Parts> {
        self.collect_by(lane, addresses.len(), |_, i| Ok(addresses[i]))
    }
    /// One element for each lane, in the order of lanes, from where `at` says.
    pub(super) fn collect_by(
        &mut self,
        lane: Lane,
        lanes: usize,
        mut at: impl FnMut(&mut Self, usize) -> Emitted<Mem>,
    ) -> Emitted<Parts> {
        let insert = by_bits(lane, [Op::InsertB, Op::InsertW, Op::InsertD, Op::LoadUpperQ]);
        let per = 16 / lane.bytes();
        let mut chunks = Vec::new();
        for first in (0..lanes).step_by(per) {
            let mem = at(self, first)?;
            let mut x = self.load_one(lane, mem)?;
            for i in first + 1..(first + per).min(lanes) {
                let mut args = vec![Arg::Use(x, View::X), Arg::Mem(at(self, i)?)];
                if lane.bits() < 64 {
                    args.push(Arg::Imm((i - first) as i64));
                }
                x = self.op(insert, View::X, &args)?;
            }
            chunks.push(x);
        }
        self.join(lane, lanes, &chunks, 16)
    }
    /// Lane `i` of 64-bit lanes in a general register.
    pub(super) fn lane_of(&mut self, parts: &Parts, i: usize) -> Emitted<VReg> {
        let x = self.quarter(parts, i / 2)?;
        self.word_of(x, i % 2)
    }
}

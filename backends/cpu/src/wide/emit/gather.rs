//! Lanes at addresses of their own: gathers and scatters of 32 and 64-bit lanes by the machine's own instructions.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, Mem, View};
use super::kernel::Emit;
use super::mask::Logic;
use super::shuffle::narrower;
use super::value::{Mask, Parts};
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use halide_ir::build;
use regalloc2::VReg;

impl Emit<'_> {
    /// Loads every lane that the mask has from its own address.
    pub(super) fn gather(
        &mut self,
        lane: Lane,
        lanes: usize,
        first: Mem,
        index: &Linear,
        mask: Option<&Mask>,
    ) -> Emitted<Parts> {
        let (indices, mem) = self.indices(lanes, first, index)?;
        let wide = lane.bits() == 64;
        let row = if wide { Op::GatherQQ } else { Op::GatherQD };
        let code = self.code(row, indices.view)?;
        let result = if wide { indices.view } else { narrower(indices.view) };
        let masks = self.index_masks(&indices, lane, lanes, mask)?;
        let zero = self.splat(lane.as_int(), result, 0)?;
        let mut chunks = Vec::new();
        for (i, mask) in masks.into_iter().enumerate() {
            let to = self.register(result);
            let mem = Mem { index: Some((indices.regs[i], indices.view, lane.bytes() as u8)), ..mem };
            let result = Arg::Mod { to, from: zero, view: result };
            let args = match self.body.evex {
                true => vec![result, Arg::SpentMask { to: self.register(View::K), from: mask }, Arg::Mem(mem)],
                false => {
                    let Arg::Mod { view, .. } = result else { continue };
                    vec![result, Arg::Mem(mem), Arg::Mod { to: self.register(view), from: mask, view }]
                }
            };
            self.push(code, args);
            chunks.push(to);
        }
        let bytes = if wide { indices.view.bytes() } else { indices.view.bytes() / 2 };
        self.join(lane, lanes, &chunks, bytes)
    }
    /// Stores every lane that the mask has to its own address, the last one last.
    pub(super) fn scatter(
        &mut self,
        lanes: usize,
        first: Mem,
        index: &Linear,
        parts: &Parts,
        mask: Option<&Mask>,
    ) -> Emitted<()> {
        let lane = parts.lane;
        if !self.body.evex {
            return self.scatter_each(lanes, first, index, parts, mask);
        }
        let (indices, mem) = self.indices(lanes, first, index)?;
        let wide = lane.bits() == 64;
        let row = if wide { Op::ScatterQQ } else { Op::ScatterQD };
        let code = self.code(row, indices.view)?;
        let view = if wide { indices.view } else { narrower(indices.view) };
        let masks = self.index_masks(&indices, lane, lanes, mask)?;
        for (i, mask) in masks.into_iter().enumerate() {
            let value = self.chunk(parts, i, indices.view.bytes() / 8 * lane.bytes())?;
            let spent = self.register(View::K);
            let mem = Mem { index: Some((indices.regs[i], indices.view, lane.bytes() as u8)), ..mem };
            self.push(code, vec![Arg::Mem(mem), Arg::SpentMask { to: spent, from: mask }, Arg::Use(value, view)]);
        }
        Ok(())
    }
    /// The index of each lane beyond an address in one register.
    pub(super) fn indices(&mut self, lanes: usize, first: Mem, index: &Linear) -> Emitted<(Parts, Mem)> {
        let mut sum = match index.vectors.is_empty() {
            true => None,
            false => Some(self.vector_sum(index, 1)?),
        };
        let distances = index.steps.iter().map(|(e, factor)| build::mul(e.clone(), build::int(*factor)));
        let step = distances.fold(build::int(index.step), build::add);
        if build::as_int(&step) != Some(0) || sum.is_none() {
            let ramp = build::ramp(build::int(0), step, lanes as u16);
            sum = Some(sum.map_or(ramp.clone(), |sum| build::add(sum, ramp)));
        }
        let sum = sum.unwrap_or_else(|| build::int(0));
        let mem = self.flat(first);
        Ok((self.lanes(&sum)?, mem))
    }
    /// Emits the mask of the lanes that are touched, for each register of indices: in vector registers, cut as the
    /// lanes are.
    fn index_masks(&mut self, indices: &Parts, lane: Lane, lanes: usize, mask: Option<&Mask>) -> Emitted<Vec<VReg>> {
        let per = indices.per();
        let (cut, view) = match self.body.evex {
            true => (Lane::I64, indices.view),
            false => (lane.as_int(), View::holding(per * lane.bytes(), self.body.widest)),
        };
        let recut = mask.map(|m| self.recut(m, lanes, cut)).transpose()?;
        (0..indices.regs.len())
            .map(|i| {
                let count = (lanes - i * per).min(per);
                let Some(mask) = &recut else { return self.first_lanes(cut, view, count) };
                let reg = match self.body.evex {
                    true => mask.regs[i],
                    false => {
                        let parts = Parts { lane: cut, view: mask.view, regs: mask.regs.clone() };
                        self.chunk(&parts, i, per * lane.bytes())?
                    }
                };
                if self.body.evex || count * lane.bytes() == view.bytes() {
                    return self.cut(reg, cut, view, count);
                }
                let first = self.first_lanes(cut, view, count)?;
                self.mask_logic(Logic::And, view, reg, first)
            })
            .collect()
    }
    /// Sixteen bytes of a value's lanes.
    pub(super) fn quarter(&mut self, parts: &Parts, i: usize) -> Emitted<VReg> {
        self.chunk(parts, i, 16)
    }
    /// The chunk `i` of so many bytes of a value's lanes: 64, 32, 16, 8 or 4.
    pub(super) fn chunk(&mut self, parts: &Parts, i: usize, bytes: usize) -> Emitted<VReg> {
        let whole = parts.view.bytes();
        if bytes >= whole {
            return Ok(parts.regs[i]);
        }
        let (reg, at) = (parts.regs[i * bytes / whole], i * bytes % whole);
        if bytes < 16 {
            let half = Parts { regs: [reg].into(), ..parts.clone() };
            let x = self.chunk(&half, at / 16, 16)?;
            if at % 16 == 0 {
                return Ok(x);
            }
            return self.op(Op::UpperBytes, View::X, &[Arg::Use(x, View::X), Arg::Imm((at % 16) as i64)]);
        }
        if at == 0 {
            return Ok(reg);
        }
        let (row, view) = if bytes == 32 { (Op::Extract256, View::Y) } else { (Op::Extract128, View::X) };
        let code = self.code(row, parts.view)?;
        Ok(self.result_of(code, view, &[Arg::Use(reg, parts.view), Arg::Imm((at / bytes) as i64)]))
    }
    /// Chunks of so many bytes (a power of two), one after the other, as the registers of a value.
    pub(super) fn join(&mut self, lane: Lane, lanes: usize, chunks: &[VReg], bytes: usize) -> Emitted<Parts> {
        let (view, count) = self.shape(lane, lanes);
        let (mut chunks, mut bytes) = (chunks.to_vec(), bytes);
        while bytes < view.bytes() && chunks.len() > count {
            let joined = chunks.chunks(2).map(|pair| match pair {
                [low, high] => self.join_pair(*low, *high, bytes),
                _ => Ok(pair[0]),
            });
            chunks = joined.collect::<Emitted<Vec<_>>>()?;
            bytes *= 2;
        }
        Ok(Parts { lane, view, regs: chunks.into() })
    }
    pub(super) fn join_pair(&mut self, low: VReg, high: VReg, bytes: usize) -> Emitted<VReg> {
        let (row, view, half) = match bytes {
            2 => (Op::UnpackLowW, View::X, View::X),
            4 => (Op::UnpackLowD, View::X, View::X),
            8 => (Op::UnpackLowQ, View::X, View::X),
            16 => (Op::Join128, View::Y, View::X),
            _ => (Op::Join256, View::Z, View::Y),
        };
        let mut args = vec![Arg::Use(low, view), Arg::Use(high, half)];
        if bytes >= 16 {
            args.push(Arg::Imm(1));
        }
        self.op(row, view, &args)
    }
}

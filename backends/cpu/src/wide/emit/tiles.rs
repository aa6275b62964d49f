//! Lanes of transposed tiles: loads from several places put together, lanes of two registers that take turns inside of
//! 128 bits, and chunks of registers.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, Mem, View};
use super::kernel::Emit;
use super::places::Place;
use super::value::{Parts, by_bits, per_part};
use crate::shared::lane::Lane;
use halide_ir::{Expr, ExprKind};
use regalloc2::VReg;

impl Emit<'_> {
    /// Vectors of as many lanes each, a power of two of up to 32 bytes, one after the other: those that are in memory
    /// as operands of instructions.
    pub(super) fn concatenated(&mut self, lane: Lane, vectors: &[Expr], picks: &[u16]) -> Emitted<Option<Parts>> {
        let lanes = vectors[0].lanes();
        let bytes = lanes as usize * lane.bytes();
        let all = usize::from(lanes) * vectors.len();
        let in_order = picks.len() == all && picks.iter().enumerate().all(|(i, p)| *p as usize == i);
        let fits = bytes.is_power_of_two() && (4..=32).contains(&bytes) && bytes <= self.body.widest.bytes();
        if !in_order || !fits || lanes == 1 || vectors.len() < 2 || vectors.iter().any(|v| v.lanes() != lanes) {
            return Ok(None);
        }
        if let Some(places) = self.dense_places(lane, vectors)? {
            return Ok(Some(self.collect_chunks(lane, all, bytes, &places)?));
        }
        let mut chunks = Vec::new();
        for v in vectors {
            chunks.push(self.lanes(v)?.regs[0]);
        }
        Ok(Some(self.join(lane, all, &chunks, bytes)?))
    }
    /// The places in memory of loads that nothing else needs; `None` if one is of another kind.
    fn dense_places(&mut self, lane: Lane, loads: &[Expr]) -> Emitted<Option<Vec<Mem>>> {
        let mut found = Vec::new();
        for e in loads {
            let ExprKind::Load { buf, index, mask: None } = e.kind() else { return Ok(None) };
            let linear = self.linear(index);
            if !linear.is_affine() || linear.step != 1 || self.memo.get(e).is_some() {
                return Ok(None);
            }
            let (place, elem) = self.place_of(*buf)?;
            if matches!(place, Place::Registers) || Some(elem) != e.ty().scalar() {
                return Ok(None);
            }
            found.push((place, linear));
        }
        let places = found.iter().map(|(place, linear)| self.address(*place, lane.bytes(), linear));
        Ok(Some(places.collect::<Emitted<Vec<_>>>()?))
    }
    /// So many bytes from each address, one after the other, as `lanes` lanes.
    fn collect_chunks(&mut self, lane: Lane, lanes: usize, bytes: usize, places: &[Mem]) -> Emitted<Parts> {
        let (view, _) = self.shape(lane, lanes);
        if bytes < 16 {
            let wide = if bytes == 4 { Lane::I32 } else { Lane::I64 };
            return Ok(Parts { lane, ..self.collect(wide, places)? });
        }
        let whole = if bytes == 16 { View::X } else { View::Y };
        let mut chunks = Vec::new();
        for pair in places.chunks(2) {
            let low = self.op(Op::Load, whole, &[Arg::Mem(pair[0])])?;
            chunks.push(match pair {
                [_, high] if whole < view => {
                    let (join, to) = if bytes == 16 { (Op::Join128, View::Y) } else { (Op::Join256, View::Z) };
                    self.op(join, to, &[Arg::Use(low, to), Arg::Mem(*high), Arg::Imm(1)])?
                }
                _ => low,
            });
            if whole == view && pair.len() == 2 {
                chunks.push(self.op(Op::Load, whole, &[Arg::Mem(pair[1])])?);
            }
        }
        let bytes = if whole < view { 2 * bytes } else { bytes };
        self.join(lane, lanes, &chunks, bytes)
    }

    /// Lanes that no constant is needed for: those that take turns, and chunks.
    pub(super) fn moved_inside(
        &mut self,
        lane: Lane,
        sources: &[VReg],
        (view, result): (View, View),
        picks: &[usize],
    ) -> Emitted<Option<VReg>> {
        let made = if view == result { self.unpacked(lane, sources, view, picks)? } else { None };
        match made {
            None => self.cut_out(lane, sources, view, picks),
            made => Ok(made),
        }
    }
    /// Lanes of two registers, or of one with itself, that take turns in each 128 bits, from the lower or the upper
    /// half of these; `None` of others.
    fn unpacked(&mut self, lane: Lane, sources: &[VReg], view: View, picks: &[usize]) -> Emitted<Option<VReg>> {
        let (per, block) = (per_part(lane, view), 16 / lane.bytes());
        let [first, second, ..] = *picks else { return Ok(None) };
        let (a, b, from) = (first / per, second / per, first % per);
        let turns = |(i, p): (usize, &usize)| {
            let source = if i % 2 == 0 { a } else { b };
            *p == source * per + i / block * block + from + i % block / 2
        };
        let short = picks.len() < block && from + picks.len() / 2 <= block / 2;
        if !(from == 0 || from == block / 2 || short) || !picks.iter().enumerate().all(turns) {
            return Ok(None);
        }
        let low = by_bits(lane, [Op::UnpackLowB, Op::UnpackLowW, Op::UnpackLowD, Op::UnpackLowQ]);
        let high = by_bits(lane, [Op::UnpackHighB, Op::UnpackHighW, Op::UnpackHighD, Op::UnpackHighQ]);
        if from == block / 2 {
            return Ok(Some(self.op2(high, view, sources[a], sources[b])?));
        }
        let made = self.op2(low, view, sources[a], sources[b])?;
        if from == 0 {
            return Ok(Some(made));
        }
        let bytes = 2 * from * lane.bytes();
        Ok(Some(self.op(Op::UpperBytes, View::X, &[Arg::Use(made, View::X), Arg::Imm(bytes as i64)])?))
    }

    /// Neighbouring lanes of one register that are a quarter or half of one; `None` of others.
    fn cut_out(&mut self, lane: Lane, sources: &[VReg], view: View, picks: &[usize]) -> Emitted<Option<VReg>> {
        let (per, bytes) = (per_part(lane, view), picks.len() * lane.bytes());
        let at = picks[0] % per * lane.bytes();
        let follows = picks.windows(2).all(|w| w[1] == w[0] + 1);
        let whole = matches!(bytes, 4 | 8 | 16 | 32) && at.is_multiple_of(bytes);
        if !follows || !whole || bytes >= view.bytes() {
            return Ok(None);
        }
        let parts = Parts { lane, view, regs: [sources[picks[0] / per]].into() };
        self.chunk(&parts, at / bytes, bytes).map(Some)
    }
}

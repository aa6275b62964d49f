//! Stores: dense ones as whole registers, others scattered or lane by lane; non-temporal ones where buffers ask for
//! them.

use super::super::instruction_table::Op;
use super::super::interface::{Capture, Emitted, refuse};
use super::super::machine::{Arg, Base, Condition, Mem, View};
use super::kernel::Emit;
use super::levels::Kind;
use super::open_lines::Open;
use super::places::Place;
use super::value::{Mask, Parts, Val, by_bits, per_part};
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use crate::tuning::MOST_OPEN_LINES;
use halide_core::types::ScalarType;
use halide_ir::{BufId, Expr, Stream};
use iced_x86::Code;
use regalloc2::VReg;

impl Emit<'_> {
    /// `Stmt::Store`.
    pub(super) fn store(&mut self, buf: BufId, index: &Expr, value: &Expr, mask: Option<&Expr>) -> Emitted<()> {
        let (place, elem) = self.place_of(buf)?;
        if value.ty().scalar() != Some(elem) {
            return refuse(format!("{:?} stored as {elem}", value.ty()));
        }
        let (lane, lanes) = (Lane::of_data(elem), value.lanes() as usize);
        // Everything is evaluated before anything is stored.
        let value = self.eval(value)?;
        let mask = mask.map(|m| self.predicate_mask(m, lane, lanes)).transpose()?;
        let parts = match value {
            Val::Lanes(parts) => parts,
            Val::Mask(truth) => self.mask_to_lanes(&truth, Lane::I8, lanes, 1)?,
            Val::Scalar(v) if elem == ScalarType::Bool => {
                if mask.is_none() && !matches!(place, Place::Registers) {
                    let linear = self.linear(index);
                    let mem = self.address(place, 1, &linear)?;
                    self.push(Code::Mov_rm8_r8, vec![Arg::Mem(mem), Arg::Use(v, View::G8)]);
                    self.stored(buf);
                    return Ok(());
                }
                Parts::single(Lane::I8, self.vector_of_general(v)?)
            }
            Val::Scalar(_) => return refuse("an index is stored"),
        };
        if matches!(place, Place::Registers) {
            self.store_slots(buf, index, &parts, mask.as_ref())?;
        } else {
            let linear = self.linear(index);
            let mem = self.address(place, lane.bytes(), &linear)?;
            self.store_lanes(buf, lanes, mem, &linear, &parts, mask.as_ref())?;
        }
        self.stored(buf);
        Ok(())
    }

    fn store_lanes(
        &mut self,
        buf: BufId,
        lanes: usize,
        mem: Mem,
        index: &Linear,
        parts: &Parts,
        mask: Option<&Mask>,
    ) -> Emitted<()> {
        let lane = parts.lane;
        let dense = lanes == 1 || (index.is_affine() && index.step == 1);
        match mask {
            None if dense => self.store_dense(buf, lanes, mem, parts),
            Some(mask) if dense => {
                let (view, per) = (parts.view, parts.per());
                for (i, reg) in parts.regs.iter().enumerate() {
                    let left = (lanes - i * per).min(per);
                    let mem = mem.plus((i * view.bytes()) as i32);
                    self.store_where(lane, view, mem, *reg, mask.regs[i], left)?;
                }
                Ok(())
            }
            _ if lane.bits() >= 32 => self.scatter(lanes, mem, index, parts, mask),
            None => {
                let addresses = self.lane_addresses(mem, lane.bytes(), index, lanes)?;
                self.spread(parts, &addresses)
            }
            Some(mask) => {
                let addresses = self.lane_addresses(mem, lane.bytes(), index, lanes)?;
                let mask = self.recut(mask, lanes, lane)?;
                self.spread_where(parts, &addresses, &mask)
            }
        }
    }
    fn store_dense(&mut self, buf: BufId, lanes: usize, mem: Mem, parts: &Parts) -> Emitted<()> {
        let (lane, view) = (parts.lane, parts.view);
        let per = per_part(lane, view);
        let stream = self.program.buffers[buf].stream;
        let elsewhere = matches!(mem.base, Base::Reg(_));
        // How large an allocation of the nest is, is not asked: what is used up inside of it stays near.
        let stays = self.heap.inner.contains(&buf) || self.open_at_once(buf).lines > MOST_OPEN_LINES;
        let stream = if stays && stream == Stream::IfLarge { Stream::Never } else { stream };
        if view == self.body.widest && lanes.is_multiple_of(per) && stream != Stream::Never && elsewhere {
            return self.store_stream(buf, stream, mem, parts);
        }
        for (i, reg) in parts.regs.iter().enumerate() {
            let mem = mem.plus((i * view.bytes()) as i32);
            let left = (lanes - i * per).min(per);
            match left * lane.bytes() {
                bytes @ (1 | 2 | 4 | 8) => self.store_few(mem, *reg, bytes)?,
                _ if left == per => self.effect(Op::Store, view, vec![Arg::Mem(mem), Arg::Use(*reg, view)])?,
                bytes => self.store_first(lane, view, mem, *reg, bytes)?,
            }
        }
        Ok(())
    }
    /// The lines of a buffer that the innermost loop has open at once, and the rows.
    fn open_at_once(&self, buf: BufId) -> Open {
        let mut loops = self.levels.iter().rev().filter_map(|level| match level.kind {
            Kind::Loop(id, _) => Some(id),
            Kind::First | Kind::Branch => None,
        });
        loops.next().map_or(Open::default(), |inner| self.open_lines.of(inner, buf))
    }
    /// Past the caches if the address is a multiple of the register's size, which the machine asks for, and the buffer
    /// is large enough.
    fn store_stream(&mut self, buf: BufId, stream: Stream, mem: Mem, parts: &Parts) -> Emitted<()> {
        let address = self.result_of(Code::Lea_r64_m, View::G64, &[Arg::Mem(mem)]);
        let reasons = match stream {
            Stream::IfLarge => {
                let mask = self.reasons(buf, self.open_at_once(buf).rows > 1, parts.view)?;
                self.general(Code::And_r64_rm64, address, Arg::Use(mask, View::G64))
            }
            _ => self.general(Code::And_rm64_imm32, address, Arg::Imm(parts.view.bytes() as i64 - 1)),
        };
        self.streams = true;
        self.body.stream_tests.push((reasons, parts.view.bytes() as i64));
        let bytes = parts.view.bytes() as i32;
        self.either(Condition::Equal, reasons, |e, streamed| {
            let code = e.code(if streamed { Op::StoreStream } else { Op::Store }, parts.view)?;
            for (i, reg) in parts.regs.iter().enumerate() {
                e.push(code, vec![Arg::Mem(mem.plus(i as i32 * bytes)), Arg::Use(*reg, parts.view)]);
            }
            Ok(())
        })
    }
    /// Returns the mask of the address bits that rule out a non-temporal store: those below the size of a register, and
    /// all of them if the buffer is small, or its rows collide and must be `apart`.
    fn reasons(&mut self, buf: BufId, apart: bool, view: View) -> Emitted<VReg> {
        if let Some(known) = self.small.get(&(buf, apart)) {
            return Ok(*known);
        }
        let word = self.capture(Capture::Small { buf, apart }, 1);
        let mask = self.at_start(|e| {
            let mem = e.word(word);
            let small = e.result_of(Code::Mov_r64_rm64, View::G64, &[Arg::Mem(mem)]);
            Ok(e.general(Code::Or_rm64_imm32, small, Arg::Imm(view.bytes() as i64 - 1)))
        })?;
        self.small.insert((buf, apart), mask);
        Ok(mask)
    }
    /// The lowest 1, 2, 4 or 8 bytes of a register.
    pub(super) fn store_few(&mut self, mem: Mem, reg: VReg, bytes: usize) -> Emitted<()> {
        let x = Arg::Use(reg, View::X);
        match bytes {
            1 => self.effect(Op::ExtractB, View::X, vec![Arg::Mem(mem), x, Arg::Imm(0)]),
            2 => self.effect(Op::ExtractW, View::X, vec![Arg::Mem(mem), x, Arg::Imm(0)]),
            4 => self.effect(Op::ToGeneralD, View::X, vec![Arg::Mem(mem), x]),
            _ => self.effect(Op::StoreOneQ, View::X, vec![Arg::Mem(mem), x]),
        }
    }
    /// Lane after lane to an address each.
    pub(super) fn spread(&mut self, parts: &Parts, addresses: &[Mem]) -> Emitted<()> {
        let lane = parts.lane;
        let extract = by_bits(lane, [Op::ExtractB, Op::ExtractW, Op::ExtractD, Op::ExtractQ]);
        let per = 16 / lane.bytes();
        for (i, chunk) in addresses.chunks(per).enumerate() {
            let x = self.quarter(parts, i)?;
            for (k, mem) in chunk.iter().enumerate() {
                self.effect(extract, View::X, vec![Arg::Mem(*mem), Arg::Use(x, View::X), Arg::Imm(k as i64)])?;
            }
        }
        Ok(())
    }
}

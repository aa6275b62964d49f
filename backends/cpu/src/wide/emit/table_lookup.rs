//! Table lookups: loads of lanes of 8 and 16 bits at data. The machine gathers nothing so narrow.
//!
//! A table of bytes that is small and whose size is known is held in registers, in which each lane picks its own: the
//! low 7 bits of an index pick among the 128 bytes of two registers, and the bits above say which two. Of other tables,
//! the indices go through memory: one store, and for each lane one load of its index and one of its element.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, Mem, View};
use super::kernel::{Emit, IndexScratch};
use super::load_table::Load;
use super::value::Parts;
use crate::shared::lane::Lane;
use crate::shared::lane::data;
use crate::shared::linear::Linear;
use crate::shared::range::int_range;
use crate::tuning::{LANES_PER_TABLE_PAIR, TABLE_REGISTERS};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::{Expr, ExprKind, build};
use iced_x86::Code;

/// Tables of more bytes are not held in registers.
const MOST_BYTES: u64 = TABLE_REGISTERS * 64;
/// Bytes of two registers.
const PAIR: u64 = 128;

impl Emit<'_> {
    /// Lanes of bytes of a small table; `None` if it is of another kind.
    pub(super) fn look_up_in_registers(&mut self, load: &Load<'_>) -> Emitted<Option<Parts>> {
        let Load { buf, place, lane, lanes, ref index, .. } = *load;
        let (Some(x), true) = (self.data_of(index), lane.bits() == 8 && self.vbmi) else { return Ok(None) };
        let alone = index.terms.is_empty() && index.constant == 0 && index.vectors[0].1 == 1;
        let range = int_range(&x);
        let size = self.around.elements(buf).unwrap_or(0).min(MOST_BYTES);
        let used = u64::try_from(range.high + 1).unwrap_or(u64::MAX);
        let pays = used.div_ceil(PAIR) * LANES_PER_TABLE_PAIR <= lanes as u64;
        if !alone || range.low < 0 || used > size || !pays {
            return Ok(None);
        }
        let mem = self.address(place, 1, &Linear::default())?;
        let byte = |e: Expr| build::cast_data(ScalarType::U8, e);
        let number = |ty, v| build::broadcast(build::constant(Scalar::int(ty, v)), lanes as u16);
        let Parts { view, regs, .. } = self.lanes(&byte(x.clone()))?;
        let pair_of = byte(build::binary(BinOp::Shr, x.clone(), number(data(x.ty().elem), PAIR.ilog2().into())));
        let mut picked = regs.to_vec();
        for pair in 0..used.div_ceil(PAIR) {
            let in_pair = build::binary(BinOp::Eq, pair_of.clone(), number(ScalarType::U8, pair.into()));
            let masks = if used <= PAIR { None } else { Some(self.mask(&in_pair, Lane::of_data(ScalarType::U8))?) };
            let [low, high] = self.table_pair(mem, pair * PAIR, used)?;
            for (i, indices) in picked.iter_mut().enumerate() {
                let mut rest = vec![low, high];
                // Lanes of other pairs keep their indices.
                rest.extend(masks.as_ref().map(|m| Arg::Mask(m.regs[i])));
                *indices = self.op_mod(Op::PickTwoB, View::Z, *indices, &rest)?;
            }
        }
        Ok(Some(Parts { lane, view, regs: picked.into() }))
    }
    /// Two registers of a table from its byte `first` on; nothing behind its `used` bytes is touched.
    fn table_pair(&mut self, table: Mem, first: u64, used: u64) -> Emitted<[Arg; 2]> {
        let whole = View::Z.bytes() as u64;
        let mut half = |from: u64, may_be_memory: bool| {
            let mem = table.plus(from as i32);
            let count = used.saturating_sub(from).min(whole);
            if count == whole && may_be_memory {
                return Ok(Arg::Mem(mem));
            }
            let register = match count {
                0 => self.splat(Lane::of_data(ScalarType::U8), View::Z, 0)?,
                _ if count == whole => self.op(Op::Load, View::Z, &[Arg::Mem(mem)])?,
                _ => {
                    let mask = self.first_lanes(Lane::of_data(ScalarType::U8), View::Z, count as usize)?;
                    self.op(Op::LoadB, View::Z, &[Arg::ZeroMask(mask), Arg::Mem(mem)])?
                }
            };
            Ok(Arg::Use(register, View::Z))
        };
        Ok([half(first, false)?, half(first + whole, true)?])
    }

    /// Lanes of bytes or words, each at an index of its own.
    pub(super) fn look_up(&mut self, load: &Load<'_>) -> Emitted<Option<Parts>> {
        let Load { lane, lanes, ref index, .. } = *load;
        let Some(x) = self.data_of(index) else { return Ok(None) };
        let scale = index.vectors[0].1.checked_mul(lane.bytes() as i64);
        let Some(scale @ (1 | 2 | 4 | 8)) = scale else { return Ok(None) };
        let ty = data(x.ty().elem);
        let Some(narrow) = load_of_index(ty) else { return Ok(None) };
        let first = self.start_of(load)?;
        let indices = self.lanes(&x)?;
        let table = self.flat(first);
        let scratch = self.index_memory(indices.regs.len() * indices.view.bytes());
        for (i, reg) in indices.regs.iter().enumerate() {
            let code = self.code(Op::Store, indices.view)?;
            let mem = scratch.plus((i * indices.view.bytes()) as i32);
            self.push(code, vec![Arg::Mem(mem), Arg::Use(*reg, indices.view)]);
        }
        let insert = if lane.bits() == 8 { Op::InsertB } else { Op::InsertW };
        let per = 16 / lane.bytes();
        let mut chunks = Vec::new();
        for from in (0..lanes).step_by(per) {
            let mut x = None;
            for at in from..(from + per).min(lanes) {
                let index =
                    self.result_of(narrow.0, narrow.1, &[Arg::Mem(scratch.plus((at * indices.lane.bytes()) as i32))]);
                let mem = Mem { index: Some((index, View::G64, scale as u8)), ..table };
                x = Some(match x {
                    None => self.load_one(lane, mem)?,
                    Some(x) => {
                        let args = [Arg::Use(x, View::X), Arg::Mem(mem), Arg::Imm((at - from) as i64)];
                        self.op(insert, View::X, &args)?
                    }
                });
            }
            chunks.extend(x);
        }
        Ok(Some(self.join(lane, lanes, &chunks, 16)?))
    }
    /// The data of which an index is a multiple, but for what is the same in every lane.
    pub(super) fn data_of(&self, index: &Linear) -> Option<Expr> {
        let [(e, _)] = &index.vectors[..] else { return None };
        let mut e = e;
        while let ExprKind::Sym(s) = e.kind() {
            e = self.vectors.get(s)?;
        }
        match e.kind() {
            ExprKind::Cast(x) if index.step == 0 && index.steps.is_empty() && data(x.ty().elem).is_int() => {
                Some(x.clone())
            }
            _ => None,
        }
    }
    /// Memory of so many bytes that is free until the next call.
    fn index_memory(&mut self, bytes: usize) -> Mem {
        if self.index_scratch.bytes < bytes as u32 {
            let start = self.body.frame.next_multiple_of(View::Z.bytes() as u32);
            self.index_scratch = IndexScratch { start, bytes: bytes as u32 };
            self.body.frame = start + bytes as u32;
        }
        self.frame(self.index_scratch.start)
    }
}

/// Returns the instruction that loads an index of this type into a general register, widened to 64 bits.
fn load_of_index(ty: ScalarType) -> Option<(Code, View)> {
    Some(match (ty.bits(), ty.is_signed_int()) {
        (8, false) => (Code::Movzx_r32_rm8, View::G32),
        (8, true) => (Code::Movsx_r64_rm8, View::G64),
        (16, false) => (Code::Movzx_r32_rm16, View::G32),
        (16, true) => (Code::Movsx_r64_rm16, View::G64),
        (32, false) => (Code::Mov_r32_rm32, View::G32),
        (32, true) => (Code::Movsxd_r64_rm32, View::G64),
        _ => return None,
    })
}

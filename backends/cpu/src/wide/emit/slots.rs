//! Allocations of a kernel: small ones whose every access is at a constant live in registers, others in its frame,
//! large ones in memory that it is handed ([`super::heap`]).

use super::super::interface::{Emitted, refuse};
use super::super::machine::{Arg, View};
use super::kernel::Emit;
use super::places::{Pieces, Place};
use super::value::{Mask, Parts, broadcast_op, shape};
use crate::shared::lane::Lane;
use crate::shared::pieces::{Piece, pieces};
use crate::tuning::{FRAME_ALLOCATION_BYTES, FRAME_BUDGET_BYTES, FREE_REGISTERS};
use halide_ir::{BufId, Expr, ExprKind, Memory, Stmt};
use regalloc2::VReg;

impl Emit<'_> {
    /// `Stmt::Alloc`.
    pub(super) fn alloc(&mut self, buf: BufId, count: &Expr, constant: Option<u64>, body: &Stmt) -> Emitted<()> {
        let info = &self.program.buffers[buf];
        let bytes =
            constant.and_then(|n| n.checked_mul(info.elem.bytes() as u64)).filter(|b| *b <= FRAME_ALLOCATION_BYTES);
        let Some(bytes) = bytes.filter(|_| !matches!(info.memory, Memory::Heap | Memory::Global)) else {
            return self.heap_alloc(buf, count, constant, body);
        };
        let lane = Lane::of_data(info.elem);
        let widest = self.body.widest;
        let most = self.body.vector_registers() - FREE_REGISTERS;
        let size = |p: &Piece| shape(widest, lane, p.lanes as usize);
        let planned = pieces(self.program, buf, body, |p, all| {
            // Several pieces that are read at once are its registers only if each fills whole ones.
            let inside = all.iter().filter(|q| p.covers(**q)).count();
            inside <= 1 || all.iter().filter(|q| p.covers(**q)).all(|q| fills(widest, lane, *q, p))
        });
        let planned = planned.filter(|all| all.iter().map(|p| size(p).1).sum::<usize>() <= most);
        if let Some(all) = planned {
            let mut pieces = Vec::new();
            for p in all {
                let (view, count) = size(&p);
                pieces.push((p, vec![self.splat(lane, view, 0)?; count]));
            }
            let level = self.innermost();
            self.slots.registers.insert(buf, Pieces { pieces, level });
            self.slots.places.insert(buf, Place::Registers);
            self.stmt(body)?;
            self.slots.registers.remove(&buf);
        } else {
            let start = self.body.frame.next_multiple_of(64);
            let end = u64::from(start) + bytes;
            if end > FRAME_BUDGET_BYTES {
                return self.heap_alloc(buf, count, constant, body);
            }
            // What follows may use the same memory again, what is inside may not.
            self.slots.places.insert(buf, Place::Frame(start));
            self.body.frame = end as u32;
            self.stmt(body)?;
        }
        self.slots.places.remove(&buf);
        self.stored(buf);
        Ok(())
    }

    /// The lanes at a constant index of a buffer in registers.
    pub(super) fn load_slots(&mut self, buf: BufId, index: &Expr, lane: Lane) -> Emitted<Parts> {
        let (range, regs) = self.registers_at(buf, index)?;
        if let ExprKind::Broadcast(_) = index.kind() {
            let (view, count) = self.shape(lane, index.lanes() as usize);
            let one = self.op(broadcast_op(lane), view, &[Arg::Use(regs[0], View::X)])?;
            return Ok(Parts { lane, view, regs: vec![one; count].into() });
        }
        let (view, _) = self.shape(lane, range.lanes as usize);
        Ok(Parts { lane, view, regs: regs.into() })
    }
    /// Stores lanes at a constant index; where the mask is false the old ones stay.
    pub(super) fn store_slots(&mut self, buf: BufId, index: &Expr, parts: &Parts, mask: Option<&Mask>) -> Emitted<()> {
        let (range, old) = self.registers_at(buf, index)?;
        let new = match mask {
            None => parts.clone(),
            Some(mask) => {
                let old = Parts { regs: old.into(), ..parts.clone() };
                self.choose(mask, parts, &old)?
            }
        };
        let level = self.innermost();
        let mut new = new.regs.iter().copied();
        if let Some(p) = self.slots.registers.get_mut(&buf) {
            p.level = level;
            for (_, regs) in p.pieces.iter_mut().filter(|(q, _)| range.covers(*q)) {
                regs.iter_mut().for_each(|r| *r = new.next().unwrap_or(*r));
            }
        }
        Ok(())
    }
    fn registers_at(&self, buf: BufId, index: &Expr) -> Emitted<(Piece, Vec<VReg>)> {
        let piece = Piece::at_index(index, true);
        match (piece, self.slots.registers.get(&buf)) {
            (Some(range), Some(p)) => {
                let regs = p.pieces.iter().filter(|(q, _)| range.covers(*q)).flat_map(|(_, r)| r.iter().copied());
                Ok((range, regs.collect()))
            }
            _ => refuse(format!("registers at {index:?}")),
        }
    }
    /// A register like another one.
    pub(super) fn like(&mut self, reg: VReg) -> VReg {
        self.body.registers += 1;
        VReg::new(self.body.registers - 1, reg.class())
    }
}

/// Returns true if the registers of a piece are registers of a range that it is in.
fn fills(widest: View, lane: Lane, piece: Piece, range: Piece) -> bool {
    let (view, _) = shape(widest, lane, range.lanes as usize);
    let per = super::value::per_part(lane, view) as i64;
    let from = piece.first - range.first;
    let (own, _) = shape(widest, lane, piece.lanes as usize);
    let last = piece.first + i64::from(piece.lanes) == range.first + i64::from(range.lanes);
    own == view && from % per == 0 && (last || i64::from(piece.lanes) % per == 0)
}

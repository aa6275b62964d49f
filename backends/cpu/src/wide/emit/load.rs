//! Loads, by the rows of [`load_table`](super::load_table): dense ones as whole registers, lanes that are a few
//! elements apart picked from dense ones, others gathered. Nothing is touched but what is asked for: the machine skips
//! lanes of a mask without a fault.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, Loads, refuse};
use super::super::machine::{Arg, Mem, View};
use super::kernel::Emit;
use super::load_table::{Load, rows};
use super::places::Place;
use super::value::{Mask, Parts, Predicate, Val, broadcast_op, per_part};
use crate::shared::lane::Lane;
use halide_core::types::ScalarType;
use halide_ir::visit::map_children;
use halide_ir::{BufId, Expr, ExprKind, build};
use iced_x86::Code;
use regalloc2::VReg;
use std::rc::Rc;

impl Emit<'_> {
    /// `ExprKind::Load`.
    pub(super) fn load(&mut self, e: &Expr, buf: BufId, index: &Expr, mask: Option<&Expr>) -> Emitted<Val> {
        let (place, elem) = self.place_of(buf)?;
        if e.ty().scalar() != Some(elem) {
            return refuse(format!("elements of {elem} as {:?}", e.ty()));
        }
        let (lane, lanes) = (Lane::of_data(elem), e.lanes() as usize);
        let truth = elem == ScalarType::Bool;
        if matches!(place, Place::Registers) {
            let parts = self.load_slots(buf, index, lane)?;
            let parts = self.zero_elsewhere(parts, mask, lanes)?;
            return self.loaded(parts, truth, lanes);
        }
        let load = Load { e, buf, place, lane, lanes, index: self.linear(index), mask };
        if lanes == 1 && truth && mask.is_none() {
            let mem = self.start_of(&load)?;
            return Ok(Val::Scalar(self.result_of(Code::Movzx_r32_rm8, View::G32, &[Arg::Mem(mem)])));
        }
        for row in rows(&load) {
            if let Some(parts) = (row.emit)(self, &load)? {
                match self.loads.iter_mut().find(|loads| loads.way == row.name) {
                    Some(loads) => loads.count += 1,
                    None => self.loads.push(Loads { way: row.name, operations: row.cost, count: 1 }),
                }
                return self.loaded(parts, truth, lanes);
            }
        }
        refuse(format!("a load of {:?}", e.ty()))
    }
    /// The address of the first lane.
    pub(super) fn start_of(&mut self, load: &Load<'_>) -> Emitted<Mem> {
        self.address(load.place, load.lane.bytes(), &load.index)
    }
    /// The mask of a load, in registers of its lanes.
    pub(super) fn mask_of(&mut self, load: &Load<'_>) -> Emitted<Option<Mask>> {
        load.mask.map(|mask| self.predicate_mask(mask, load.lane, load.lanes)).transpose()
    }
    /// Lanes that are 0 where a mask, if there is one, is false.
    pub(super) fn zero_elsewhere(&mut self, parts: Parts, mask: Option<&Expr>, lanes: usize) -> Emitted<Parts> {
        let Some(mask) = mask else { return Ok(parts) };
        let mask = self.predicate_mask(mask, parts.lane, lanes)?;
        let zero = self.splat_like(&parts, 0)?;
        self.choose(&mask, &parts, &zero)
    }
    fn loaded(&mut self, parts: Parts, truth: bool, lanes: usize) -> Emitted<Val> {
        if !truth {
            return Ok(Val::Lanes(parts));
        }
        let mask = self.bytes_to_mask(&parts)?;
        self.mask_value(mask, lanes as u16)
    }
    /// A condition, scalar or not, as the masks of registers of lanes, of which none is beyond the last lane. It is cut
    /// for these registers where it is computed, which is outside of loops in which it stays.
    pub(super) fn predicate_mask(&mut self, e: &Expr, lane: Lane, lanes: usize) -> Emitted<Mask> {
        let truth = self.eval(e)?;
        let key = match &truth {
            Val::Mask(mask) => Predicate { truth: mask.regs.clone(), of: Some(mask.lane), lane, lanes },
            Val::Scalar(truth) => Predicate { truth: Rc::from([*truth]), of: None, lane, lanes },
            Val::Lanes(_) => return refuse(format!("{:?} where a mask is wanted", e.ty())),
        };
        if let Some((mask, _)) = self.predicates.get(&key).filter(|(_, level)| *level <= self.cursor) {
            return Ok(mask.clone());
        }
        let level = self.home(e).min(self.cursor);
        let cursor = std::mem::replace(&mut self.cursor, level);
        let made = self.cut_predicate(&truth, lane, lanes);
        self.cursor = cursor;
        let made = made?;
        self.predicates.insert(key, (made.clone(), level));
        Ok(made)
    }
    fn cut_predicate(&mut self, truth: &Val, lane: Lane, lanes: usize) -> Emitted<Mask> {
        let mask = match truth {
            Val::Mask(mask) => self.recut(mask, lanes, lane)?,
            Val::Scalar(truth) => self.mask_of_truth(*truth, lane, lanes)?,
            Val::Lanes(_) => return refuse("data where a mask is wanted"),
        };
        let (view, per) = (mask.view, per_part(lane, mask.view));
        let cut = |(i, reg): (usize, &VReg)| self.cut(*reg, lane, view, lanes.saturating_sub(i * per).min(per));
        let regs = mask.regs.iter().enumerate().map(cut).collect::<Emitted<Vec<_>>>()?;
        Ok(Mask { regs: regs.into(), ..mask })
    }

    /// One element in all lanes.
    pub(super) fn load_same(&mut self, load: &Load<'_>) -> Emitted<Parts> {
        let mem = self.start_of(load)?;
        let (view, count) = self.shape(load.lane, load.lanes);
        let one = self.op(broadcast_op(load.lane), view, &[Arg::Mem(mem)])?;
        Ok(Parts { lane: load.lane, view, regs: vec![one; count].into() })
    }
    /// One element at a time, of any width, where a mask says so.
    pub(super) fn load_each(&mut self, load: &Load<'_>) -> Emitted<Parts> {
        let (mem, mask) = (self.start_of(load)?, self.mask_of(load)?);
        let addresses = self.lane_addresses(mem, load.lane.bytes(), &load.index, load.lanes)?;
        match mask {
            None => self.collect(load.lane, &addresses),
            Some(mask) => self.collect_where(load.lane, &addresses, &mask),
        }
    }
    /// Elements that follow each other.
    pub(super) fn load_dense(
        &mut self,
        lane: Lane,
        lanes: usize,
        view: View,
        count: usize,
        mem: Mem,
    ) -> Emitted<Parts> {
        let per = per_part(lane, view);
        let regs = (0..count).map(|i| {
            let mem = mem.plus((i * view.bytes()) as i32);
            let left = (lanes - i * per).min(per);
            match left * lane.bytes() {
                4 => self.op(Op::LoadOneD, View::X, &[Arg::Mem(mem)]),
                8 => self.op(Op::LoadOneQ, View::X, &[Arg::Mem(mem)]),
                _ if left == per => self.op(Op::Load, view, &[Arg::Mem(mem)]),
                bytes => self.load_first(lane, view, mem, bytes),
            }
        });
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { lane, view, regs: regs.into() })
    }
    pub(super) fn load_masked(&mut self, lane: Lane, lanes: usize, mem: Mem, mask: &Mask) -> Emitted<Parts> {
        let (view, count) = self.shape(lane, lanes);
        let per = per_part(lane, view);
        let regs = (0..count).map(|i| {
            let left = (lanes - i * per).min(per);
            let mem = mem.plus((i * view.bytes()) as i32);
            self.load_where(lane, view, mem, mask.regs[i], left)
        });
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { lane, view, regs: regs.into() })
    }
    /// Lanes `step` elements apart: loads all elements from the first lane to the last, which are all in the buffer.
    pub(super) fn load_span(&mut self, lane: Lane, lanes: usize, first: Mem, step: i64) -> Emitted<Parts> {
        let apart = step.unsigned_abs() as usize;
        let span = (lanes - 1) * apart + 1;
        let lowest = if step < 0 { first.plus(-(((span - 1) * lane.bytes()) as i32)) } else { first };
        let (view, count) = self.shape(lane, span);
        let sources = self.load_dense(lane, span, view, count, lowest)?;
        let picks: Vec<usize> = (0..lanes).map(|i| if step < 0 { span - 1 - i * apart } else { i * apart }).collect();
        self.pick(lane, &sources.regs, view, &picks)
    }
    /// A scalar load that only its broadcast needs: one instruction does both.
    pub(super) fn broadcast_load(&mut self, e: &Expr, lane: Lane, view: View) -> Emitted<Option<VReg>> {
        let ExprKind::Load { buf, index, mask } = e.kind() else { return Ok(None) };
        // Where the condition fails, an instruction with a mask touches no memory.
        if mask.is_some() && !self.body.evex || self.memo.get(e).is_some() || e.ty().is_bool() {
            return Ok(None);
        }
        let (place, elem) = self.place_of(*buf)?;
        if matches!(place, Place::Registers) || Some(elem) != e.ty().scalar() {
            return Ok(None);
        }
        let mask = mask.as_ref().map(|m| self.predicate_mask(m, lane, per_part(lane, view))).transpose()?;
        let linear = self.linear(index);
        let mem = self.address(place, lane.bytes(), &linear)?;
        let args: Vec<Arg> = mask.map(|m| Arg::ZeroMask(m.regs[0])).into_iter().chain([Arg::Mem(mem)]).collect();
        Ok(Some(self.op(broadcast_op(lane), view, &args)?))
    }
    /// A scalar that is converted from a load, in all lanes: what is loaded is broadcast and converted as a vector,
    /// which takes an instruction less.
    pub(super) fn broadcast_converted(&mut self, e: &Expr, lane: Lane, view: View) -> Emitted<Option<VReg>> {
        if !is_converted_load(e) || self.memo.get(e).is_some() {
            return Ok(None);
        }
        let parts = self.lanes(&in_lanes(e, per_part(lane, view) as u16))?;
        Ok((parts.view == view).then(|| parts.regs[0]))
    }
}

/// Returns true for a load of numbers that is converted, once or more, to numbers that are no narrower: as vectors,
/// these take one register.
fn is_converted_load(e: &Expr) -> bool {
    let bits = |e: &Expr| e.ty().scalar().filter(|ty| *ty != ScalarType::Bool).map(ScalarType::bits);
    match e.kind() {
        ExprKind::Cast(a) if bits(a).is_some() && bits(a) <= bits(e) => {
            matches!(a.kind(), ExprKind::Load { mask: None, .. }) || is_converted_load(a)
        }
        _ => false,
    }
}

/// Conversions of a load that is broadcast.
fn in_lanes(e: &Expr, lanes: u16) -> Expr {
    match e.kind() {
        ExprKind::Cast(_) => map_children(e, |a| in_lanes(a, lanes)),
        _ => build::broadcast(e.clone(), lanes),
    }
}

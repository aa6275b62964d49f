//! Steps that are atomic.
//!
//! A step that changes one element is an atomic instruction, or a loop that computes a new value until it can be
//! exchanged for the old one that it was computed from. Any other step (of a tuple, say) runs while a lock is held (see
//! `locks`). All steps of a Func are of one kind, whichever copies of them passes have made.

use super::abi::RuntimeFn;
use super::func::{Callee, Func};
use super::guards::Motion;
use super::locks::{Lock, SiteStep, exchange_of};
use super::places::{Area, Place};
use super::value::Val;
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, MemFlagsData, Value};
use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::visit::for_each_stmt;
use halide_ir::{BufId, Expr, Step, Stmt, Sym};
use std::collections::BTreeSet;

/// The instruction that does it, and its operand.
fn instruction(step: &Step, old: Sym) -> Option<(AtomicRmwOp, &Expr)> {
    let (op, new) = step.operation(old)?;
    let ty = step.value.ty().scalar().filter(|ty| !ty.is_float())?;
    let instruction = match op {
        BinOp::BitAnd => AtomicRmwOp::And,
        BinOp::BitOr => AtomicRmwOp::Or,
        BinOp::BitXor => AtomicRmwOp::Xor,
        _ if ty == ScalarType::Bool => return None,
        BinOp::Add => AtomicRmwOp::Add,
        BinOp::Sub => AtomicRmwOp::Sub,
        BinOp::Min if ty.is_signed_int() => AtomicRmwOp::Smin,
        BinOp::Max if ty.is_signed_int() => AtomicRmwOp::Smax,
        BinOp::Min => AtomicRmwOp::Umin,
        BinOp::Max => AtomicRmwOp::Umax,
        _ => return None,
    };
    Some((instruction, new))
}

impl Func<'_> {
    /// `Stmt::Atomic`.
    pub(super) fn atomic(&mut self, func: FuncId, body: &Stmt) {
        let mut bufs = BTreeSet::new();
        stored(body, &mut bufs);
        if bufs.iter().any(|buf| matches!(self.place(*buf), Place::Registers(_))) {
            // Nobody else sees them.
            return self.stmt(body);
        }
        // Others may have stored since.
        bufs.iter().for_each(|buf| self.memo.stored(*buf));
        self.steps += 1;
        let old = Sym::Temp(u32::MAX - self.steps);
        match self.env.locks.get(&func) {
            None => match exchange_of(body, old) {
                Some(exchange) => self.exchange(&exchange, old),
                None => self.wrong(format!("a step of {func:?} that no instruction does has no lock")),
            },
            Some(Lock::Site) => match SiteStep::parse(body) {
                Some(step) => self.locked_site(func, &step),
                None => self.wrong(format!("a step of {func:?} is not of one site")),
            },
            Some(Lock::Func) => {
                let site = self.index(0);
                self.locked(func, site, body);
            }
        }
        bufs.iter().for_each(|buf| self.memo.stored(*buf));
    }

    /// A step that holds the lock of its site, and evaluates before what does not depend on that.
    fn locked_site(&mut self, func: FuncId, step: &SiteStep) {
        let hidden: Vec<_> = step.bindings.iter().map(|(symbol, value)| self.bind(*symbol, value)).collect();
        let site = self.scalar(&step.site);
        self.locked(func, site, &step.rest);
        for old in hidden.into_iter().rev().flatten() {
            self.define(old.0, old.1, old.2);
        }
    }

    fn locked(&mut self, func: FuncId, site: Value, body: &Stmt) {
        let (worker, func) = (self.worker, self.index(i64::from(func.0)));
        self.call(Callee::Runtime(RuntimeFn::Lock), &[worker, func, site]);
        self.stmt(body);
        self.call(Callee::Runtime(RuntimeFn::Unlock), &[worker, func, site]);
    }

    fn exchange(&mut self, step: &Step, old: Sym) {
        let hidden: Vec<_> = step.bindings.iter().map(|(symbol, value)| self.bind(*symbol, value)).collect();
        let Place::Memory(area) = self.place(step.buf) else {
            return self.wrong(format!("{:?} is not in memory", step.buf));
        };
        match &step.mask {
            None => self.exchange_at(area, step, old),
            Some(mask) => {
                let truth = self.scalar(mask);
                let (yes, join) = (self.b.create_block(), self.b.create_block());
                self.ins().brif(truth, yes, &[], join, &[]);
                let scope = self.guards.begin();
                self.guards.ask();
                self.enter(yes);
                self.memo.open();
                self.exchange_at(area, step, old);
                self.memo.close();
                self.ins().jump(join, &[]);
                self.guards.end(scope);
                self.enter(join);
            }
        }
        for old in hidden.into_iter().rev().flatten() {
            self.define(old.0, old.1, old.2);
        }
    }

    fn exchange_at(&mut self, area: Area, step: &Step, old: Sym) {
        let lane = Lane::of_data(self.env.program.buffers[step.buf].elem);
        let int = lane.as_int().scalar();
        // Elements are aligned to their size.
        let flags = MemFlagsData::trusted();
        let linear = Linear::of_index(&step.index, &self.sums);
        let place = self.address(area, lane.bytes(), &linear, Motion::Stays);
        let address = self.ins().iadd_imm_s(place.base, place.offset);
        if let Some((op, new)) = instruction(step, old) {
            let new = self.scalar(new);
            self.ins().atomic_rmw(int, flags, op, address, new);
            return;
        }
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let first = self.ins().atomic_load(int, flags, address);
        self.ins().jump(head, &[BlockArg::Value(first)]);
        let held = self.b.append_block_param(head, int);
        self.b.switch_to_block(head);
        self.memo.open();
        let value: Value = self.bitcast(lane.scalar(), held);
        self.define(old, Val::Data(Func::single(value)), self.guards.loop_depth());
        let new = self.scalar(&step.value);
        let new = self.bitcast(int, new);
        let seen = self.ins().atomic_cas(flags, address, held, new);
        let done_it = self.ins().icmp(IntCC::Equal, seen, held);
        self.memo.close();
        self.ins().brif(done_it, done, &[], head, &[BlockArg::Value(seen)]);
        self.b.seal_block(head);
        self.enter(done);
    }
}

fn stored(s: &Stmt, into: &mut BTreeSet<BufId>) {
    if let Stmt::Store { buf, .. } = s {
        into.insert(*buf);
    }
    for_each_stmt(s, |inner| stored(inner, into));
}

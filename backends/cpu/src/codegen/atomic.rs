//! Steps that are atomic.
//!
//! A step that changes one element is an atomic instruction, or a loop that computes a new value until it can be exchanged
//! for the old one that it was computed from. Any other step (of a tuple, say) runs while a lock is held, one for each
//! Func. All steps of a Func are of one kind, whichever copies of them passes have made.

use super::abi::RuntimeFn;
use super::address::Linear;
use super::func::{Callee, Func};
use super::guards::Motion;
use super::storage::{Area, Place};
use super::value::{Lane, Val};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, MemFlagsData, Value};
use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_sched::ir::visit::{Memo, any_node, for_each_stmt, map_children, substitute};
use halide_sched::ir::{BufId, Expr, ExprKind, Program, Stmt, Sym, build};
use std::collections::{BTreeSet, HashMap};

/// The Funcs whose steps need a lock.
pub(super) fn locked(program: &Program) -> BTreeSet<FuncId> {
    fn walk(s: &Stmt, into: &mut BTreeSet<FuncId>) {
        if let Stmt::Atomic { func, body } = s
            && Exchange::of(body, Sym::Temp(u32::MAX)).is_none()
        {
            into.insert(*func);
        }
        for_each_stmt(s, |inner| walk(inner, into));
    }
    let mut all = BTreeSet::new();
    walk(&program.body, &mut all);
    program.tasks.iter().for_each(|task| walk(&task.body, &mut all));
    all
}

/// A step that changes one element.
struct Exchange {
    /// What is named before, and does not depend on the element.
    bindings: Vec<(Sym, Expr)>,
    buf: BufId,
    index: Expr,
    /// The new value in terms of the old one.
    value: Expr,
    /// Scalar `Bool`: where false, nothing happens.
    mask: Option<Expr>,
}

impl Exchange {
    /// The step `body`, if it is one, where `old` is to stand for what the element holds.
    fn of(body: &Stmt, old: Sym) -> Option<Exchange> {
        let mut names: Vec<&(Sym, Expr)> = Vec::new();
        let mut at = body;
        let (buf, index, value, mask) = loop {
            at = match at {
                Stmt::Let { bindings, body } => {
                    names.extend(bindings);
                    body
                }
                Stmt::Block(list) if list.len() == 1 => &list[0],
                Stmt::Store { buf, index, value, mask } => break (*buf, index, value, mask),
                _ => return None,
            };
        };
        let loads = |e: &Expr| any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf: b, .. } if *b == buf));
        let mut depends: HashMap<Sym, Expr> = HashMap::new();
        let mut bindings = Vec::new();
        for (s, e) in names {
            let e = substitute(e, &|s| depends.get(&s).cloned());
            if loads(&e) {
                depends.insert(*s, e);
            } else {
                bindings.push((*s, e));
            }
        }
        let put = |e: &Expr| substitute(e, &|s| depends.get(&s).cloned());
        let (index, value, mask) = (put(index), put(value), mask.as_ref().map(put));
        if loads(&index) || mask.as_ref().is_some_and(&loads) || index.lanes() > 1 || value.lanes() > 1 {
            return None;
        }
        let ty = value.ty();
        let mut others = false;
        let value = Memo::new().rewrite(&value, |n, done| match n.kind() {
            ExprKind::Load { buf: from, index: i, mask: m } if *from == buf => {
                others |= *i != index || m.is_some() && *m != mask;
                build::typed_sym(old, ty)
            }
            _ => map_children(n, done),
        });
        (!others).then_some(Exchange { bindings, buf, index, value, mask })
    }

    /// The instruction that does it, and its operand.
    fn instruction(&self, old: Sym) -> Option<(AtomicRmwOp, &Expr)> {
        let ExprKind::Binary(op, a, b) = self.value.kind() else { return None };
        let is_old = |e: &Expr| matches!(e.kind(), ExprKind::Sym(s) if *s == old);
        let uses_old = |e: &Expr| any_node(e, |n| is_old(n));
        let new = match (is_old(a), is_old(b)) {
            (true, _) => b,
            (_, true) if *op != BinOp::Sub => a,
            _ => return None,
        };
        let ty = self.value.ty().scalar().filter(|ty| !ty.is_float() && !uses_old(new))?;
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
        match Exchange::of(body, old).filter(|_| !self.env.locked.contains(&func)) {
            Some(exchange) => self.exchange(&exchange, old),
            None => {
                let (worker, lock) = (self.worker, self.index(i64::from(func.0)));
                self.call(Callee::Runtime(RuntimeFn::Lock), &[worker, lock]);
                self.stmt(body);
                self.call(Callee::Runtime(RuntimeFn::Unlock), &[worker, lock]);
            }
        }
        bufs.iter().for_each(|buf| self.memo.stored(*buf));
    }

    fn exchange(&mut self, step: &Exchange, old: Sym) {
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

    fn exchange_at(&mut self, area: Area, step: &Exchange, old: Sym) {
        let lane = Lane::of_data(self.env.program.buffers[step.buf].elem);
        let int = lane.as_int().scalar();
        // Elements are aligned to their size.
        let flags = MemFlagsData::trusted();
        let linear = Linear::of(&step.index, &self.sums);
        let place = self.address(area, lane.bytes(), &linear, Motion::Stays);
        let address = self.ins().iadd_imm_s(place.base, place.offset);
        if let Some((op, new)) = step.instruction(old) {
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
        self.define(old, Val::Data(Func::one(value)), self.guards.loop_depth());
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

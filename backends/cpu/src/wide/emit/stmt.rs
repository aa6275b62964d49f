//! Statements: loops, branches, names.

use super::super::interface::{Emitted, refuse};
use super::super::machine::{BlockId, Condition, End, Right, View};
use super::kernel::Emit;
use super::levels::stored;
use super::value::Val;
use crate::shared::long_loops::polls;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, Stmt, Sym, build};
use regalloc2::VReg;
use std::collections::BTreeSet;

impl Emit<'_> {
    /// Emits a statement.
    pub(super) fn stmt(&mut self, s: &Stmt) -> Emitted<()> {
        self.check_size()?;
        let place = self.begin_place(s);
        let around = self.begin_mark(s)?;
        self.marked(s)?;
        self.end_mark(around)?;
        self.end_place(place);
        Ok(())
    }
    /// Emits a statement behind its mark.
    fn marked(&mut self, s: &Stmt) -> Emitted<()> {
        match s {
            Stmt::Block(list) => self.block(list),
            Stmt::Let { bindings, body } => {
                for (symbol, value) in bindings {
                    let is_truth = value.ty().scalar() == Some(ScalarType::Bool);
                    let is_load = matches!(value.kind(), ExprKind::Load { .. });
                    if (value.ty().is_index() || is_truth || is_load) && value.lanes() > 1 {
                        self.vectors.insert(*symbol, value.clone());
                    }
                    let level = self.home(value);
                    let made = self.eval(value)?;
                    self.define(*symbol, made, level);
                    self.heap.bind(*symbol, Some(value));
                    self.note_parts(*symbol, value);
                    self.note_small(*symbol, value);
                }
                self.stmt(body)
            }
            Stmt::For(l) => self.for_loop(l),
            Stmt::If { cond, then, otherwise } => self.if_else(cond, then, otherwise),
            Stmt::Produce { body, .. } => self.stmt(body),
            Stmt::Alloc { buf, count, constant, body } => self.alloc(*buf, count, *constant, body),
            Stmt::Free { buf } => {
                self.free(*buf);
                Ok(())
            }
            Stmt::Prefetch { buf, at, cache } => self.prefetch(*buf, at, *cache),
            Stmt::Store { buf, index, value, mask } => self.store(*buf, index, value, mask.as_ref()),
            Stmt::Assert { .. } => self.block(std::slice::from_ref(s)),
            Stmt::Atomic { .. } => refuse("an atomic step"),
            Stmt::Count { .. } => refuse("a count"),
            Stmt::Print { .. } => refuse("a line to print"),
            Stmt::Call { .. } => refuse("a call of a closure"),
            Stmt::Launch { .. } => refuse("a parallel loop"),
            Stmt::Dispatch { .. } | Stmt::Reside { .. } | Stmt::Barrier => refuse("work for a GPU"),
            Stmt::Realize { .. } | Stmt::Provide { .. } => refuse("storage that is not linear"),
        }
    }
    /// Remembers what a symbol consists of, if a part of it changes less often than the whole.
    fn note_parts(&mut self, symbol: Sym, value: &Expr) {
        if value.ty().is_index()
            && value.lanes() == 1
            && let ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) = value.kind()
            && (build::as_int(b).is_some() || self.home(a) != self.home(b))
        {
            self.sums.insert(symbol, value.clone());
        }
    }

    fn if_else(&mut self, cond: &Expr, then: &Stmt, otherwise: &Stmt) -> Emitted<()> {
        let (condition, left, right) = self.test(cond)?;
        let (yes, no, join) = (self.body.block(), self.body.block(), self.body.block());
        let from = self.levels[self.innermost()].block;
        self.body.blocks[from.0].end = Some(End::Branch { condition, left, right, yes, no });
        let bufs = stored(&[then, otherwise]);
        let changed = |b: BufId| bufs.contains(&b);
        let before = self.slots.values(changed);
        let level = self.innermost();
        for (block, s, asked) in [(yes, then, cond.clone()), (no, otherwise, build::not(cond.clone()))] {
            self.slots.set(changed, &before, level);
            self.open_branch(block);
            self.heap.enter(asked);
            self.with_neighbours(s)?;
            self.heap.leave();
            let values = self.slots.values(changed);
            let last = self.close();
            self.body.blocks[last.0].end = Some(End::Jump(join, values));
        }
        self.joined(join, &before, &bufs);
        Ok(())
    }
    /// One of two pieces of code that only have effects: the first, of `true`, where a register has this relation to 0.
    /// The other is rare, and stands out of the way behind all code.
    pub(super) fn either(
        &mut self,
        condition: Condition,
        left: VReg,
        mut emit: impl FnMut(&mut Self, bool) -> Emitted<()>,
    ) -> Emitted<()> {
        let (yes, no, join) = (self.body.block(), self.body.block(), self.body.block());
        let from = self.levels[self.innermost()].block;
        self.body.blocks[from.0].end = Some(End::Branch { condition, left, right: Right::Const(0), yes, no });
        for (block, first) in [(yes, true), (no, false)] {
            if first {
                self.go_on(block);
            } else {
                self.cold.push(block);
                let innermost = self.innermost();
                self.levels[innermost].block = block;
            }
            emit(self, first)?;
            self.body.blocks[block.0].end = Some(End::Jump(join, Vec::new()));
        }
        self.go_on(join);
        Ok(())
    }
    /// Goes on in a block that has a parameter for each register of these buffers.
    pub(super) fn joined(&mut self, block: BlockId, like: &[VReg], bufs: &BTreeSet<BufId>) {
        let params: Vec<_> = like.iter().map(|r| self.like(*r)).collect();
        self.body.blocks[block.0].params = params.clone();
        self.go_on(block);
        let level = self.innermost();
        self.slots.set(|b| bufs.contains(&b), &params, level);
        bufs.iter().for_each(|b| self.stored(*b));
    }

    /// A loop of one iteration.
    fn only_iteration(&mut self, l: &For) -> Emitted<()> {
        let level = self.home(&l.min);
        let min = self.eval(&l.min)?;
        self.define(Sym::Loop(l.id), min, level);
        self.heap.bind(Sym::Loop(l.id), Some(&l.min));
        match &l.condition {
            Some(condition) => self.if_else(condition, &l.body, &build::nothing()),
            None => self.stmt(&l.body),
        }
    }

    /// Leaves the innermost loop where a condition does not hold, for the block that is returned.
    fn goes_on_while(&mut self, condition: &Expr) -> Emitted<BlockId> {
        let (condition, left, right) = self.test(condition)?;
        let (yes, no) = (self.body.block(), self.body.block());
        let from = self.levels[self.innermost()].block;
        self.body.blocks[from.0].end = Some(End::Branch { condition, left, right, yes, no });
        self.go_on(yes);
        self.body.continued.push(yes);
        Ok(no)
    }

    /// A loop with its test at the end, behind a test whether it runs at all. A condition is asked at the beginning of
    /// an iteration, whose body computes much of the same.
    pub(super) fn for_loop(&mut self, l: &For) -> Emitted<()> {
        if l.kind != ForKind::Serial {
            return refuse(format!("a {:?} loop", l.kind));
        }
        let extent = build::as_int(&l.extent);
        if extent.is_some_and(|n| n <= 0) {
            return Ok(());
        }
        if extent == Some(1) {
            return self.only_iteration(l);
        }
        let min = self.scalar(&l.min)?;
        let end = build::add(l.min.clone(), l.extent.clone());
        let right = match build::as_int(&end).and_then(|n| i32::try_from(n).ok()) {
            Some(n) => Right::Const(n),
            None => Right::Reg(self.scalar(&end)?),
        };
        let test = match extent {
            Some(_) => None,
            None => Some((Condition::Greater, self.scalar(&l.extent)?, Right::Const(0))),
        };
        let bufs = stored(&[&l.body]);
        let changed = |b: BufId| bufs.contains(&b);
        let before = self.slots.values(changed);
        let (head, back, done) = (self.body.block(), self.body.block(), self.body.block());
        let skipped = match test {
            None => None,
            Some((condition, left, right)) => {
                // Loads may move out of the loop to here, but no further.
                let (any, none) = (self.body.block(), self.body.block());
                let from = self.levels[self.innermost()].block;
                self.body.blocks[from.0].end = Some(End::Branch { condition, left, right, yes: any, no: none });
                self.open_branch(any);
                Some(none)
            }
        };
        let index = self.body.register(View::G64);
        let carried: Vec<_> = before.iter().map(|r| self.like(*r)).collect();
        self.body.blocks[head.0].params = std::iter::once(index).chain(carried.iter().copied()).collect();
        self.heads.push((head, l.id));
        // One that may end in each iteration has no whole number of copies to run.
        if l.condition.is_some() || self.program.loops.get(l.id).is_some_and(|info| info.never_unroll) {
            self.body.kept_rolled.push(head);
        }
        self.open_loop(head, l.id, bufs.clone());
        bufs.iter().for_each(|b| self.stored(*b));
        let level = self.innermost();
        self.slots.set(changed, &carried, level);
        self.define(Sym::Loop(l.id), Val::Scalar(index), level);
        self.heap.enter_loop(l);
        let ended = l.condition.as_ref().map(|condition| self.goes_on_while(condition)).transpose()?;
        self.with_neighbours(&l.body)?;
        self.heap.leave();

        let next = self.address_of(index, None, 1);
        let after = self.slots.values(changed);
        let last = self.close();
        let leave = self.body.block();
        self.body.blocks[last.0].end =
            Some(End::Branch { condition: Condition::Less, left: next, right, yes: back, no: leave });
        self.body.order.push(back);
        if let Some(ended) = ended {
            self.body.order.push(ended);
            self.body.blocks[ended.0].end = Some(End::Jump(done, carried));
        }
        let back = if polls(l) { self.poll(back)? } else { back };
        self.body.blocks[back.0].end = Some(End::Jump(head, [&[next], &after[..]].concat()));
        self.body.order.push(leave);
        self.body.blocks[leave.0].end = Some(End::Jump(done, after));
        let first = std::iter::once(min).chain(before.iter().copied()).collect();
        let outside = match skipped {
            None => self.levels[self.innermost()].block,
            Some(none) => {
                let block = self.close();
                self.body.order.push(none);
                self.body.blocks[none.0].end = Some(End::Jump(done, before.clone()));
                block
            }
        };
        self.body.blocks[outside.0].end = Some(End::Jump(head, first));
        self.joined(done, &before, &bufs);
        Ok(())
    }
}

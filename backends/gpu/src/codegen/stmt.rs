//! Statements: block code, its phases, and what each thread does.

use super::align::{Residue, residue};
use super::builder::V;
use super::state::{Emitted, Gen, Stop};
use halide_ir::{Expr, For, ForKind, Stmt, Sym, build, print, visit};
use naga::BinaryOperator::{Add, Equal, GreaterEqual, Less, LogicalAnd};
use naga::{Barrier, Block, Literal, Statement};
use std::ops::Range;

impl Gen<'_> {
    /// Emits a statement.
    pub(super) fn stmt(&mut self, s: &Stmt) -> Emitted<()> {
        let around = self.begin_place(s);
        let made = visit::deep(|| self.one_stmt(s));
        self.set_place(around);
        made
    }
    fn one_stmt(&mut self, s: &Stmt) -> Emitted<()> {
        match s {
            Stmt::Block(list) => list.iter().try_for_each(|s| self.stmt(s)),
            Stmt::Let { bindings, body } => {
                self.names(bindings)?;
                self.stmt(body)
            }
            Stmt::For(l) => match l.kind {
                ForKind::Serial => self.serial(l),
                ForKind::GpuThreads => self.phase(l),
                kind => Err(Stop::Malformed(format!("a {kind:?} loop is left"))),
            },
            Stmt::If { cond, then, otherwise } => self.if_else(cond, then, otherwise),
            Stmt::Produce { body, .. } => self.stmt(body),
            Stmt::Alloc { buf, constant, body, .. } => self.alloc(*buf, *constant, body),
            Stmt::Free { .. } | Stmt::Prefetch { .. } => Ok(()),
            Stmt::Store { buf, index, value, mask } => self.store(*buf, index, value, mask.as_ref()),
            Stmt::Barrier => self.barrier(),
            Stmt::Count { .. } => {
                Err(Stop::Unsupported("a counter of the profile".to_string(), "profile the Func on the CPU"))
            }
            Stmt::Atomic { body, .. } => self.atomic(body),
            Stmt::Assert { .. } | Stmt::Print { .. } => Err(Stop::Malformed("a check stands in it".to_string())),
            Stmt::Launch { .. } | Stmt::Dispatch { .. } | Stmt::Reside { .. } | Stmt::Call { .. } => {
                Err(Stop::Malformed("a statement of the host stands in it".to_string()))
            }
            Stmt::Realize { func, .. } | Stmt::Provide { func, .. } => {
                Err(Stop::Malformed(format!("storage of {func:?} is not linear")))
            }
        }
    }

    /// Gives names their values.
    pub(super) fn names(&mut self, bindings: &[(Sym, Expr)]) -> Emitted<()> {
        for (symbol, value) in bindings {
            let lanes = self.eval(value)?;
            if value.ty().is_index() && value.lanes() == 1 {
                let known = residue(value, &self.residues);
                self.residues.insert(*symbol, known);
            }
            self.bind(*symbol, lanes);
        }
        Ok(())
    }

    /// Opens a block of the shader within the one at hand.
    pub(super) fn open(&mut self) {
        self.code.open();
        self.memo.open();
    }
    pub(super) fn close(&mut self) -> Block {
        self.memo.close();
        self.code.close()
    }

    fn if_else(&mut self, cond: &Expr, then: &Stmt, otherwise: &Stmt) -> Emitted<()> {
        let condition = self.single(cond)?;
        if let Some(Literal::Bool(known)) = self.code.as_literal(condition) {
            return self.stmt(if known { then } else { otherwise });
        }
        let condition = self.code.plain_truth(condition);
        let mut sides = [then, otherwise].into_iter().map(|s| {
            self.open();
            let made = self.stmt(s);
            let block = self.close();
            made.map(|()| block)
        });
        let (accept, reject) = (sides.next().unwrap_or(Ok(Block::new()))?, sides.next().unwrap_or(Ok(Block::new()))?);
        self.code.push_stmt(Statement::If { condition, accept, reject });
        Ok(())
    }

    /// A loop of one thread, or of all threads together. Its last value plus one is in i32, which [`super::range`]
    /// checks.
    fn serial(&mut self, l: &For) -> Emitted<()> {
        let extent = build::as_int(&l.extent);
        if extent.is_some_and(|n| n <= 0) {
            return Ok(());
        }
        let symbol = Sym::Loop(l.id);
        let min = self.single(&l.min)?;
        if extent == Some(1) {
            let known = residue(&l.min, &self.residues);
            self.residues.insert(symbol, known);
            self.bind(symbol, [min].into());
            return match &l.condition {
                Some(condition) => self.if_else(condition, &l.body, &build::nothing()),
                None => self.stmt(&l.body),
            };
        }
        let count = self.single(&l.extent)?;
        let end = self.sum(min, count);
        let ty = self.code.shader.reg(super::types::Reg::I32);
        let variable = self.code.variable(&print::owner_name(symbol, self.program), ty);
        let at = self.code.place_of(variable);
        self.code.store(at, min);
        self.forget_stored(&l.body);
        self.open();
        let i = self.code.load(at);
        let done = self.code.op(GreaterEqual, i, end);
        self.code.open();
        self.code.push_stmt(Statement::Break);
        let accept = self.code.close();
        self.code.push_stmt(Statement::If { condition: done, accept, reject: Block::new() });
        self.residues.insert(symbol, Residue::ANY);
        self.bind(symbol, [i].into());
        let asked = l.condition.as_ref().map_or(Ok(()), |condition| self.break_unless(condition));
        let made = asked.and_then(|()| self.stmt(&l.body));
        let body = self.close();
        made?;
        self.code.open();
        let i = self.code.load(at);
        let one = self.code.i32(1);
        let next = self.code.op(Add, i, one);
        self.code.store(at, next);
        let continuing = self.code.close();
        self.code.push_stmt(Statement::Loop { body, continuing, break_if: None });
        Ok(())
    }
    /// Leaves the loop where a condition does not hold.
    fn break_unless(&mut self, condition: &Expr) -> Emitted<()> {
        let condition = self.single(condition)?;
        self.code.open();
        self.code.push_stmt(Statement::Break);
        let reject = self.code.close();
        self.code.push_stmt(Statement::If { condition, accept: Block::new(), reject });
        Ok(())
    }
    /// Marks the buffers that `body` stores to as written: loaded values may be out of date in its next iteration.
    fn forget_stored(&mut self, body: &Stmt) {
        if let Stmt::Store { buf, .. } = body {
            self.memo.stored(*buf);
        }
        visit::for_each_stmt(body, |s| self.forget_stored(s));
    }
    fn sum(&mut self, a: V, b: V) -> V {
        match self.code.divisor(a) {
            Some(0) => b,
            _ => self.code.op(Add, a, b),
        }
    }

    /// Loops over the threads of the block: a thread takes the iteration of its position, if there is one.
    fn phase(&mut self, outermost: &For) -> Emitted<()> {
        if self.in_phase {
            return Err(Stop::Malformed("a loop over threads is inside of another, not directly".to_string()));
        }
        let mut nest = vec![outermost];
        while let Some(Stmt::For(inner)) = nest.last().map(|l| &l.body)
            && inner.kind == ForKind::GpuThreads
        {
            nest.push(inner);
        }
        if nest.len() > 3 {
            return Err(Stop::Malformed(format!("{} loops over threads are in each other", nest.len())));
        }
        nest.reverse();
        // Without a guard there is no block of the shader, and what the phase computes is right for its thread only.
        self.memo.open();
        self.in_phase = true;
        let mut made = Ok(());
        self.guarded(self.runs, |g| made = g.thread_code(&nest, g.kernel.threads.len()));
        self.in_phase = false;
        self.memo.close();
        made
    }
    /// Emits the code of a thread in a phase whose loops from dimension `end` on, innermost first, are bound. One
    /// question is asked for as many dimensions as possible: the range of a loop may depend on loops around it, which
    /// then are bound first.
    fn thread_code(&mut self, nest: &[&For], end: usize) -> Emitted<()> {
        let of_others = |l: &For, others: &[&For]| {
            others.iter().any(|o| [&l.min, &l.extent].into_iter().any(|e| visit::uses(e, Sym::Loop(o.id))))
        };
        let bound = nest.len().min(end);
        let dependent = (0..bound).rev().find(|&d| of_others(nest[d], &nest[d + 1..bound]));
        let start = dependent.map_or(0, |d| d + 1);
        let inside = self.inside(nest, start..end)?;
        let mut made = Ok(());
        self.guarded(inside, |g| {
            made = g.bind_loops(&nest[start..bound], start).and_then(|()| match nest.first() {
                Some(l) if start == 0 => g.stmt(&l.body),
                _ => g.thread_code(nest, start),
            });
        });
        made
    }
    /// Emits a test that the thread has an iteration in the dimensions `dims`; `None` if all threads have.
    fn inside(&mut self, nest: &[&For], dims: Range<usize>) -> Emitted<Option<V>> {
        let mut inside = None;
        for d in dims {
            let threads = self.kernel.threads[d];
            let here = match nest.get(d) {
                Some(l) => self.within(d, threads, &l.extent)?,
                None if threads == 1 => None,
                None => {
                    let (thread, zero) = (self.thread[d], self.code.i32(0));
                    Some(self.code.op(Equal, thread, zero))
                }
            };
            inside = match (inside, here) {
                (Some(a), Some(b)) => Some(self.code.op(LogicalAnd, a, b)),
                (a, b) => a.or(b),
            };
        }
        Ok(inside)
    }
    /// Gives the loops of the dimensions from `first` on the iteration of the thread.
    fn bind_loops(&mut self, loops: &[&For], first: usize) -> Emitted<()> {
        for (d, l) in loops.iter().enumerate().rev() {
            let min = self.single(&l.min)?;
            let v = self.sum(min, self.thread[first + d]);
            self.bind(Sym::Loop(l.id), [v].into());
        }
        Ok(())
    }
    /// Emits a test that a thread's position is below the extent of a loop; `None` if all are.
    fn within(&mut self, dim: usize, threads: u32, extent: &Expr) -> Emitted<Option<V>> {
        match build::as_int(extent) {
            Some(n) if n > threads.into() => {
                return Err(Stop::Malformed(format!("a loop has {n} threads, and the block {threads}")));
            }
            Some(n) if n == threads.into() => return Ok(None),
            _ => {}
        }
        let extent = self.single(extent)?;
        Ok(Some(self.code.op(Less, self.thread[dim], extent)))
    }

    /// All threads of the block meet, and see what the others wrote.
    fn barrier(&mut self) -> Emitted<()> {
        if self.in_phase {
            return Err(Stop::Malformed("a barrier is inside of a loop over threads".to_string()));
        }
        let kernel = self.kernel;
        let mut what = Barrier::WORK_GROUP;
        let back_and_forth = |b: &halide_ir::KernelBuffer| b.reads && b.writes != halide_ir::Writes::None;
        what.set(Barrier::STORAGE, kernel.buffers.iter().any(back_and_forth));
        self.code.push_stmt(Statement::ControlBarrier(what));
        let written = kernel.buffers.iter().map(|b| b.buf).chain(kernel.shared.iter().map(|row| row.buf));
        written.for_each(|buf| self.memo.stored(buf));
        Ok(())
    }
}

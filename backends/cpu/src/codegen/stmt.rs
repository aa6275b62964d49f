//! Statements: control flow, checks and parallel loops.

use super::abi::RuntimeFn;
use super::func::{Callee, Func, REGION_SCRATCH};
use super::guards::Around;
use super::places::{Area, Place, Scratch};
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use crate::shared::long_loops::polls;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use halide_core::ids::Id;
use halide_core::types::ScalarType;
use halide_ir::code_place::CodePlace;
use halide_ir::visit::for_each_stmt;
use halide_ir::{BufId, Expr, FaultId, For, ForKind, PrintId, Program, Side, Stmt, Sym, TaskId, build};
use std::collections::BTreeSet;

impl Func<'_> {
    /// Emits a statement.
    pub(super) fn stmt(&mut self, s: &Stmt) {
        if self.is_full() {
            return;
        }
        let place = self.begin_place(s);
        let around = self.begin_mark(s);
        self.marked(s);
        self.end_mark(around);
        self.set_place(place);
    }
    /// Emits a statement behind its mark.
    fn marked(&mut self, s: &Stmt) {
        match s {
            Stmt::Block(list) => {
                let asks = |s: &Stmt| matches!(s, Stmt::Prefetch { .. });
                for part in list.chunk_by(|a, b| asks(a) && asks(b)) {
                    if asks(&part[0]) { self.prefetches(part) } else { self.stmt(&part[0]) }
                }
            }
            Stmt::Let { bindings, body } => {
                let hidden: Vec<_> = bindings.iter().map(|(symbol, value)| self.bind(*symbol, value)).collect();
                self.stmt(body);
                for old in hidden.into_iter().rev().flatten() {
                    self.define(old.0, old.1, old.2);
                }
            }
            Stmt::For(l) => self.for_loop(l),
            Stmt::If { cond, then, otherwise } => self.if_else(cond, then, otherwise),
            Stmt::Assert { cond, fault, args } => self.assert(cond, *fault, args),
            Stmt::Print { line, when, args } => self.print(*line, when, args),
            Stmt::Produce { body, .. } => self.stmt(body),
            Stmt::Atomic { func, body } => self.atomic(*func, body),
            Stmt::Alloc { buf, count, constant, body } => self.alloc(*buf, count, *constant, body),
            Stmt::Free { buf } => self.free(*buf),
            Stmt::Prefetch { .. } => self.prefetches(std::slice::from_ref(s)),
            Stmt::Call { callee, args } => self.call_closure(*callee, args),
            Stmt::Store { buf, index, value, mask } => self.store(*buf, index, value, mask.as_ref()),
            Stmt::Count { counter, amount } => self.count(*counter, amount),
            Stmt::Launch { task, min, extent } => self.launch(*task, min, extent),
            Stmt::Dispatch { kernel, grid } => self.dispatch(*kernel, grid),
            Stmt::Reside { buf, what } => self.reside(*buf, *what),
            Stmt::Barrier => self.wrong("a barrier outside of a kernel".to_string()),
            Stmt::Realize { func, .. } | Stmt::Provide { func, .. } => {
                self.wrong(format!("storage of {func:?} is not linear"));
            }
        }
    }

    /// Binds a symbol; gives what it stood for until now, if anything. Passes keep symbols unique, but nothing here
    /// depends on it.
    pub(super) fn bind(&mut self, symbol: Sym, expr: &Expr) -> Option<(Sym, Val, u32)> {
        let depth = self.depth(expr);
        let value = self.eval(expr);
        let old =
            self.symbols.get(&symbol).cloned().map(|v| (symbol, v, self.depths.get(&symbol).copied().unwrap_or(0)));
        self.define(symbol, value, depth);
        self.note_parts(symbol, expr);
        old
    }
    /// Gives a symbol its value, which changes with the loops down to `depth`.
    pub(super) fn define(&mut self, symbol: Sym, value: Val, depth: u32) {
        if !self.memo.bind(symbol) {
            self.sums.clear();
            self.definitions.clear();
        }
        self.symbols.insert(symbol, value);
        self.depths.insert(symbol, depth);
    }

    fn if_else(&mut self, cond: &Expr, then: &Stmt, otherwise: &Stmt) {
        let cond = self.scalar(cond);
        let (yes, no, join) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.ins().brif(cond, yes, &[], no, &[]);
        let scope = self.guards.begin();
        self.guards.ask();
        for (block, s) in [(yes, then), (no, otherwise)] {
            self.enter(block);
            self.memo.open();
            self.stmt(s);
            self.memo.close();
            self.ins().jump(join, &[]);
        }
        self.guards.end(scope);
        self.enter(join);
    }

    /// A loop with its test at the end, behind a test whether it runs at all.
    fn for_loop(&mut self, l: &For) {
        if l.kind != ForKind::Serial {
            self.wrong(format!("a {:?} loop is left", l.kind));
        }
        let extent = build::as_int(&l.extent);
        if extent.is_some_and(|n| n <= 0) || self.outline(l) {
            return;
        }
        let min = self.scalar(&l.min);
        if extent == Some(1) {
            let depth = self.depth(&l.min);
            self.define(Sym::Loop(l.id), Val::Data(Func::single(min)), depth);
            return match &l.condition {
                Some(condition) => self.if_else(condition, &l.body, &build::nothing()),
                None => self.stmt(&l.body),
            };
        }
        let count = self.scalar(&l.extent);
        let end = self.ins().iadd(min, count);
        let (before, head, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let scope = self.guards.begin();
        match extent {
            Some(_) => self.ins().jump(before, &[]),
            None => {
                let any = self.icmp_const(IntCC::SignedGreaterThan, count, 0);
                self.guards.ask();
                self.ins().brif(any, before, &[], done, &[])
            }
        };
        self.enter(before);
        let place = self.enter_place(l.id);
        for buf in stored(self.env.program, &l.body) {
            self.memo.stored(buf);
        }
        self.ins().jump(head, &[BlockArg::Value(min)]);
        let i = self.b.append_block_param(head, types::I64);
        self.b.switch_to_block(head);
        // Never so, which Cranelift does not know.
        let beyond = self.ins().icmp(IntCC::Equal, i, end);
        let tie = self.ins().uextend(types::I64, beyond);
        self.guards.enter_loop(Around { variable: i, tie });
        self.memo.open();
        self.define(Sym::Loop(l.id), Val::Data(Func::single(i)), self.guards.loop_depth());
        if let Some(condition) = &l.condition {
            // What follows runs if it holds, and in no iteration behind the first where it does not.
            let holds = self.scalar(condition);
            let go_on = self.b.create_block();
            self.ins().brif(holds, go_on, &[], done, &[]);
            self.guards.ask();
            self.enter(go_on);
        }
        self.stmt(&l.body);
        self.memo.close();
        self.guards.leave_loop();
        self.guards.end(scope);
        let next = self.ins().iadd_imm_s(i, 1);
        let more = self.ins().icmp(IntCC::SignedLessThan, next, end);
        if polls(l) {
            let again = self.b.create_block();
            self.ins().brif(more, again, &[], done, &[]);
            self.enter(again);
            self.poll();
            self.ins().jump(head, &[BlockArg::Value(next)]);
        } else {
            self.ins().brif(more, head, &[BlockArg::Value(next)], done, &[]);
        }
        self.b.seal_block(head);
        self.set_place(place);
        self.enter(done);
    }

    fn assert(&mut self, cond: &Expr, fault: FaultId, args: &[Expr]) {
        let cond = self.scalar(cond);
        let (failed, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.ins().brif(cond, next, &[], failed, &[]);
        self.guards.check();
        self.enter(failed);
        self.memo.open();
        let slot = self.scratch(Scratch::Fault, 8 * args.len().max(1));
        for (i, arg) in args.iter().enumerate() {
            let v = self.scalar(arg);
            self.store_scratch(v, slot, 8 * i);
        }
        let (worker, id, count) = (self.worker, self.index(i64::from(fault.0)), self.index(args.len() as i64));
        self.call(Callee::Runtime(RuntimeFn::Fail), &[worker, id, slot, count]);
        self.return_code(1);
        self.memo.close();
        self.enter(next);
    }

    /// Hands the bits of what a line shows to the runtime.
    fn print(&mut self, line: PrintId, when: &Expr, args: &[Expr]) {
        let when = self.scalar(when);
        let (tell, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(tell);
        self.ins().brif(when, tell, &[], next, &[]);
        let scope = self.guards.begin();
        self.guards.ask();
        self.enter(tell);
        self.memo.open();
        let slot = self.scratch(Scratch::Fault, 8 * args.len().max(1));
        for (i, arg) in args.iter().enumerate() {
            let v = self.scalar(&bits(arg));
            self.store_scratch(v, slot, 8 * i);
        }
        let (worker, id, count) = (self.worker, self.index(i64::from(line.0)), self.index(args.len() as i64));
        self.call(Callee::Runtime(RuntimeFn::Print), &[worker, id, slot, count]);
        self.memo.close();
        self.ins().jump(next, &[]);
        self.guards.end(scope);
        self.enter(next);
    }

    /// Packs what the task needs into a closure on the stack and hands it to the runtime; a single iteration is a call.
    fn launch(&mut self, id: TaskId, min: &Expr, extent: &Expr) {
        let program = self.env.program;
        if id.index() >= program.tasks.len() {
            return self.wrong(format!("{id:?} is not a task"));
        }
        let task = &program.tasks[id];
        let once = build::as_int(extent) == Some(1);
        let (min, extent) = (self.scalar(min), self.scalar(extent));
        let layout = &self.env.closures[id];
        let slot = self.new_slot((8 * layout.words.max(1)) as u32);
        let closure = self.ins().stack_addr(types::I64, slot, 0);
        for (symbol, ty, word) in &layout.own {
            let Some(value) = self.symbols.get(symbol).cloned() else {
                return self.wrong(format!("{symbol:?} is captured but not bound"));
            };
            let parts = match value {
                Val::Data(parts) => parts,
                Val::Mask(lane, parts) => self.resize_mask(lane, &parts, ty.lanes, Lane::I8),
            };
            for (i, part) in parts.iter().enumerate() {
                self.store_scratch(*part, closure, 8 * word + 16 * i);
            }
        }
        for (owner, word) in &layout.outer {
            let Some(outer) = self.closures.get(owner).copied() else {
                return self.wrong(format!("what {id:?} captures of {owner:?} is not at hand"));
            };
            self.store_scratch(outer, closure, 8 * word);
        }
        for (buf, word) in &layout.buffers {
            if program.buffers[*buf].side != Side::Device {
                let Place::Memory(area) = self.place(*buf) else {
                    return self.wrong(format!("{buf:?} is captured but in registers"));
                };
                self.store_scratch(area.base, closure, 8 * word);
            }
        }
        let worker = self.worker;
        let code = if once {
            self.call_value(Callee::Task(id), &[worker, closure, min])
        } else {
            let function = self.callee(Callee::Task(id));
            let function = self.ins().func_addr(types::I64, function);
            self.call_value(Callee::Runtime(RuntimeFn::Parallel), &[worker, function, closure, min, extent])
        };
        self.check_code(code);
        for buf in stored(program, &task.body) {
            self.memo.stored(buf);
        }
    }

    /// The body of a task: unpacks the closures and runs one iteration.
    pub(super) fn task(&mut self, id: TaskId, closure: Value, iteration: Value) {
        let env = self.env;
        let (task, layout) = (&env.program.tasks[id], &env.closures[id]);
        let flags = self.flags(REGION_SCRATCH).with_readonly().with_can_move();
        self.closures.insert(id, closure);
        for (owner, word) in &layout.outer {
            let outer = self.ins().load(types::I64, flags, closure, 8 * *word as i32);
            self.closures.insert(*owner, outer);
        }
        for (symbol, ty, owner, word) in layout.needed() {
            let lane = Lane::of_elem(ty.elem);
            let part = lane.part(ty.lanes);
            let from = self.closures[&owner];
            let parts: Parts = (0..lane.parts(ty.lanes))
                .map(|i| self.ins().load(part, flags, from, (8 * word + 16 * i) as i32))
                .collect();
            let value = if ty.is_bool() && ty.lanes > 1 { Val::Mask(Lane::I8, parts) } else { Val::Data(parts) };
            self.define(symbol, value, 0);
        }
        for (buf, word) in &layout.buffers {
            // The device knows where its own are.
            if env.program.buffers[*buf].side == Side::Device {
                continue;
            }
            let base = self.ins().load(types::I64, flags, closure, 8 * *word as i32);
            // Whether it is on the stack or the heap, there is slack behind it; an external one has none.
            let internal = env.layout.data(*buf).is_none();
            self.places.insert(*buf, Place::Memory(Area { base, region: buf.0, readonly: false, slack: internal }));
        }
        self.define(Sym::Loop(task.id), Val::Data(Func::single(iteration)), 0);
        if let Some(marks) = env.marks {
            self.mark = marks.around(id);
            self.write_mark(self.mark);
        }
        let definition = env.program.loops.get(task.id).and_then(|info| info.definition);
        self.set_place(CodePlace { definition, within: Some(task.id), ..CodePlace::default() });
        self.stmt(&task.body);
    }
}

/// The bits of scalar data, zero-extended.
fn bits(e: &Expr) -> Expr {
    let ty = e.ty().scalar().expect("a print shows data");
    match ty {
        ScalarType::Bool => build::cast_data(ScalarType::U64, e.clone()),
        _ => build::cast_data(ScalarType::U64, build::reinterpret(ScalarType::unsigned(ty.bits()), e.clone())),
    }
}

/// Every buffer that `s`, or a task it launches, stores to.
pub(super) fn stored(program: &Program, s: &Stmt) -> BTreeSet<BufId> {
    fn walk(program: &Program, s: &Stmt, into: &mut BTreeSet<BufId>) {
        match s {
            Stmt::Store { buf, .. } => _ = into.insert(*buf),
            Stmt::Launch { task, .. } if task.index() < program.tasks.len() => {
                walk(program, &program.tasks[*task].body, into);
            }
            Stmt::Dispatch { kernel, .. } if kernel.index() < program.kernels.len() => {
                into.extend(super::device::written(&program.kernels[*kernel]));
            }
            Stmt::Call { args, .. } => into.extend(args.iter().map(|arg| arg.buf)),
            // A copy from the device.
            Stmt::Reside { buf, .. } => _ = into.insert(*buf),
            _ => {}
        }
        for_each_stmt(s, |inner| walk(program, inner, into));
    }
    let mut all = BTreeSet::new();
    walk(program, s, &mut all);
    all
}

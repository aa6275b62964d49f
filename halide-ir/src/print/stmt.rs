//! Statements as text: one per line, bodies in braces.

use super::Printer;
use crate::callee::CallArg;
use crate::expr::Expr;
use crate::stmt::{For, Stmt};
use crate::sym::{BufId, Sym};
use crate::visit::deep;
use crate::words::{CACHES, LOOPS, RESIDENCIES, word};
use halide_core::ids::FuncId;

impl Printer<'_> {
    /// A statement as the content of braces (or of the whole text): the statements of a block stand bare.
    pub(super) fn list(&mut self, s: &Stmt) {
        match s {
            Stmt::Block(items) if items.len() != 1 => self.items(items),
            other => self.stmt(other, true),
        }
    }

    fn items(&mut self, items: &[Stmt]) {
        for (i, item) in items.iter().enumerate() {
            self.stmt(item, i + 1 == items.len());
        }
    }

    /// One statement. `last` says that nothing follows it in its braces, so that a `let` may extend to their end.
    fn stmt(&mut self, s: &Stmt, last: bool) {
        deep(|| self.one(s, last));
    }

    fn one(&mut self, s: &Stmt, last: bool) {
        match s {
            Stmt::Block(items) => self.braces("", |p| p.items(items)),
            Stmt::Let { bindings, body } if last => self.let_in(bindings, body),
            Stmt::Let { bindings, body } => self.braces("scope ", |p| p.let_in(bindings, body)),
            Stmt::For(l) => self.for_loop(l),
            Stmt::If { cond, then, otherwise } => self.if_else(cond, then, otherwise),
            Stmt::Assert { cond, fault, args } => self.line(|p| {
                p.push("assert ");
                p.expr(cond);
                p.push(&format!(" else {fault:?}"));
                p.args(args);
            }),
            Stmt::Print { line, when, args } => self.line(|p| {
                p.push(&format!("print {line:?}"));
                p.args(args);
                p.push(" when ");
                p.expr(when);
            }),
            Stmt::Produce { func, body } => {
                let head = format!("produce {} ", self.func(*func));
                self.braces(&head, |p| p.list(body));
            }
            Stmt::Realize { func, bounds, when, body } => {
                self.start();
                self.realize(*func, bounds, when.as_ref());
                self.block(|p| p.list(body));
            }
            Stmt::Atomic { func, body } => {
                let head = format!("atomic {} ", self.func(*func));
                self.braces(&head, |p| p.list(body));
            }
            Stmt::Provide { func, args, values, mask } => self.line(|p| p.provide(*func, args, values, mask.as_ref())),
            Stmt::Alloc { buf, count, constant, body } => {
                self.start();
                let head = format!("alloc {}[", self.buf(*buf));
                self.push(&head);
                self.expr(count);
                self.push(&constant.map_or("] ".to_string(), |n| format!("] at_most {n} ")));
                self.block(|p| p.list(body));
            }
            Stmt::Store { buf, index, value, mask } => self.line(|p| p.store(*buf, index, value, mask.as_ref())),
            Stmt::Free { buf } => self.line(|p| {
                let text = format!("free {}", p.buf(*buf));
                p.push(&text);
            }),
            Stmt::Prefetch { buf, at, cache } => self.line(|p| {
                let text = format!("prefetch {} {}", word(&CACHES, cache).unwrap_or("?"), p.buf(*buf));
                p.push(&text);
                p.args(at);
            }),
            Stmt::Call { callee, args } => self.line(|p| {
                p.push(&format!("call {callee:?}"));
                args.iter().for_each(|arg| p.call_arg(arg));
            }),
            Stmt::Count { counter, amount } => self.line(|p| {
                p.push(&format!("count c{counter} += "));
                p.expr(amount);
            }),
            Stmt::Launch { task, min, extent } => self.line(|p| {
                p.push(&format!("launch {task:?} from "));
                p.expr(min);
                p.push(" extent ");
                p.expr(extent);
            }),
            Stmt::Dispatch { kernel, grid } => self.line(|p| {
                p.push(&format!("dispatch {kernel:?}"));
                p.args(grid);
            }),
            Stmt::Reside { buf, what } => self.line(|p| {
                let text = format!("{} {}", word(&RESIDENCIES, what).unwrap_or("?"), p.buf(*buf));
                p.push(&text);
            }),
            Stmt::Barrier => self.line(|p| p.push("barrier")),
        }
    }

    fn let_in(&mut self, bindings: &[(Sym, Expr)], body: &Stmt) {
        for (s, value) in bindings {
            self.line(|p| {
                let head = format!("let {} = ", p.sym(*s));
                p.push(&head);
                p.expr(value);
            });
            if let Sym::Temp(n) = s {
                self.temps.insert(*n, value.ty());
            }
        }
        match body {
            Stmt::Let { bindings, body } => self.braces("scope ", |p| p.let_in(bindings, body)),
            other => self.list(other),
        }
    }

    fn for_loop(&mut self, l: &For) {
        self.start();
        let head = format!("{} {} from ", word(&LOOPS, &l.kind).unwrap_or("?"), self.loop_id(l.id));
        self.push(&head);
        self.expr(&l.min);
        self.push(" extent ");
        self.expr(&l.extent);
        if let Some(condition) = &l.condition {
            self.push(" while ");
            self.expr(condition);
        }
        self.push(" ");
        self.block(|p| p.list(&l.body));
    }

    fn if_else(&mut self, cond: &Expr, then: &Stmt, otherwise: &Stmt) {
        self.start();
        self.push("if ");
        self.expr(cond);
        self.push(" ");
        self.block(|p| p.list(then));
        if !crate::build::is_nothing(otherwise) {
            self.out.pop();
            self.push(" else ");
            self.block(|p| p.list(otherwise));
        }
    }

    fn realize(&mut self, func: FuncId, bounds: &[(Expr, Expr)], when: Option<&Expr>) {
        let head = format!("realize {} ", self.func(func));
        self.push(&head);
        for (min, extent) in bounds {
            self.push("[");
            self.expr(min);
            self.push(" extent ");
            self.expr(extent);
            self.push("] ");
        }
        if let Some(when) = when {
            self.push("when ");
            self.expr(when);
            self.push(" ");
        }
    }

    fn call_arg(&mut self, arg: &CallArg) {
        let head = format!(" {}", self.buf(arg.buf));
        self.push(&head);
        for (d, (min, extent)) in arg.bounds.iter().enumerate() {
            self.push(" [");
            self.expr(min);
            self.push(" extent ");
            self.expr(extent);
            if let Some([min, extent, stride]) = arg.memory.get(d) {
                self.push(" in ");
                self.expr(min);
                self.push(" extent ");
                self.expr(extent);
                self.push(" stride ");
                self.expr(stride);
            }
            self.push("]");
        }
    }

    fn provide(&mut self, func: FuncId, args: &[Expr], values: &[(BufId, Expr)], mask: Option<&Expr>) {
        let head = format!("provide {}", self.func(func));
        self.push(&head);
        self.args(args);
        if let Some(m) = mask {
            self.push(" where ");
            self.expr(m);
        }
        self.push(":");
        for (i, (buf, value)) in values.iter().enumerate() {
            let head = format!("{}{} = ", if i > 0 { ", " } else { " " }, self.buf(*buf));
            self.push(&head);
            self.expr(value);
        }
    }

    fn store(&mut self, buf: BufId, index: &Expr, value: &Expr, mask: Option<&Expr>) {
        let name = self.buf(buf);
        self.push(&name);
        self.push("[");
        self.expr(index);
        if let Some(m) = mask {
            self.push(" where ");
            self.expr(m);
        }
        self.push("] = ");
        self.expr(value);
    }

    fn args(&mut self, args: &[Expr]) {
        self.push("(");
        for (i, a) in args.iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            self.expr(a);
        }
        self.push(")");
    }

    /// The indentation of a line.
    pub(super) fn start(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    /// One whole line.
    pub(super) fn line(&mut self, write: impl FnOnce(&mut Self)) {
        self.start();
        write(self);
        self.push("\n");
    }

    /// A line `head {`, an indented body and the closing brace.
    fn braces(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.start();
        self.push(head);
        self.block(body);
    }

    /// The braces of a line begun already.
    pub(super) fn block(&mut self, body: impl FnOnce(&mut Self)) {
        self.push("{\n");
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.start();
        self.push("}\n");
    }
}

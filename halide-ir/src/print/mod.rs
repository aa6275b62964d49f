//! The one printer of loop IR. `parse` reads what it writes, and gives an equal value back, but for what
//! rows of loops hold beside names, and names of Funcs.
//!
//! Ids are written as they are (`L3`, `b2`, `f1`, `p0`, `t7`); with a [`Program`] at hand a name stands before each,
//! for reading only: `blur_y.yi#L3`, `blur_x#b2`. A name with unusual characters is quoted. Bounds are
//! `f1.s0.d2.min@L3` (stage 0, dimension 2, per iteration of loop 3, or `@root`), what is stored `f1.d2.max@L3`, and
//! properties of buffers `b2.stride1`. `b2(x, y)` reads a coordinate and `b2[i where mask]` a linear element.
//!
//! Index constants are plain, data constants carry their type: `3`, `3u16`, `1.5f32`, `bits(f32, 0x7fc00000)`.
//! Calls of a type convert (`u16x8(e)`; `int` is Index), `x8(e)` is a broadcast. The type of a symbol, parameter or
//! load is written behind it, `t7:u16`, unless a binding or table of the same text tells it. An expression whose
//! shared parts would blow the text up is written `with($0 = part, $1 = part, whole)`.

mod expr;
mod program;
mod stmt;
#[cfg(test)]
mod tests;

use super::sym::{BufId, LoopId, Scope, Sym};
use super::typing::type_name;
use super::words::{EDGES, FIELDS, word};
use crate::expr::{Expr, Type};
use crate::program::Program;
use crate::stmt::Stmt;
use halide_core::ids::{FuncId, ParamId};
use std::collections::HashMap;
use std::fmt;

/// `e` with the names that `program` has for its ids.
pub fn expr_in(e: &Expr, program: &Program) -> String {
    let mut printer = Printer::new(Some(program));
    printer.expr(e);
    printer.out
}

/// Prints `e` with names in place of ids, for people.
pub fn expr_by_names(e: &Expr, program: &Program) -> String {
    let mut printer = Printer { bare: true, ..Printer::new(Some(program)) };
    printer.expr(e);
    printer.out
}

/// Returns the name of the loop, the buffer or the Func that a symbol belongs to; `t7` for values that passes named.
pub fn owner_name(s: Sym, program: &Program) -> String {
    let printer = Printer { bare: true, ..Printer::new(Some(program)) };
    match s {
        Sym::Loop(id) => printer.loop_id(id),
        Sym::Bound { func, .. } | Sym::Stored { func, .. } => printer.func(func),
        Sym::Buffer { buf, .. } => printer.buf(buf),
        Sym::Temp(_) => printer.sym(s),
    }
}

/// `s` with the names that `program` has for its ids.
pub fn stmt_in(s: &Stmt, program: &Program) -> String {
    let mut printer = Printer::new(Some(program));
    printer.list(s);
    printer.out
}

/// The symbol with the names that `program` has for its ids.
pub fn sym_in(s: Sym, program: &Program) -> String {
    Printer::new(Some(program)).sym(s)
}

/// The Func with the name that `program` has for it.
pub fn func_in(id: FuncId, program: &Program) -> String {
    Printer::new(Some(program)).func(id)
}

/// The buffer with the name that `program` has for it.
pub fn buf_in(id: BufId, program: &Program) -> String {
    Printer::new(Some(program)).buf(id)
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(None);
        printer.expr(self);
        f.pad(&printer.out)
    }
}

impl fmt::Display for Stmt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(None);
        printer.list(self);
        f.write_str(&printer.out)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(Some(self));
        printer.program(self);
        f.write_str(&printer.out)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&type_name(*self))
    }
}

impl fmt::Display for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&Printer::new(None).sym(*self))
    }
}

/// Text in the making.
struct Printer<'a> {
    /// Leaves out the ids behind names.
    bare: bool,
    /// The program whose tables give names and types.
    program: Option<&'a Program>,
    /// Types of the temporaries bound so far in the text.
    temps: HashMap<u32, Type>,
    /// Shared nodes of the expression being written that have a local name.
    locals: HashMap<usize, usize>,
    out: String,
    indent: usize,
}

impl<'a> Printer<'a> {
    fn new(program: Option<&'a Program>) -> Printer<'a> {
        Printer { bare: false, program, temps: HashMap::new(), locals: HashMap::new(), out: String::new(), indent: 0 }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn sym(&self, s: Sym) -> String {
        let edge = |e| word(&EDGES, &e).unwrap_or("?");
        match s {
            Sym::Loop(id) => self.loop_id(id),
            Sym::Bound { func, stage, dim, edge: e, at } => {
                format!("{}.s{stage}.d{dim}.{}@{}", self.func(func), edge(e), self.scope(at))
            }
            Sym::Stored { func, dim, edge: e, at } => {
                format!("{}.d{dim}.{}@{}", self.func(func), edge(e), self.scope(at))
            }
            Sym::Buffer { buf, dim, field } => {
                format!("{}.{}{dim}", self.buf(buf), word(&FIELDS, &field).unwrap_or("?"))
            }
            Sym::Temp(n) => format!("t{n}"),
        }
    }

    fn scope(&self, at: Scope) -> String {
        match at {
            Scope::Root => "root".to_string(),
            Scope::Body(id) => self.loop_id(id),
        }
    }

    fn loop_id(&self, id: LoopId) -> String {
        self.named(self.program.and_then(|p| p.loops.get(id)).map(|l| l.name.as_str()), format!("{id:?}"))
    }

    fn buf(&self, id: BufId) -> String {
        self.named(self.program.and_then(|p| p.buffers.get(id)).map(|b| b.name.as_str()), format!("{id:?}"))
    }

    fn param(&self, id: ParamId) -> String {
        self.named(self.program.and_then(|p| p.params.get(id)).map(|(name, _)| name.as_str()), format!("{id:?}"))
    }

    /// A Func goes by the name of its first buffer.
    fn func(&self, id: FuncId) -> String {
        let name = self.program.and_then(|p| p.buffers.get(*p.func_buffers.get(id)?.first()?)).map(|b| b.name.as_str());
        self.named(name, format!("{id:?}"))
    }

    fn named(&self, name: Option<&str>, id: String) -> String {
        match name {
            Some(name) if self.bare => written(name),
            _ => named(name, id),
        }
    }
}

/// `name#id`; the id alone where there is no name.
fn named(name: Option<&str>, id: String) -> String {
    name.map_or(id.clone(), |name| format!("{}#{id}", written(name)))
}

/// A name as a word, in quotes unless it reads as one.
fn written(name: &str) -> String {
    if is_plain(name) { name.to_string() } else { format!("{name:?}") }
}

/// Returns true if a name reads as a word without quotes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

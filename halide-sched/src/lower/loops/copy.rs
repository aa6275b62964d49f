//! Copies of statements. A copy that stands beside its original gets loops and names of its own, so that a symbol keeps
//! meaning one thing in the whole program.

use crate::lower::walk;
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{Expr, For, Program, Stmt, Sym, build};

/// A fresh symbol for a value.
pub(crate) fn fresh_temp(program: &mut Program) -> Sym {
    let temp = Sym::Temp(program.next_temp);
    program.next_temp += 1;
    temp
}

/// `s` with every loop and every name bound in it replaced by fresh ones, and free symbols replaced as `given` says.
pub(crate) fn fresh_copy(s: &Stmt, given: &[(Sym, Expr)], program: &mut Program) -> Stmt {
    let mut copy = Copy { map: given.iter().cloned().collect(), taken: None, program };
    statement(&mut copy, s.clone())
}

/// `s` with fresh names where a symbol or loop would be bound for the second time.
pub(crate) fn rename_repeated(s: Stmt, program: &mut Program) -> Stmt {
    statement(&mut Copy { map: Map::default(), taken: Some(Set::default()), program }, s)
}

struct Copy<'p> {
    /// The expressions that replace symbols; symbols that are not listed stay.
    map: Map<Sym, Expr>,
    /// Symbols that are bound already; the first binding of each keeps its name. `None`: all get fresh names.
    taken: Option<Set<Sym>>,
    program: &'p mut Program,
}

impl Copy<'_> {
    /// Returns true if the binding of `s` at hand keeps its name, and marks `s` as bound.
    fn keeps(&mut self, s: Sym) -> bool {
        self.taken.as_mut().is_some_and(|taken| taken.insert(s))
    }
    /// Lets `s` stand for `to` from here on; the result undoes that.
    fn bind(&mut self, s: Sym, to: Expr) -> (Sym, Option<Expr>) {
        (s, self.map.insert(s, to))
    }
    fn unbind(&mut self, (s, old): (Sym, Option<Expr>)) {
        match old {
            Some(old) => self.map.insert(s, old),
            None => self.map.remove(&s),
        };
    }
}

fn expression(copy: &mut Copy<'_>, e: &Expr) -> Expr {
    if copy.map.is_empty() {
        return e.clone();
    }
    visit::substitute(e, &|s| copy.map.get(&s).cloned())
}

fn statement(copy: &mut Copy<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Let { bindings, body } => {
            let mut made = Vec::with_capacity(bindings.len());
            let mut bound = Vec::new();
            for (s, e) in bindings {
                let value = expression(copy, &e);
                let name = if copy.keeps(s) { s } else { fresh_temp(copy.program) };
                if name != s || copy.map.contains_key(&s) {
                    bound.push(copy.bind(s, build::typed_sym(name, value.ty())));
                }
                made.push((name, value));
            }
            let body = statement(copy, *body);
            bound.into_iter().rev().for_each(|b| copy.unbind(b));
            build::let_in(made, body)
        }
        Stmt::For(l) => {
            let For { id, kind, min, extent, condition, body } = *l;
            let (min, extent) = (expression(copy, &min), expression(copy, &extent));
            let condition = condition.map(|e| expression(copy, &e));
            let name = if copy.keeps(Sym::Loop(id)) { id } else { copy.program.copy_loop(id) };
            let renamed = name != id || copy.map.contains_key(&Sym::Loop(id));
            let bound = renamed.then(|| copy.bind(Sym::Loop(id), build::loop_var(name)));
            let body = statement(copy, body);
            bound.into_iter().for_each(|b| copy.unbind(b));
            build::loop_of(For { id: name, kind, min, extent, condition, body })
        }
        other => walk::map_stmt(other, copy, expression, statement),
    }
}

//! Copies of statements. A copy that stands beside its original gets loops and names of its own, so that a symbol keeps
//! meaning one thing in the whole program.

use super::walk;
use crate::ir::visit::{self, Memo};
use crate::ir::{Expr, For, LoopId, Program, Stmt, Sym, build};
use std::collections::HashMap;

/// A fresh symbol for a value.
pub(crate) fn fresh_temp(program: &mut Program) -> Sym {
    let temp = Sym::Temp(program.next_temp);
    program.next_temp += 1;
    temp
}

/// A fresh loop with the name of `like`.
pub(crate) fn fresh_loop(program: &mut Program, like: LoopId) -> LoopId {
    let name = program.loops[like].clone();
    program.loops.push(name)
}

/// `s` with every loop and every name bound in it replaced by fresh ones, and free symbols replaced as `given` says.
pub(crate) fn fresh_copy(s: &Stmt, given: &[(Sym, Expr)], program: &mut Program) -> Stmt {
    let mut copy = Copy { map: given.iter().cloned().collect(), memo: Memo::new(), program };
    statement(&mut copy, s.clone())
}

/// What symbols become. Scopes that bind the same symbol are disjoint, so a later meaning just replaces an earlier one.
struct Copy<'p> {
    map: HashMap<Sym, Expr>,
    memo: Memo,
    program: &'p mut Program,
}

impl Copy<'_> {
    fn bind(&mut self, s: Sym, to: Expr) {
        if self.map.insert(s, to).is_some() {
            self.memo = Memo::new();
        }
    }
}

fn expression(copy: &mut Copy<'_>, e: &Expr) -> Expr {
    let Copy { map, memo, .. } = copy;
    visit::substitute_with(e, &|s| map.get(&s).cloned(), memo)
}

fn statement(copy: &mut Copy<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Let { bindings, body } => {
            let mut fresh = Vec::with_capacity(bindings.len());
            for (s, e) in bindings {
                let value = expression(copy, &e);
                let temp = fresh_temp(copy.program);
                copy.bind(s, build::typed_sym(temp, value.ty()));
                fresh.push((temp, value));
            }
            build::let_in(fresh, statement(copy, *body))
        }
        Stmt::For(l) => {
            let For { id, kind, min, extent, body } = *l;
            let (min, extent) = (expression(copy, &min), expression(copy, &extent));
            let fresh = fresh_loop(copy.program, id);
            copy.bind(Sym::Loop(id), build::loop_var(fresh));
            build::for_loop(fresh, kind, min, extent, statement(copy, body))
        }
        other => walk::map_stmt(other, copy, expression, statement),
    }
}

//! Removing lets whose symbol nothing uses.

use super::walk::postorder;
use halide_ir::hash::Set;
use halide_ir::visit::{for_each_expr, map_stmt};
use halide_ir::{Expr, ExprKind, Stmt, Sym, build};
use std::cell::RefCell;

/// `s` without the bindings of symbols that are used nowhere in it, also not by other bindings that stay.
pub fn drop_dead_lets(s: Stmt) -> Stmt {
    Used::default().stmt(s)
}

/// The symbols used in the part of the program that was seen; a scope is seen from its end.
#[derive(Default)]
struct Used {
    symbols: Set<Sym>,
    /// Addresses of expressions that were searched. They stay in the program, so no address comes twice.
    searched: Set<usize>,
}

impl Used {
    fn stmt(&mut self, s: Stmt) -> Stmt {
        if let Stmt::Let { mut bindings, body } = s {
            let body = self.stmt(*body);
            let mut kept = Vec::with_capacity(bindings.len());
            while let Some((symbol, value)) = bindings.pop() {
                if self.symbols.contains(&symbol) {
                    self.search(&value);
                    kept.push((symbol, value));
                }
            }
            kept.reverse();
            return build::let_in(kept, body);
        }
        for_each_expr(&s, |e| self.search(e));
        map_stmt(s, Expr::clone, |inner| self.stmt(inner))
    }
    fn search(&mut self, e: &Expr) {
        let searched = RefCell::new(&mut self.searched);
        let is_searched = |e: &Expr| searched.borrow().contains(&e.id());
        postorder(e, is_searched, |e| {
            searched.borrow_mut().insert(e.id());
            if let ExprKind::Sym(s) = e.kind() {
                self.symbols.insert(*s);
            }
        });
    }
}

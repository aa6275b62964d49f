//! Walking statements with a context that expressions and statements change alike.

use crate::ir::visit;
use crate::ir::{Expr, Program, Stmt, build};
use std::cell::RefCell;

/// [`visit::map_stmt`] whose two functions share the mutable context `cx`.
pub(crate) fn map_stmt<C>(
    s: Stmt,
    cx: &mut C,
    fe: impl Fn(&mut C, &Expr) -> Expr,
    fs: impl Fn(&mut C, Stmt) -> Stmt,
) -> Stmt {
    let cx = RefCell::new(cx);
    visit::map_stmt(s, |e| fe(&mut cx.borrow_mut(), e), |inner| fs(&mut cx.borrow_mut(), inner))
}

/// `program` with the body that `f` makes of its body; `f` may change the program's tables.
pub(crate) fn map_body(mut program: Program, f: impl FnOnce(Stmt, &mut Program) -> Stmt) -> Program {
    let body = std::mem::replace(&mut program.body, build::nothing());
    program.body = f(body, &mut program);
    program
}

/// Whether `s` or a statement in it satisfies `test`.
pub(crate) fn any_stmt(s: &Stmt, test: &mut impl FnMut(&Stmt) -> bool) -> bool {
    if test(s) {
        return true;
    }
    let mut found = false;
    visit::for_each_stmt(s, |inner| found = found || any_stmt(inner, test));
    found
}

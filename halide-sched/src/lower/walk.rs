//! Walking statements with a context that expressions and statements change alike.

use halide_ir::visit;
use halide_ir::{Expr, For, Program, Stmt, build};
use halide_solve::simplify::Facts;
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

/// Returns true if `s` or a statement in it satisfies `test`.
pub(crate) fn any_stmt(s: &Stmt, test: &mut impl FnMut(&Stmt) -> bool) -> bool {
    if test(s) {
        return true;
    }
    let mut found = false;
    visit::for_each_stmt(s, |inner| found = found || any_stmt(inner, test));
    found
}

/// [`map_stmt`] where `facts` of the context learn what holds in nested statements while these are mapped: the values
/// of names, the ranges of loop variables, and conditions.
pub(crate) fn map_stmt_under<C>(
    s: Stmt,
    cx: &mut C,
    facts: impl Fn(&mut C) -> &mut Facts,
    fe: impl Fn(&mut C, &Expr) -> Expr,
    fs: impl Fn(&mut C, Stmt) -> Stmt,
) -> Stmt {
    let nested = |cx: &mut C, learn: &mut dyn FnMut(&mut Facts), s: Stmt| {
        facts(cx).push_scope();
        learn(facts(cx));
        let made = fs(cx, s);
        facts(cx).pop_scope();
        made
    };
    match s {
        Stmt::Let { bindings, body } => {
            facts(cx).push_scope();
            let mut made = Vec::with_capacity(bindings.len());
            for (s, e) in bindings {
                let value = fe(cx, &e);
                facts(cx).bind_let(s, &value);
                made.push((s, value));
            }
            let body = fs(cx, *body);
            facts(cx).pop_scope();
            build::let_in(made, body)
        }
        Stmt::For(l) => {
            let For { id, kind, min, extent, condition, body } = *l;
            let (min, extent) = (fe(cx, &min), fe(cx, &extent));
            let condition = condition.map(|e| fe(cx, &e));
            let body = nested(cx, &mut |facts| facts.bind_loop(id, &min, &extent), body);
            build::loop_of(For { id, kind, min, extent, condition, body })
        }
        Stmt::If { cond, then, otherwise } => {
            let cond = fe(cx, &cond);
            let opposite = build::not(cond.clone());
            let then = nested(cx, &mut |facts| facts.learn(&cond), *then);
            let otherwise = nested(cx, &mut |facts| facts.learn(&opposite), *otherwise);
            build::if_else(cond, then, otherwise)
        }
        other => map_stmt(other, cx, fe, fs),
    }
}

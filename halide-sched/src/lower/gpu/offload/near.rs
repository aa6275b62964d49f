//! Keeps coordinates that are made of data within 32 bits, which is what kernels compute coordinates in.
//!
//! A value of data that becomes a coordinate may be anything, until a minimum and a maximum make it a place in a
//! buffer. Simplified code has what is added to such a coordinate inside of these, where the sum may leave 32 bits:
//! `min(c, x + 256)`. It is added outside instead, where the value is small: `min(c - 256, x) + 256`.

use crate::lower::loops::copy::fresh_temp;
use crate::lower::walk;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{Expr, ExprKind, Program, Stmt, Sym, build};

/// Rewrites the coordinates of a kernel's body.
pub(super) fn keep(program: &mut Program, body: Stmt) -> Stmt {
    let (far, loaded) = (Set::default(), Set::default());
    statement(&mut Near { program, far, loaded, moved: Map::default(), known: Map::default() }, body)
}

struct Near<'p> {
    program: &'p mut Program,
    /// Names of coordinates that may be far away.
    far: Set<Sym>,
    /// Names of data that depends on what is in memory. What depends on arguments alone is known when a kernel is
    /// dispatched.
    loaded: Set<Sym>,
    /// The expressions that stand for names whose values were taken apart.
    moved: Map<Sym, Expr>,
    /// The results of `is_far`, by expression.
    known: Map<Expr, bool>,
}

fn statement(cx: &mut Near<'_>, s: Stmt) -> Stmt {
    let Stmt::Let { bindings, body } = s else {
        return walk::map_stmt(s, cx, expression, statement);
    };
    let mut made = Vec::with_capacity(bindings.len());
    for (name, value) in bindings {
        let value = expression(cx, &value);
        if !value.ty().is_index() && is_loaded(cx, &value) {
            cx.loaded.insert(name);
        }
        if !value.ty().is_index() || !is_far(cx, &value) {
            made.push((name, value));
            continue;
        }
        match split(cx, &value) {
            (far, Some(rest)) => {
                let temp = fresh_temp(cx.program);
                cx.far.insert(temp);
                cx.moved.insert(name, build::add(build::typed_sym(temp, far.ty()), rest));
                made.push((temp, far));
            }
            (_, None) => {
                cx.far.insert(name);
                made.push((name, value));
            }
        }
    }
    build::let_in(made, statement(cx, *body))
}

fn expression(cx: &mut Near<'_>, e: &Expr) -> Expr {
    Memo::new().rewrite(e, |n, done| match n.kind() {
        ExprKind::Sym(s) => cx.moved.get(s).unwrap_or(n).clone(),
        _ => limit_first(cx, visit::map_children(n, done)),
    })
}

/// A minimum or maximum of a far value, with what is added to that taken out.
fn limit_first(cx: &mut Near<'_>, n: Expr) -> Expr {
    let ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) = n.kind() else { return n };
    if !n.ty().is_index() {
        return n;
    }
    let (far, limit) = match (is_far(cx, a), is_far(cx, b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return n,
    };
    match split(cx, far) {
        (far, Some(rest)) => build::add(build::binary(*op, build::sub(limit.clone(), rest.clone()), far), rest),
        (_, None) => n,
    }
}

/// A far sum as its far part, and the rest if there is any.
fn split(cx: &mut Near<'_>, e: &Expr) -> (Expr, Option<Expr>) {
    let ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) = e.kind() else { return (e.clone(), None) };
    match (op, is_far(cx, a), is_far(cx, b)) {
        (_, true, false) => {
            let (far, rest) = split(cx, a);
            let here = if *op == BinOp::Add { b.clone() } else { build::sub(zero(b), b.clone()) };
            (far, Some(rest.map_or(here.clone(), |rest| build::add(rest, here))))
        }
        (BinOp::Add, false, true) => {
            let (far, rest) = split(cx, b);
            (far, Some(rest.map_or(a.clone(), |rest| build::add(rest, a.clone()))))
        }
        _ => (e.clone(), None),
    }
}

fn zero(like: &Expr) -> Expr {
    build::broadcast(build::int(0), like.lanes())
}

/// Returns true if a value depends on memory.
fn is_loaded(cx: &Near<'_>, e: &Expr) -> bool {
    visit::any_node(e, |n| match n.kind() {
        ExprKind::Load { .. } => true,
        ExprKind::Sym(s) => cx.loaded.contains(s) || cx.far.contains(s),
        _ => false,
    })
}

/// Returns true if a coordinate contains a value of 32 bits or more from memory.
fn is_far(cx: &mut Near<'_>, e: &Expr) -> bool {
    if let Some(&known) = cx.known.get(e) {
        return known;
    }
    let far = match e.kind() {
        ExprKind::Sym(s) => cx.far.contains(s),
        ExprKind::Cast(a) if e.ty().is_index() => a.ty().scalar().is_some_and(|t| t.bits() >= 32) && is_loaded(cx, a),
        _ => {
            let mut any = false;
            visit::for_each_child(e, |child| any |= is_far(cx, child));
            any
        }
    };
    cx.known.insert(e.clone(), far);
    far
}

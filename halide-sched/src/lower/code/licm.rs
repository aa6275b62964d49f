//! Loop-invariant code motion: computes what does not change in a loop in front of it.
//!
//! Before: `Stage::Shaped`, every symbol bound once. After: the same.
//!
//! - A name whose value does not change in the loops around it is bound outside of them, and so is a part of an
//!   expression. Loads stay where they are: outside of the loop they might not be meant to happen.
//! - Index sums are regrouped for that: first what is constant in the whole nest, then what changes with the outermost
//!   loop, and so on; the constant is added last, where it costs nothing, since addresses have an offset.
//! - A loop that is all one condition which does not change becomes a condition around loops.
//!
//! Nothing moves out of a parallel loop: its threads would have to be handed more than it costs them to compute it.
//!
//! Example:
//! ```text
//! for y#L1 from 0 extent 8 {
//!   for x#L0 from 0 extent 8 {
//!     let t0 = y#L1 * image#b3.stride1
//!     result#b5[x#L0 + y#L1 * result#b5.stride1] = image#b3[x#L0 + t0 - image#b3.min1 * image#b3.stride1]
//!   }
//! }
//! ```
//! becomes
//! ```text
//! let t6 = 0 - image#b3.min1 * image#b3.stride1
//! for y#L1 from 0 extent 8 {
//!   let t4 = y#L1 * image#b3.stride1
//!   let t5 = y#L1 * result#b5.stride1
//!   let t7 = t6 + t4
//!   for x#L0 from 0 extent 8 {
//!     result#b5[t5 + x#L0] = image#b3[t7 + x#L0]
//!   }
//! }
//! ```

use crate::lower::code::polynomial::{Sum, Term, sum_of};
use crate::lower::loops::copy::{fresh_copy, fresh_temp};
use crate::lower::walk;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::hash::Map;
use halide_ir::visit::{self, Memo};
use halide_ir::{Expr, ExprKind, For, Program, Stmt, Sym, build};

/// Moves invariant values and conditions out of loops.
pub fn licm(program: Program) -> Program {
    walk::map_body(program, |body, program| {
        let mut cx = Hoist { program, loops: Vec::new(), levels: Map::default(), aliases: Map::default() };
        statement(&mut cx, body)
    })
}

struct Hoist<'p> {
    program: &'p mut Program,
    /// The loops around, outermost first.
    loops: Vec<Enclosing>,
    /// In how many loops around its binding a symbol's value changes. Symbols from outside are 0.
    levels: Map<Sym, usize>,
    /// Names that turned out to be another name, or a constant.
    aliases: Map<Sym, Expr>,
}

/// A loop around the statement at hand.
#[derive(Default)]
struct Enclosing {
    /// True if values may move out of it.
    open: bool,
    /// The bindings in front of it.
    front: Vec<(Sym, Expr)>,
    /// The names of values in front of it.
    named: Map<Expr, Sym>,
}

impl Hoist<'_> {
    fn depth(&self) -> usize {
        self.loops.len()
    }
    /// Values of this level or below cannot move further out.
    fn floor(&self) -> usize {
        self.loops.iter().rposition(|l| !l.open).map_or(0, |closed| closed + 1)
    }
    /// In how many of the loops around `e` changes.
    fn level(&self, e: &Expr) -> usize {
        let mut table = Map::default();
        self.levels_of(e, &mut table)
    }
    fn levels_of(&self, e: &Expr, table: &mut Map<Expr, usize>) -> usize {
        visit::fold(e, table, &mut |n, of| {
            let mut level = match n.kind() {
                ExprKind::Sym(s) => self.levels.get(s).copied().unwrap_or(0),
                ExprKind::Load { .. } | ExprKind::Read { .. } => self.depth(),
                _ => self.floor(),
            };
            visit::for_each_child(n, |c| level = level.max(of(c)));
            level
        })
    }
    /// The name of `e`, a value of `level`, bound where it is no more than that.
    fn name(&mut self, e: Expr, level: usize) -> Expr {
        let ty = e.ty();
        let s = match self.loops[level].named.get(&e) {
            Some(s) => *s,
            None => {
                let s = fresh_temp(self.program);
                self.levels.insert(s, level);
                self.loops[level].named.insert(e.clone(), s);
                self.loops[level].front.push((s, e));
                s
            }
        };
        build::typed_sym(s, ty)
    }
}

fn statement(cx: &mut Hoist<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Let { bindings, body } => {
            let mut kept = Vec::new();
            for (s, e) in bindings {
                let value = expression(cx, &e);
                if matches!(value.kind(), ExprKind::Sym(_) | ExprKind::Int(_) | ExprKind::Const(_)) {
                    cx.aliases.insert(s, value);
                    continue;
                }
                let level = cx.level(&value);
                cx.levels.insert(s, level);
                if level < cx.depth() {
                    cx.loops[level].front.push((s, value));
                } else {
                    kept.push((s, value));
                }
            }
            build::let_in(kept, statement(cx, *body))
        }
        Stmt::For(l) => {
            let For { id, kind, min, extent, condition, body } = *l;
            let (min, extent) = (expression(cx, &min), expression(cx, &extent));
            cx.loops.push(Enclosing { open: !kind.is_threads(), ..Enclosing::default() });
            cx.levels.insert(Sym::Loop(id), cx.depth());
            // It is asked in each iteration, as what is in the body.
            let condition = condition.map(|e| expression(cx, &e));
            let body = statement(cx, body);
            let Enclosing { front, .. } = cx.loops.pop().expect("this loop");
            build::let_in(front, around_condition(cx, For { id, kind, min, extent, condition, body }))
        }
        other => walk::map_stmt(other, cx, expression, statement),
    }
}

/// A loop whose body is a condition that does not depend on it becomes the condition around loops.
fn around_condition(cx: &mut Hoist<'_>, l: For) -> Stmt {
    let For { id, kind, min, extent, condition, body } = l;
    match body {
        // Loops over blocks, and over threads, stay directly in each other.
        Stmt::If { cond, then, otherwise } if cx.level(&cond) <= cx.depth() && !loads(&cond) && !kind.is_gpu() => {
            let other = if build::is_nothing(&otherwise) {
                *otherwise
            } else {
                let (min, extent, condition) = (min.clone(), extent.clone(), condition.clone());
                let copy = For { id, kind, min, extent, condition, body: *otherwise };
                fresh_copy(&Stmt::For(Box::new(copy)), &[], cx.program)
            };
            build::if_else(cond, build::loop_of(For { id, kind, min, extent, condition, body: *then }), other)
        }
        body => build::loop_of(For { id, kind, min, extent, condition, body }),
    }
}

fn loads(e: &Expr) -> bool {
    visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { .. }))
}

/// `e` with names for its parts that change less often than it is evaluated.
fn expression(cx: &mut Hoist<'_>, e: &Expr) -> Expr {
    let e = match cx.aliases.is_empty() {
        true => e.clone(),
        false => visit::substitute(e, &|s| cx.aliases.get(&s).cloned()),
    };
    if cx.depth() == cx.floor() || visit::is_leaf(&e) {
        return e;
    }
    let mut levels = Map::default();
    let e = regroup(cx, &e, &mut levels);
    cx.levels_of(&e, &mut levels);
    let depth = cx.depth();
    let mut place = |e: Expr, own: usize, user: usize| {
        if own < user && worth_naming(&e) { cx.name(e, own) } else { e }
    };
    // What is not worth a name of its own does not get one from its user either, so its parts are on their own.
    let level_of_user = |n: &Expr| if worth_naming(n) { levels[n] } else { depth };
    let made =
        Memo::new().rewrite(&e, |n, done| visit::map_children(n, |c| place(done(c), levels[c], level_of_user(n))));
    let own = levels[&e];
    if own < depth && worth_naming(&made) { cx.name(made, own) } else { made }
}

/// `e` with its Index sums ordered by level. Notes the levels that it looks at.
fn regroup(cx: &Hoist<'_>, e: &Expr, levels: &mut Map<Expr, usize>) -> Expr {
    if !visit::any_node(e, is_sum) {
        return e.clone();
    }
    let mut memo = Memo::new();
    let mut sorted = |e: Expr| if is_sum(&e) { by_level(cx, &e, levels).unwrap_or(e) } else { e };
    // A sum in a sum is sorted with it.
    let made = memo.rewrite(e, |n, done| visit::map_children(n, |c| if is_sum(n) { done(c) } else { sorted(done(c)) }));
    sorted(made)
}

fn is_sum(e: &Expr) -> bool {
    e.lanes() == 1
        && e.ty().is_index()
        && match e.kind() {
            ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) | ExprKind::Unary(UnOp::Neg, _) => true,
            ExprKind::Binary(BinOp::Mul, _, b) => build::as_int(b).is_none(),
            _ => false,
        }
}

fn by_level(cx: &Hoist<'_>, e: &Expr, levels: &mut Map<Expr, usize>) -> Option<Expr> {
    let sum = Sum::of(e)?;
    let mut level = |t: &Term| t.factors.iter().map(|f| cx.levels_of(f, levels)).max().unwrap_or(0);
    let mut terms: Vec<(usize, &Term)> = sum.terms().map(|t| (level(t), t)).collect();
    terms.sort_by_key(|(level, _)| *level);
    let groups = terms.chunk_by(|a, b| a.0 == b.0).map(|group| sum_of(group.iter().map(|(_, t)| *t)));
    let total = groups.reduce(build::add).unwrap_or(build::int(0));
    Some(build::offset(total, sum.constant))
}

/// Returns true if a value is worth a name in front of a loop. Values that addresses or operands take in without cost
/// are not.
fn worth_naming(e: &Expr) -> bool {
    match e.kind() {
        ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Sym(_) | ExprKind::Param(_) | ExprKind::Load { .. } => false,
        ExprKind::Ramp { .. } | ExprKind::Broadcast(_) | ExprKind::Likely(_) | ExprKind::Read { .. } => false,
        ExprKind::Binary(BinOp::Add | BinOp::Sub, _, b) if e.ty().is_index() => build::as_int(b).is_none(),
        _ => true,
    }
}

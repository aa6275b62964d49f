//! Shrinks loops to the iterations that do something.
//!
//! Before: `Stage::Shaped`. After: the same; a serial or parallel loop all of whose effects are guarded by conditions on
//! its variable runs only from the first to the last value for which one of them may hold.
//!
//! The guards stay: where the new range implies them, simplification removes them.
//!
//! Example:
//! ```text
//! for x#L0 from 0 extent 100 {
//!   if 2 * x#L0 < out#b2.extent0 {
//!     out#b2[x#L0] = 1u8
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for x#L0 from 0 extent min((out#b2.extent0 + 1) / 2, 100) {
//!   if 2 * x#L0 < out#b2.extent0 {
//!     out#b2[x#L0] = 1u8
//!   }
//! }
//! ```

use super::trace::LoweringTrace;
use super::walk;
use crate::bounds::{Interval, solve_outer};
use crate::ir::hash::Map;
use crate::ir::visit;
use crate::ir::{Expr, ExprKind, For, ForKind, Program, Stmt, Sym, build};
use crate::lower::lanes;
use crate::simplify::{Facts, simplify};
use halide_core::ops::BinOp;

/// More guards than this side by side are not looked at.
const MOST_GUARDS: usize = 16;

/// Shrinks loops whose bodies are guarded. `facts` holds what is known of arguments.
pub fn trim_no_ops(program: Program, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    walk::map_body(program, |body, program| statement(&mut Trim { program, facts: facts.clone(), trace }, body))
}

struct Trim<'p> {
    program: &'p Program,
    facts: Facts,
    trace: &'p mut LoweringTrace,
}

fn statement(cx: &mut Trim<'_>, s: Stmt) -> Stmt {
    let s = match s {
        Stmt::For(l) => trimmed(cx, *l),
        other => other,
    };
    walk::map_stmt_under(s, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement)
}

fn trimmed(cx: &mut Trim<'_>, l: For) -> Stmt {
    // An iteration over lanes is the lane that runs it.
    if l.kind == ForKind::GpuLanes {
        return Stmt::For(Box::new(l));
    }
    let Some(found) = needed(cx, &l).filter(|i| *i != Interval::everything()) else {
        return Stmt::For(Box::new(l));
    };
    let For { id, kind, min, extent, body } = l;
    let end = build::add(min.clone(), extent);
    let first = found.min.map_or(min.clone(), |first| build::max(first, min));
    let last = found.max.map_or(end.clone(), |last| build::min(build::offset(last, 1), end));
    let extent = simplify(&build::sub(last, first.clone()), &cx.facts);
    cx.trace.did(cx.program.loops[id].clone(), "shrunk to the iterations that store something");
    build::for_loop(id, kind, simplify(&first, &cx.facts), extent, body)
}

/// An interval of the variable of `l` outside of which the body does nothing.
fn needed(cx: &mut Trim<'_>, l: &For) -> Option<Interval> {
    let mut guards = Guards { conditions: Vec::new(), definitions: Map::default(), inner: vec![] };
    guards.collect(&l.body, None)?;
    let any = guards.conditions.into_iter().reduce(build::or)?;
    cx.facts.push_scope();
    cx.facts.bind_loop(l.id, &l.min, &l.extent);
    let found = solve_outer(&any, Sym::Loop(l.id), &cx.facts);
    cx.facts.pop_scope();
    found
}

/// Under which conditions a body has effects.
struct Guards {
    /// One of these holds wherever there is an effect; scalar.
    conditions: Vec<Expr>,
    /// What names inside the body mean outside.
    definitions: Map<Sym, Expr>,
    /// Variables of loops inside.
    inner: Vec<Sym>,
}

impl Guards {
    /// Adds the conditions of the effects in `s`, which runs where `guard` holds; `None` if an effect is not guarded.
    fn collect(&mut self, s: &Stmt, guard: Option<&Expr>) -> Option<()> {
        match s {
            Stmt::Block(list) => list.iter().try_for_each(|s| self.collect(s, guard)),
            Stmt::Let { bindings, body } => {
                for (s, e) in bindings {
                    if e.lanes() == 1 {
                        let value = self.expanded(e);
                        self.definitions.insert(*s, value);
                    }
                }
                self.collect(body, guard)
            }
            Stmt::Produce { body, .. }
            | Stmt::Atomic { body, .. }
            | Stmt::Alloc { body, .. }
            | Stmt::Realize { body, .. } => self.collect(body, guard),
            Stmt::For(l) => {
                self.inner.push(Sym::Loop(l.id));
                self.collect(&l.body, guard)
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.expanded(cond);
                let opposite = build::not(cond.clone());
                self.collect(then, Some(&both(guard, cond)))?;
                self.collect(otherwise, Some(&both(guard, opposite)))
            }
            Stmt::Store { mask: Some(mask), .. } => {
                let any = lanes::reduce_if_vector(BinOp::BitOr, &self.expanded(mask));
                self.add(both(guard, any))
            }
            Stmt::Free { .. } | Stmt::Reside { .. } => Some(()),
            Stmt::Assert { .. }
            | Stmt::Print { .. }
            | Stmt::Provide { .. }
            | Stmt::Store { mask: None, .. }
            | Stmt::Count { .. }
            | Stmt::Launch { .. }
            | Stmt::Dispatch { .. }
            | Stmt::Barrier => self.add(guard?.clone()),
        }
    }

    fn add(&mut self, cond: Expr) -> Option<()> {
        let local = |n: &Expr| matches!(n.kind(), ExprKind::Sym(s) if self.inner.contains(s));
        let cond = without(&cond, &local)?;
        if !self.conditions.contains(&cond) {
            self.conditions.push(cond);
        }
        (self.conditions.len() <= MOST_GUARDS).then_some(())
    }

    fn expanded(&self, e: &Expr) -> Expr {
        visit::substitute(e, &|s| self.definitions.get(&s).cloned())
    }
}

fn both(guard: Option<&Expr>, cond: Expr) -> Expr {
    guard.map_or(cond.clone(), |g| build::and(g.clone(), cond))
}

/// A condition that follows from `cond` and has no node for which `test` holds; `None` if there is none to be told.
fn without(cond: &Expr, test: &impl Fn(&Expr) -> bool) -> Option<Expr> {
    if !visit::any_node(cond, test) {
        return Some(cond.clone());
    }
    match cond.kind() {
        ExprKind::Likely(a) => without(a, test),
        ExprKind::Binary(BinOp::BitAnd, a, b) => match (without(a, test), without(b, test)) {
            (Some(a), Some(b)) => Some(build::and(a, b)),
            (a, b) => a.or(b),
        },
        ExprKind::Binary(BinOp::BitOr, a, b) => Some(build::or(without(a, test)?, without(b, test)?)),
        _ => None,
    }
}

//! Reduction privatization: lanes that reduce into one element have partial results of their own while a loop runs.
//!
//! Before: `Stage::Flat`. After: the same; integers are the same, floats round in another order, as their schedule says
//! they may.
//!
//! A vectorized loop whose iterations all change one element must join its lanes before it stores, and in a loop around
//! it would do so again and again, each time behind the sum before. Here the lanes go on beside each other in a vector
//! of partial results, which are joined once, behind the outermost loop in which the element is the same. Several
//! vectorized loops in the body, which unrolling makes, get a vector each, so that no sum waits for another one. Sums
//! of products of small integers stay as they are: `join_sums` and dot products take these.
//!
//! Example:
//! ```text
//! for y#L1 from 0 extent image#b3.extent0 {
//!   vectorized x#L0 from 0 extent 4 {
//!     result#b5[0] = result#b5[0] + image#b3[y#L1 * 4 + x#L0]
//!   }
//! }
//! ```
//! becomes
//! ```text
//! if 0 < image#b3.extent0 {
//!   alloc result$r6#b6[4] at_most 4 {
//!     vectorized x#L4 from 0 extent 4 {
//!       result$r6#b6[x#L4] = 0u16
//!     }
//!     for y#L1 from 0 extent image#b3.extent0 {
//!       vectorized x#L0 from 0 extent 4 {
//!         result$r6#b6[x#L0] = result$r6#b6[x#L0] + image#b3[y#L1 * 4 + x#L0]
//!       }
//!     }
//!     vectorized x#L5 from 0 extent 4 {
//!       result#b5[0] = result#b5[0] + result$r6#b6[x#L5]
//!     }
//!   }
//! }
//! ```

use super::join_sums::is_small_product;
use super::vectorize::step::{Step, step};
use crate::lower::code::register::new_register;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::MOST_VECTOR_LANES;
use halide_core::ops::BinOp;
use halide_core::value;
use halide_ir::hash::Set;
use halide_ir::visit::{self, Memo, any_node};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, LoopId, Program, Stmt, Sym, build};

/// Gives lanes that reduce into one element partial results of their own.
pub fn privatize(program: Program, trace: &mut LoweringTrace) -> Program {
    walk::map_body(program, |body, program| statement(&mut Privatize { program, trace }, body))
}

struct Privatize<'p> {
    program: &'p mut Program,
    trace: &'p mut LoweringTrace,
}

fn statement(cx: &mut Privatize<'_>, s: Stmt) -> Stmt {
    match s {
        // Kernels and vectors have rules of their own.
        Stmt::For(l) if l.kind.is_gpu() || l.kind == ForKind::Vectorized => Stmt::For(l),
        Stmt::For(l) if l.kind == ForKind::Serial && build::as_int(&l.extent) != Some(1) => {
            let mut survey = Survey::of(cx.program, &l);
            match survey.element() {
                Some(element) => privatized(cx, *l, element),
                None => walk::map_stmt(Stmt::For(l), cx, |_, e| e.clone(), statement),
            }
        }
        other => walk::map_stmt(other, cx, |_, e| e.clone(), statement),
    }
}

/// The lanes that change one element.
struct Lanes {
    id: LoopId,
    lanes: i64,
}

/// An element that vectorized loops change and nothing else touches.
struct Element {
    buf: BufId,
    index: Expr,
    op: BinOp,
    old_first: bool,
    /// Conditions of all its accesses.
    conditions: Vec<Expr>,
    loops: Vec<Lanes>,
}

/// Accesses of a loop to memory.
struct Survey<'p> {
    program: &'p Program,
    /// Symbols that are bound in the loop.
    bound: Set<Sym>,
    elements: Vec<Element>,
    /// Buffers with other accesses.
    elsewhere: Set<BufId>,
}

impl Survey<'_> {
    fn of<'p>(program: &'p Program, l: &For) -> Survey<'p> {
        let mut survey = Survey { program, bound: Set::default(), elements: Vec::new(), elsewhere: Set::default() };
        survey.bound.insert(Sym::Loop(l.id));
        survey.stmt(&l.body, &[]);
        survey
    }

    /// The first element that can be privatized.
    fn element(&mut self) -> Option<Element> {
        let alone = |e: &Element, all: &[Element]| all.iter().filter(|other| other.buf == e.buf).count() == 1;
        let at = (0..self.elements.len()).find(|&i| {
            let e = &self.elements[i];
            !self.elsewhere.contains(&e.buf) && alone(e, &self.elements) && self.is_outside(&e.index)
        })?;
        let mut element = self.elements.swap_remove(at);
        element.conditions.retain(|c| self.is_outside(c));
        Some(element)
    }

    /// Returns true if `e` is the same in all iterations.
    fn is_outside(&self, e: &Expr) -> bool {
        !any_node(e, |n| match n.kind() {
            ExprKind::Sym(s) => self.bound.contains(s),
            ExprKind::Load { .. } => true,
            _ => false,
        })
    }

    fn stmt(&mut self, s: &Stmt, conditions: &[Expr]) {
        visit::deep(|| match s {
            Stmt::Let { bindings, body } => {
                bindings.iter().for_each(|(s, e)| {
                    self.expr(e);
                    self.bound.insert(*s);
                });
                self.stmt(body, conditions);
            }
            Stmt::If { cond, then, otherwise } => {
                self.expr(cond);
                let mut inside = conditions.to_vec();
                conjunction(cond, &mut inside);
                self.stmt(then, &inside);
                self.stmt(otherwise, conditions);
            }
            Stmt::For(l) => {
                self.bound.insert(Sym::Loop(l.id));
                if l.kind == ForKind::Vectorized && self.lanes(l, conditions).is_some() {
                    return;
                }
                self.expr(&l.min);
                self.expr(&l.extent);
                self.stmt(&l.body, conditions);
            }
            other => {
                if let Stmt::Store { buf, .. } | Stmt::Alloc { buf, .. } = other {
                    self.elsewhere.insert(*buf);
                }
                if let Stmt::Call { args, .. } = other {
                    self.elsewhere.extend(args.iter().map(|arg| arg.buf));
                }
                visit::for_each_expr(other, |e| self.expr(e));
                visit::for_each_stmt(other, |inner| self.stmt(inner, conditions));
            }
        })
    }

    fn expr(&mut self, e: &Expr) {
        visit::for_each_node(e, &mut |n| {
            if let ExprKind::Load { buf, .. } = n.kind() {
                self.elsewhere.insert(*buf);
            }
        });
    }

    /// Notes the element that all lanes of a loop change; `None` if it is no such loop.
    fn lanes(&mut self, l: &For, conditions: &[Expr]) -> Option<()> {
        let lanes = build::as_int(&l.extent).filter(|n| (2..=MOST_VECTOR_LANES).contains(n))?;
        let mut conditions = conditions.to_vec();
        let mut body = &l.body;
        let mut exprs = vec![&l.min];
        let mut bound = vec![Sym::Loop(l.id)];
        let (buf, index, stored) = loop {
            match body {
                Stmt::Let { bindings, body: inner } => {
                    exprs.extend(bindings.iter().map(|(_, e)| e));
                    bound.extend(bindings.iter().map(|(s, _)| *s));
                    body = inner;
                }
                Stmt::If { cond, then, otherwise } if build::is_nothing(otherwise) => {
                    exprs.push(cond);
                    conjunction(cond, &mut conditions);
                    body = then;
                }
                Stmt::Store { buf, index, value, mask: None } => break (*buf, index, value),
                _ => return None,
            }
        };
        let is_old =
            |e: &Expr| matches!(e.kind(), ExprKind::Load { buf: b, index: i, mask: None } if *b == buf && i == index);
        let Step { op, new, old_first, .. } = step(stored, &is_old)?;
        let ty = stored.ty().scalar()?;
        let is_relaxed = self.program.loops.get(l.id).is_some_and(|info| info.is_relaxed);
        if (ty.is_float() && !is_relaxed) || is_small_product(&new) {
            return None;
        }
        self.bound.extend(bound);
        exprs.into_iter().chain([index, &new]).for_each(|e| self.expr(e));
        let same = |e: &&mut Element| e.buf == buf && e.index == *index && e.op == op && e.old_first == old_first;
        let known = self.elements.iter_mut().find(same);
        let loops = Lanes { id: l.id, lanes };
        match known {
            Some(element) => {
                element.conditions.retain(|c| conditions.contains(c));
                element.loops.push(loops);
            }
            None => {
                let index = index.clone();
                self.elements.push(Element { buf, index, op, old_first, conditions, loops: vec![loops] });
            }
        }
        Some(())
    }
}

/// Adds the conditions that `cond` is a conjunction of.
fn conjunction(cond: &Expr, all: &mut Vec<Expr>) {
    match cond.kind() {
        ExprKind::Binary(BinOp::BitAnd, a, b) => {
            conjunction(a, all);
            conjunction(b, all);
        }
        _ => all.push(cond.clone()),
    }
}

/// The loop with partial results for each lane.
fn privatized(cx: &mut Privatize<'_>, l: For, element: Element) -> Stmt {
    let Element { buf, index, op, old_first, .. } = &element;
    let ty = cx.program.buffers[*buf].elem;
    let some = build::lt(build::int(0), l.extent.clone());
    let guard = element.conditions.iter().cloned().fold(some, |all, c| build::and(c, all));
    let join =
        |old: Expr, new: Expr| if *old_first { build::binary(*op, old, new) } else { build::binary(*op, new, old) };
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut partial: Vec<(LoopId, BufId, i64)> = Vec::new();
    let idle = build::constant(value::identity(*op, ty).expect("a step folds values"));
    for Lanes { id, lanes } in &element.loops {
        let own = new_register(cx.program, *buf);
        let name = cx.program.loops[*id].with_case();
        cx.trace.did(name, format!("{lanes} partial results beside each other"));
        let over = |cx: &mut Privatize<'_>, f: &dyn Fn(Expr) -> Stmt| {
            let copy = cx.program.copy_loop(*id);
            build::for_loop(copy, ForKind::Vectorized, build::int(0), build::int(*lanes), f(build::loop_var(copy)))
        };
        first.push(over(cx, &|lane| Stmt::Store { buf: own, index: lane, value: idle.clone(), mask: None }));
        // Partial results of as many lanes are joined lane by lane.
        let like = partial.iter().find(|(_, _, n)| n == lanes).map(|(_, like, _)| *like);
        last.push(over(cx, &|lane| {
            let new = build::load(own, ty, lane.clone(), None);
            let (buf, index) = like.map_or((*buf, index.clone()), |like| (like, lane));
            let old = build::load(buf, ty, index.clone(), None);
            Stmt::Store { buf, index, value: join(old, new), mask: None }
        }));
        partial.push((*id, own, *lanes));
    }
    // Those that others are joined into come last.
    last.reverse();
    let body = replaced(l.body, *buf, &partial);
    // Other elements may be privatized, too.
    let whole = statement(cx, build::for_loop(l.id, l.kind, l.min, l.extent, body));
    let code = build::block(first.into_iter().chain([whole]).chain(last).collect::<Vec<_>>());
    let code = partial.iter().rev().fold(code, |body, (_, own, lanes)| Stmt::Alloc {
        buf: *own,
        count: build::int(*lanes),
        constant: Some(*lanes as u64),
        body: Box::new(body),
    });
    build::if_else(guard, code, build::nothing())
}

/// A body whose vectorized loops change partial results in place of the element.
fn replaced(s: Stmt, element: BufId, partial: &[(LoopId, BufId, i64)]) -> Stmt {
    match s {
        Stmt::For(l) => match partial.iter().find(|(id, ..)| *id == l.id) {
            Some((_, own, _)) => {
                let lane = build::sub(build::loop_var(l.id), l.min.clone());
                let body = in_place_of(l.body, element, *own, &lane);
                Stmt::For(Box::new(For { body, ..*l }))
            }
            None => visit::map_stmt(Stmt::For(l), Expr::clone, |inner| replaced(inner, element, partial)),
        },
        other => visit::map_stmt(other, Expr::clone, |inner| replaced(inner, element, partial)),
    }
}

/// The body of a vectorized loop with element `lane` of `own` in place of the element.
fn in_place_of(s: Stmt, element: BufId, own: BufId, lane: &Expr) -> Stmt {
    match s {
        Stmt::Store { buf, index, value, mask } if buf == element => {
            let ty = value.ty().scalar().expect("stores are of data");
            let is_old =
                |n: &Expr| matches!(n.kind(), ExprKind::Load { buf: of, index: at, .. } if *of == buf && *at == index);
            let value = Memo::new().rewrite(&value, |n, done| match is_old(n) {
                true => build::load(own, ty, lane.clone(), None),
                false => visit::map_children(n, done),
            });
            Stmt::Store { buf: own, index: lane.clone(), value, mask }
        }
        other => visit::map_stmt(other, Expr::clone, |inner| in_place_of(inner, element, own, lane)),
    }
}

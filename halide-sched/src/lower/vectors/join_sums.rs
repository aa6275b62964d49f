//! Reduction trees and dot products: joins what unrolled steps of a reduction add to the same elements.
//!
//! Before: `Stage::Shaped`. After: the same; every element is the same after each stretch of steps.
//!
//! Unrolled steps add products of small integers to an element one after the other. Machines add several such products
//! at once (dot products), so steps that follow each other become one, which adds the sum of theirs. Integers wrap
//! around, so that is the same number. What a stretch of steps adds reads nothing that it changes.
//!
//! Example:
//! ```text
//! result#b5[ramp(0, 1, 8)] = result#b5[ramp(0, 1, 8)] + u16x8(in#b0[ramp(0, 1, 8)]) * u16x8(in#b0[ramp(40, 1, 8)])
//! result#b5[ramp(8, 1, 8)] = result#b5[ramp(8, 1, 8)] + u16x8(in#b0[ramp(0, 1, 8)]) * u16x8(in#b0[ramp(50, 1, 8)])
//! result#b5[ramp(0, 1, 8)] = result#b5[ramp(0, 1, 8)] + u16x8(in#b0[ramp(8, 1, 8)]) * u16x8(in#b0[ramp(48, 1, 8)])
//! ```
//! becomes
//! ```text
//! result#b5[ramp(0, 1, 8)] = result#b5[ramp(0, 1, 8)] + (u16x8(in#b0[ramp(0, 1, 8)]) * u16x8(in#b0[ramp(40, 1, 8)]) + u16x8(in#b0[ramp(8, 1, 8)]) * u16x8(in#b0[ramp(48, 1, 8)]))
//! result#b5[ramp(8, 1, 8)] = result#b5[ramp(8, 1, 8)] + u16x8(in#b0[ramp(0, 1, 8)]) * u16x8(in#b0[ramp(50, 1, 8)])
//! ```

use crate::lower::walk;
use crate::tuning::MOST_JOINED;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, any_node};
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, build};

/// Joins steps that add products of small integers to the same elements.
pub fn join_sums(program: Program) -> Program {
    walk::map_body(program, |body, _| statement(body))
}

fn statement(s: Stmt) -> Stmt {
    match visit::map_stmt(s, |e| e.clone(), statement) {
        Stmt::Block(list) => build::block(joined(list)),
        other => other,
    }
}

/// A statement `buf[index] = buf[index] + (... + products)`.
struct Step {
    buf: BufId,
    index: Expr,
    /// The old element.
    old: Expr,
    added: Vec<Expr>,
}

/// Statements, in order, with those of the open stretch of steps last.
#[derive(Default)]
struct Stretch {
    done: Vec<Stmt>,
    steps: Vec<Step>,
    /// The last step of each element.
    last: Map<(BufId, Expr), usize>,
    changes: Set<BufId>,
    reads: Set<BufId>,
}

fn joined(list: Vec<Stmt>) -> Vec<Stmt> {
    let mut all = Stretch::default();
    for s in list {
        match step(&s) {
            Some(step) => all.add(step),
            None => {
                all.end();
                all.done.push(s);
            }
        }
    }
    all.end();
    all.done
}

impl Stretch {
    fn add(&mut self, step: Step) {
        let mut reads = Set::default();
        for e in step.added.iter().chain([&step.index]) {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    reads.insert(*buf);
                }
            });
        }
        let meets = reads.iter().any(|r| *r == step.buf || self.changes.contains(r));
        if meets || self.reads.contains(&step.buf) {
            self.end();
        }
        self.reads.extend(reads);
        self.changes.insert(step.buf);
        let element = (step.buf, step.index.clone());
        match self.last.get(&element).map(|&i| &mut self.steps[i]) {
            Some(earlier) if earlier.added.len() < MOST_JOINED => earlier.added.extend(step.added),
            // Those before a full one are full, too.
            _ => {
                self.last.insert(element, self.steps.len());
                self.steps.push(step);
            }
        }
    }
    fn end(&mut self) {
        self.reads.clear();
        self.changes.clear();
        self.last.clear();
        for Step { buf, index, old, added } in self.steps.drain(..) {
            if let Some(sum) = added.into_iter().reduce(build::add) {
                self.done.push(Stmt::Store { buf, index, value: build::add(old, sum), mask: None });
            }
        }
    }
}

/// The statement as a step that only adds products.
fn step(s: &Stmt) -> Option<Step> {
    let Stmt::Store { buf, index, value, mask: None } = s else { return None };
    let ExprKind::Binary(BinOp::Add, a, b) = value.kind() else { return None };
    let elements = matches!(index.kind(), ExprKind::Ramp { .. }) && value.ty().scalar().is_some_and(|t| t.is_int());
    let is_old = |e: &Expr| match e.kind() {
        ExprKind::Load { buf: from, index: at, mask: None } => from == buf && at == index,
        _ => false,
    };
    let (old, new) = if is_old(a) { (a, b) } else { (b, a) };
    let reads_it = any_node(new, |n| matches!(n.kind(), ExprKind::Load { buf: from, .. } if from == buf));
    let fits = elements && is_old(old) && is_small_product(new) && !reads_it;
    fits.then(|| Step { buf: *buf, index: index.clone(), old: old.clone(), added: vec![new.clone()] })
}

/// Returns true if an expression is a product of two integers that are constants or were made wider.
pub(crate) fn is_small_product(e: &Expr) -> bool {
    let ExprKind::Binary(BinOp::Mul, a, b) = e.kind() else { return false };
    let bits = |e: &Expr| e.ty().scalar().filter(|t| t.is_int()).map(|t| t.bits());
    let widened = |e: &Expr| {
        let whole = match e.kind() {
            ExprKind::Broadcast(one) => one,
            _ => e,
        };
        match whole.kind() {
            ExprKind::Cast(inner) => bits(inner).is_some_and(|n| bits(whole).is_some_and(|wide| 2 * n <= wide)),
            ExprKind::Const(_) => true,
            _ => false,
        }
    };
    widened(a) && widened(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::types::ScalarType::{U8, U32};
    use halide_ir::LoopId;

    /// A block such as unrolling makes of a large tile: a search through all steps before each would not end.
    #[test]
    fn long_blocks_are_joined_in_one_pass() {
        const LANES: u16 = 8;
        const ELEMENTS: i64 = 60_000;
        let (to, from) = (BufId(0), BufId(1));
        let x = build::loop_var(LoopId(0));
        let lanes = |at: i64| build::ramp(build::offset(x.clone(), at), build::int(1), LANES);
        let small = |at: i64| build::cast_data(U32, build::load(from, U8, lanes(at), None));
        let step = |element: i64, round: i64| {
            let index = lanes(element * LANES as i64);
            let product = build::mul(small(element), small(round));
            let value = build::add(build::load(to, U32, index.clone(), None), product);
            Stmt::Store { buf: to, index, value, mask: None }
        };
        let steps = (0..2).flat_map(|round| (0..ELEMENTS).map(move |element| (element, round)));
        let made = joined(steps.map(|(element, round)| step(element, round)).collect());
        assert_eq!(made.len(), ELEMENTS as usize);
        let Stmt::Store { value, .. } = &made[7] else { panic!("{:?}", made[7]) };
        let both = build::add(build::mul(small(7), small(0)), build::mul(small(7), small(1)));
        assert_eq!(*value, build::add(build::load(to, U32, lanes(56), None), both));
    }
}

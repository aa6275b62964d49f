//! For which values of a symbol a condition holds.
//!
//! The inner interval holds only values that satisfy the condition: a loop over it needs no check. The outer interval
//! holds all values that do: a loop need not leave it. Sums are solved exactly where the symbol stands in one term,
//! also inside of multiples, quotients, minima and maxima; otherwise quotients and remainders are relaxed to the safe
//! side.

use super::exact;
use super::interval::Interval;
use crate::simplify::{Facts, Form, Linear, prove, simplify};
use crate::tuning::SOLVE_FUEL;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::build::{self, as_int, int};
use halide_ir::visit::uses;
use halide_ir::{Expr, ExprKind, Sym};

/// An interval of `var` in which `cond` always holds, as large as can be told; `None` where there is none to be told.
pub fn solve_for(cond: &Expr, var: Sym, facts: &Facts) -> Option<Interval> {
    Search { var, facts, inner: true, fuel: SOLVE_FUEL }.condition(&simplify(cond, facts), true)
}

/// An interval of `var` outside of which `cond` never holds, as small as can be told; `None` where it may hold
/// anywhere. An interval whose min is above its max: it holds nowhere.
pub fn solve_outer(cond: &Expr, var: Sym, facts: &Facts) -> Option<Interval> {
    let found = Search { var, facts, inner: false, fuel: SOLVE_FUEL }.condition(&simplify(cond, facts), true)?;
    (found != Interval::everything()).then_some(found)
}

/// Returns true if `e` is one integer, no bool, of at most 32 bits.
fn is_scalar_int(e: &Expr) -> bool {
    e.lanes() == 1 && e.ty().scalar().is_some_and(|t| t.is_int() && t.bits() <= 32)
}

struct Search<'a> {
    var: Sym,
    facts: &'a Facts,
    /// True if every value inside must satisfy the condition; false if every value that satisfies it must be inside.
    inner: bool,
    fuel: u32,
}

impl Search<'_> {
    /// Returns the interval in which `cond` is `goal`. `None`: for the inner interval, no value is known to satisfy
    /// this; for the outer one, every value may.
    fn condition(&mut self, cond: &Expr, goal: bool) -> Option<Interval> {
        match cond.kind() {
            _ if build::as_bool(cond).is_some() => self.constant(build::as_bool(cond) == Some(goal)),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.condition(a, goal),
            ExprKind::Unary(UnOp::Not, a) => self.condition(a, !goal),
            ExprKind::Binary(op @ (BinOp::BitAnd | BinOp::BitOr), a, b) if cond.ty().is_bool() => {
                let both = (*op == BinOp::BitAnd) == goal;
                let x = self.condition(a, goal);
                // Then the other says nothing more.
                if x.is_none() && both == self.inner {
                    return None;
                }
                let y = self.condition(b, goal);
                if both { self.all(x, y) } else { self.any(x, y) }
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() && a.ty().is_index() => {
                let difference = Form::of(a).minus(&Form::of(b))?;
                self.comparison(*op, &difference, goal)
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() && is_scalar_int(a) && uses(cond, self.var) => {
                // Integers compare as what they are, so as coordinates do.
                let difference = exact(a, self.facts).minus(&exact(b, self.facts))?;
                self.comparison_of_sum(*op, &difference, goal)
            }
            _ => self.unrelated(cond, goal),
        }
    }
    /// A condition that is not understood, or does not depend on the symbol.
    fn unrelated(&mut self, cond: &Expr, goal: bool) -> Option<Interval> {
        if uses(cond, self.var) || cond.lanes() > 1 {
            return None;
        }
        let wanted = if goal { cond.clone() } else { build::not(cond.clone()) };
        match () {
            _ if prove(&wanted, self.facts) => self.constant(true),
            _ if prove(&build::not(wanted), self.facts) => self.constant(false),
            _ => None,
        }
    }
    fn constant(&self, holds: bool) -> Option<Interval> {
        match (holds, self.inner) {
            (true, _) => Some(Interval::everything()),
            (false, true) => None,
            (false, false) => Some(Interval::new(int(0), int(-1))),
        }
    }
    /// Returns the interval in which both conditions hold.
    fn all(&self, a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.intersect(&b, self.facts)),
            (a, b) => {
                if self.inner {
                    None
                } else {
                    a.or(b)
                }
            }
        }
    }
    /// Returns the interval in which at least one of the conditions holds.
    fn any(&self, a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return if self.inner { a.or(b) } else { None },
        };
        if !self.inner || self.touch(&a, &b) && self.touch(&b, &a) { Some(a.union(&b, self.facts)) } else { Some(a) }
    }
    /// Returns true if `a` begins no later than just after `b` ends.
    fn touch(&self, a: &Interval, b: &Interval) -> bool {
        match (&a.min, &b.max) {
            (Some(min), Some(max)) => prove(&build::le(min.clone(), build::offset(max.clone(), 1)), self.facts),
            _ => true,
        }
    }

    /// Returns the interval in which `difference op 0` is `goal`: in all lanes for the inner interval, in any for the
    /// outer.
    fn comparison(&mut self, op: BinOp, difference: &Form, goal: bool) -> Option<Interval> {
        let first = self.comparison_of_sum(op, &difference.base, goal);
        if !difference.vector.is_empty() {
            return None;
        }
        if difference.lanes == 1 || difference.stride == Linear::default() {
            return first;
        }
        let order = !matches!(op, BinOp::Eq | BinOp::Ne);
        let last = difference.base.plus_scaled(&difference.stride, difference.lanes as i64 - 1)?;
        let last = self.comparison_of_sum(op, &last, goal);
        match (order, self.inner) {
            // An order that holds at both ends of a ramp holds between; one that holds between holds at an end.
            (true, true) => self.all(first, last),
            (true, false) => self.any(first, last),
            _ => None,
        }
    }
    fn comparison_of_sum(&mut self, op: BinOp, sum: &Linear, goal: bool) -> Option<Interval> {
        let negated = sum.scale(-1)?;
        match (op, goal) {
            (BinOp::Lt, true) | (BinOp::Ge, false) => self.at_most_zero(&sum.offset(1)?),
            (BinOp::Le, true) | (BinOp::Gt, false) => self.at_most_zero(sum),
            (BinOp::Gt, true) | (BinOp::Le, false) => self.at_most_zero(&negated.offset(1)?),
            (BinOp::Ge, true) | (BinOp::Lt, false) => self.at_most_zero(&negated),
            (BinOp::Eq, true) | (BinOp::Ne, false) => {
                let (above, below) = (self.at_most_zero(sum), self.at_most_zero(&negated));
                self.all(above, below)
            }
            _ => {
                let (below, above) = (self.at_most_zero(&sum.offset(1)?), self.at_most_zero(&negated.offset(1)?));
                // A side on which the sum never is says nothing.
                let zero = |s: &Linear| prove(&build::le(s.to_expr(), int(0)), self.facts);
                match () {
                    _ if zero(sum) => below,
                    _ if zero(&negated) => above,
                    _ => self.any(below, above),
                }
            }
        }
    }

    /// Returns the interval in which `sum <= 0`.
    fn at_most_zero(&mut self, sum: &Linear) -> Option<Interval> {
        if self.fuel == 0 {
            return None;
        }
        self.fuel -= 1;
        let related: Vec<&(Expr, i64)> = sum.terms.iter().filter(|(atom, _)| uses(atom, self.var)).collect();
        match &related[..] {
            [] => self.unrelated(&simplify(&build::le(sum.to_expr(), int(0)), self.facts), true),
            [(atom, c)] => {
                let rest = sum.without(atom);
                match c.checked_abs()? {
                    1 if *c > 0 => self.atom(atom, true, &rest.scale(-1)?),
                    1 => self.atom(atom, false, &rest),
                    size if *c > 0 => self.atom(atom, true, &self.divided(&rest.scale(-1)?, size)),
                    size => self.atom(atom, false, &self.divided(&rest.offset(size - 1)?, size)),
                }
            }
            _ => self.several(sum, &related),
        }
    }
    fn divided(&self, sum: &Linear, by: i64) -> Linear {
        Linear::of(&simplify(&build::div(sum.to_expr(), int(by)), self.facts))
    }

    /// Returns the interval in which `atom <= bound` (`below`) or `atom >= bound`; the bound does not depend on the
    /// symbol.
    fn atom(&mut self, atom: &Expr, below: bool, bound: &Linear) -> Option<Interval> {
        let bounded = |search: &mut Self, e: &Expr, bound: &Linear| {
            let difference = Linear::of(e).minus(bound)?;
            search.at_most_zero(&if below { difference } else { difference.scale(-1)? })
        };
        match atom.kind() {
            ExprKind::Sym(s) if *s == self.var => {
                let end = Some(simplify(&bound.to_expr(), self.facts));
                Some(if below { Interval { min: None, max: end } } else { Interval { min: end, max: None } })
            }
            ExprKind::Likely(a) => bounded(self, a, bound),
            ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => {
                let (x, y) = (bounded(self, a, bound), bounded(self, b, bound));
                if (*op == BinOp::Max) == below { self.all(x, y) } else { self.any(x, y) }
            }
            ExprKind::Select(c, a, b) if !uses(c, self.var) || self.inner => {
                let (x, y) = (bounded(self, a, bound), bounded(self, b, bound));
                if self.inner { self.all(x, y) } else { self.any(x, y) }
            }
            ExprKind::Binary(BinOp::Div, n, d) => {
                let d = as_int(d).filter(|d| *d > 0)?;
                let limit = bound.scale(d)?.offset(if below { d - 1 } else { 0 })?;
                bounded(self, n, &limit)
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (factor, rest) = if uses(a, self.var) { (b, a) } else { (a, b) };
                let positive = !uses(factor, self.var) && self.facts.range(factor).0.is_some_and(|m| m >= 1);
                if !positive {
                    return None;
                }
                let round = if below { int(0) } else { build::offset(factor.clone(), -1) };
                let limit = build::div(build::add(bound.to_expr(), round), factor.clone());
                bounded(self, rest, &Linear::of(&simplify(&limit, self.facts)))
            }
            _ => {
                let (e, bound) = (atom.clone(), bound.to_expr());
                let holds = if below { build::le(e, bound) } else { build::ge(e, bound) };
                match () {
                    _ if prove(&holds, self.facts) => self.constant(true),
                    _ if prove(&build::not(holds), self.facts) => self.constant(false),
                    _ => None,
                }
            }
        }
    }

    /// Returns the interval in which `sum <= 0` if several terms of `sum` depend on the symbol: one of them is taken
    /// apart.
    fn several(&mut self, sum: &Linear, related: &[&(Expr, i64)]) -> Option<Interval> {
        for (atom, c) in related {
            let rest = sum.without(atom);
            let with = |e: &Expr| rest.plus_scaled(&Linear::of(e), *c);
            match atom.kind() {
                ExprKind::Likely(a) => return self.at_most_zero(&self.again(with(a)?)),
                ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => {
                    let (x, y) = (self.again(with(a)?), self.again(with(b)?));
                    let (x, y) = (self.at_most_zero(&x), self.at_most_zero(&y));
                    return if (*op == BinOp::Max) == (*c > 0) { self.all(x, y) } else { self.any(x, y) };
                }
                _ => {}
            }
        }
        for (atom, c) in related {
            let rest = sum.without(atom);
            // The error of replacing the term; the inner interval must stand the worst, the outer the best.
            let worst = (*c > 0) == self.inner;
            match atom.kind() {
                ExprKind::Binary(BinOp::Div, n, d) => {
                    let d = as_int(d).filter(|d| *d > 0)?;
                    // c * (n / d) * d is c * (n - r) for some r in 0..d.
                    let lost = if worst { 0 } else { (d - 1).checked_mul(*c)? };
                    let scaled = rest.scale(d)?.plus_scaled(&Linear::of(n), *c)?.offset(lost.checked_neg()?)?;
                    return self.at_most_zero(&self.again(scaled));
                }
                ExprKind::Binary(BinOp::Mod, _, d) => {
                    let d = as_int(d).filter(|d| *d > 0)?;
                    let value = if worst { d - 1 } else { 0 };
                    return self.at_most_zero(&rest.offset(c.checked_mul(value)?)?);
                }
                _ => {}
            }
        }
        None
    }
    /// The normal form of a sum in which an atom was replaced.
    fn again(&self, sum: Linear) -> Linear {
        Linear::of(&simplify(&sum.to_expr(), self.facts))
    }
}

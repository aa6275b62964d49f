//! Intervals of sums.

use super::{Interval, Search, add, extreme_of};
use crate::bounds::monotone::{Monotone, monotone_under};
use crate::simplify::{BoundQuery, Linear, Range, Terms};
use halide_core::ops::BinOp;
use halide_ir::build::as_int;
use halide_ir::visit::{any_node, for_each_node, substitute};
use halide_ir::{Expr, ExprKind, Sym};

impl Search<'_> {
    pub(super) fn sum(&mut self, sum: &Linear) -> Interval {
        let varying: Vec<(Expr, i64)> = sum.terms.iter().filter(|(a, _)| self.varies(a)).cloned().collect();
        let support = |i: usize| varying[i].0.support();
        let related = (0..varying.len()).any(|i| (0..i).any(|j| support(i) & support(j) != 0));
        let wide = match related.then(|| self.related_sum(sum, &varying)) {
            Some(Related::Found(interval)) => return interval,
            Some(Related::Wide(interval)) => interval,
            None => Interval::everything(),
        };
        let mut total = (Some(Linear::constant(sum.constant)), Some(Linear::constant(sum.constant)));
        for (atom, c) in &sum.terms {
            let part = self.interval(atom);
            let (low, high) = if *c > 0 { (&part.min, &part.max) } else { (&part.max, &part.min) };
            let plus = |total: Option<Linear>, end: &Option<Expr>| total?.plus_scaled(&Linear::of(end.as_ref()?), *c);
            total = (plus(total.0, low), plus(total.1, high));
        }
        let end = |total: Option<Linear>| total.map(|t| self.simple(t.to_expr()));
        Interval { min: end(total.0).or(wide.min), max: end(total.1).or(wide.max) }
    }
    /// Bounds a sum whose varying terms depend on each other: symbols that stand still are replaced by their values, a
    /// sum that grows with its only symbol is bounded by its values at the ends, a choice has the rest of the sum moved
    /// into its arms, and what nearly cancels is bounded by constants.
    fn related_sum(&mut self, sum: &Linear, varying: &[(Expr, i64)]) -> Related {
        if let Some(still) = self.with_points(sum) {
            // What a condition leaves of a symbol, it leaves of it where it stands still: an iteration needs no more
            // than the whole run.
            let chosen = self.is_chosen_by_both(sum).then(|| self.in_arms(sum, varying)).flatten();
            return Related::Found(chosen.unwrap_or_else(|| self.interval(&still)));
        }
        let (changing, fixed) = {
            let is_varying = |t: &(Expr, i64)| varying.iter().any(|(a, _)| *a == t.0);
            let (c, f): (Terms, Terms) = sum.terms.iter().cloned().partition(is_varying);
            (Linear { terms: c, constant: 0 }, Linear { terms: f, constant: sum.constant })
        };
        let constant = BoundQuery::of_sum(&changing, self.facts).range();
        let mut wide = Interval::everything();
        if constant.is_bounded() && !self.ranges_are_constant(&changing) {
            let found = add(&Interval::point(fixed.to_expr()), &Interval::of_range(constant), 1, self.facts);
            if is_narrow(constant) {
                return Related::Found(found);
            }
            wide = found;
        }
        match self.at_ends(sum).or_else(|| self.in_arms(sum, varying)) {
            Some(found) => Related::Found(found),
            None => Related::Wide(wide),
        }
    }
    /// The sum with symbols that have one value replaced by it; `None` if there are none.
    fn with_points(&self, sum: &Linear) -> Option<Expr> {
        let ranges = |e: &Expr| any_node(e, |n| matches!(n.kind(), ExprKind::Sym(s) if (self.env)(*s).is_some()));
        let point = |s: Sym| (self.env)(s)?.as_point().filter(|value| !ranges(value)).cloned();
        let e = sum.to_expr();
        let still = substitute(&e, &point);
        (still != e).then(|| self.simple(still))
    }
    /// Returns true if a choice in `sum` compares a symbol that stands still with one that ranges.
    fn is_chosen_by_both(&self, sum: &Linear) -> bool {
        let stands_still = |s: Sym| (self.env)(s).map(|interval| interval.as_point().is_some());
        let has = |cond: &Expr, still: bool| {
            any_node(cond, |n| matches!(n.kind(), ExprKind::Sym(s) if stands_still(*s) == Some(still)))
        };
        let of_both = |n: &Expr| matches!(n.kind(), ExprKind::Select(c, ..) if has(c, true) && has(c, false));
        sum.terms.iter().any(|(atom, _)| any_node(atom, of_both))
    }
    /// Bounds a sum with a choice among its terms: the rest of it is moved into the arms.
    fn in_arms(&mut self, sum: &Linear, varying: &[(Expr, i64)]) -> Option<Interval> {
        let (atom, c) = varying.iter().find(|(a, _)| is_choice(a))?;
        self.moves = self.moves.checked_sub(1)?;
        let rest = sum.without(atom);
        let arm = |e: &Expr| rest.plus_scaled(&Linear::of(e), *c).map(|s| s.to_expr());
        let moved = match atom.kind() {
            ExprKind::Binary(op, a, b) => {
                let op = match op {
                    BinOp::Min if *c < 0 => BinOp::Max,
                    BinOp::Max if *c < 0 => BinOp::Min,
                    op => *op,
                };
                let (a, b) = (self.simple(arm(a)?), self.simple(arm(b)?));
                let (a, b) = (self.interval(&a), self.interval(&b));
                return Some(extreme_of(op, &a, &b, self.facts));
            }
            ExprKind::Select(cond, a, b) => (cond.clone(), self.simple(arm(a)?), self.simple(arm(b)?)),
            _ => return None,
        };
        let (cond, a, b) = moved;
        self.interval(&a);
        self.interval(&b);
        Some(self.select(&cond, &a, &b))
    }
    /// Returns true if every varying atom has constant ends anyway, so that constants are no loss and no gain.
    fn ranges_are_constant(&mut self, sum: &Linear) -> bool {
        sum.terms.iter().all(|(atom, _)| {
            let interval = self.interval(atom);
            let constant = |end: &Option<Expr>| end.as_ref().is_some_and(|e| as_int(e).is_some());
            constant(&interval.min) && constant(&interval.max)
        })
    }
    /// Bounds a sum that grows, or falls, with the only ranging symbol in it, by its values at the ends of the symbol.
    fn at_ends(&mut self, sum: &Linear) -> Option<Interval> {
        let e = sum.to_expr();
        let mut ranging: Option<(Sym, Interval)> = None;
        let mut other = false;
        for_each_node(&e, &mut |n| match n.kind() {
            ExprKind::Sym(s) => {
                if let Some(interval) = (self.env)(*s) {
                    other |= ranging.as_ref().is_some_and(|(first, _)| first != s);
                    ranging = Some((*s, interval));
                }
            }
            ExprKind::Read { .. } | ExprKind::Load { .. } => other = true,
            _ => {}
        });
        let (symbol, interval) = ranging.filter(|_| !other)?;
        let at = |end: &Option<Expr>| {
            let end = end.clone();
            Some(self.simple(substitute(&e, &|s| if s == symbol { end.clone() } else { None })))
                .filter(|_| end.is_some())
        };
        match monotone_under(&e, symbol, self.facts, &|_| None) {
            Monotone::Increasing => Some(Interval { min: at(&interval.min), max: at(&interval.max) }),
            Monotone::Decreasing => Some(Interval { min: at(&interval.max), max: at(&interval.min) }),
            _ => None,
        }
    }
}

/// The bounds of a sum whose varying terms depend on each other.
enum Related {
    /// Its interval.
    Found(Interval),
    /// Only constants that are far apart, which say less than what is varying at its ends, where that is known.
    Wide(Interval),
}

/// Returns true if constants say more of a value than that it is a coordinate, or a part of one.
fn is_narrow(range: Range) -> bool {
    let width = range.max().zip(range.min()).and_then(|(max, min)| max.checked_sub(min));
    width.is_some_and(|width| width < 1 << 20)
}

fn is_choice(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Binary(BinOp::Min | BinOp::Max, ..) | ExprKind::Select(..))
}

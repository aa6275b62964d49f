//! Bounds of a coordinate that follow from the predicate of a domain. Part of `infer_bounds`.
//!
//! A coordinate `e` is at most `e + (b - a)` and at least `e - (b - a)` where `a <= b` holds. That helps where these
//! sums have less in them than `e`: where `r.x < offsets[y + 1] - offsets[y]`, the coordinate `offsets[y] + r.x` is
//! less than `offsets[y + 1]`, and on a diagonal `r.x + r.y < 9`, `r.x + r.y` is.

use crate::lower::regions::predicate_refinement::within;
use crate::tuning::MOST_CONSTRAINTS;
use halide_core::ops::BinOp;
use halide_ir::{Expr, ExprKind, build};
use halide_solve::bounds::{Interval, exact};
use halide_solve::simplify::{Facts, Linear, simplify};

/// Sums that are at least 0 where the predicate holds.
pub(crate) fn slacks(predicate: &Expr, facts: &Facts) -> Vec<Linear> {
    let mut found = Vec::new();
    let mut todo = vec![predicate.clone()];
    while let Some(cond) = todo.pop() {
        match cond.kind() {
            ExprKind::Likely(a) => todo.push(a.clone()),
            ExprKind::Binary(BinOp::BitAnd, a, b) => todo.extend([a.clone(), b.clone()]),
            ExprKind::Binary(op, a, b) if is_integer(a) && found.len() < MOST_CONSTRAINTS => {
                let difference = |a: &Expr, b: &Expr, less: i64| exact(a, facts).minus(&exact(b, facts))?.offset(-less);
                let (x, y) = match op {
                    BinOp::Lt => (difference(b, a, 1), None),
                    BinOp::Le => (difference(b, a, 0), None),
                    BinOp::Gt => (difference(a, b, 1), None),
                    BinOp::Ge => (difference(a, b, 0), None),
                    BinOp::Eq => (difference(a, b, 0), difference(b, a, 0)),
                    _ => (None, None),
                };
                found.extend(x.into_iter().chain(y));
            }
            _ => {}
        }
    }
    found
}

fn is_integer(e: &Expr) -> bool {
    e.lanes() == 1 && (e.ty().is_index() || e.ty().scalar().is_some_and(|t| t.is_int() && t.bits() <= 32))
}

/// The interval of the coordinate `e` where every slack is at least 0; `of` gives that of any sum.
pub(crate) fn reached(e: &Expr, of: impl Fn(&Expr) -> Interval, slacks: &[Linear], facts: &Facts) -> Interval {
    let interval = of(e);
    if slacks.is_empty() || interval.as_point().is_some() {
        return interval;
    }
    let whole = Linear::of(&simplify(e, facts));
    // Only sums that are simpler can say more.
    let with = |slack: &Linear, factor: i64| {
        let sum = whole.plus_scaled(slack, factor)?;
        (sum.terms.len() < whole.terms.len()).then(|| of(&simplify(&sum.to_expr(), facts)))
    };
    let low = slacks.iter().filter_map(|s| with(s, -1)?.min).reduce(build::max);
    let high = slacks.iter().filter_map(|s| with(s, 1)?.max).reduce(build::min);
    within(interval, low, high, facts)
}

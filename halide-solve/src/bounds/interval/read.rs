//! Intervals of data elements that follow from a condition that compares them.

use super::{Interval, Search};
use crate::bounds::exact;
use crate::simplify::Linear;
use crate::tuning::MOST_READ_ENDS;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::build;
use halide_ir::{Expr, ExprKind};

impl Search<'_> {
    /// Elements that `cond` compares with something, each with an interval that it is in where `cond` holds.
    pub(super) fn compared(&mut self, cond: &Expr) -> Vec<(Expr, Interval)> {
        let mut found: Vec<(Expr, Interval)> = Vec::new();
        let (mut todo, mut left) = (vec![(cond.clone(), true)], MOST_READ_ENDS);
        while let Some((cond, goal)) = todo.pop() {
            match cond.kind() {
                ExprKind::Likely(a) => todo.push((a.clone(), goal)),
                ExprKind::Unary(UnOp::Not, a) => todo.push((a.clone(), !goal)),
                ExprKind::Binary(BinOp::BitAnd, a, b) if goal => todo.extend([(a.clone(), true), (b.clone(), true)]),
                ExprKind::Binary(BinOp::BitOr, a, b) if !goal => todo.extend([(a.clone(), false), (b.clone(), false)]),
                ExprKind::Binary(op, a, b) if op.is_comparison() && is_small_integer(a) && left > 0 => {
                    left -= 1;
                    for (element, interval) in self.comparison(*op, a, b, goal) {
                        match found.iter_mut().find(|(other, _)| *other == element) {
                            Some((_, known)) => *known = known.intersect(&interval, self.facts),
                            None => found.push((element, interval)),
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the elements in `a op b` with the intervals that follow from its being `goal`. Integers compare as what
    /// they are, so as coordinates do.
    fn comparison(&mut self, op: BinOp, a: &Expr, b: &Expr, goal: bool) -> Vec<(Expr, Interval)> {
        let Some(difference) = exact(a, self.facts).minus(&exact(b, self.facts)) else { return Vec::new() };
        let mut found = Vec::new();
        for (atom, factor) in &difference.terms {
            let (Some(element), 1 | -1) = (element(atom), *factor) else { continue };
            // `element op' other`, where the element's own sign decides which way round that is.
            let other = difference.without(atom).scale(-factor);
            let Some(other) = other.map(|other| self.of_sum(&other)) else { continue };
            let (op, flipped) = (if goal { Some(op) } else { negated(op) }, *factor < 0);
            if let Some(interval) = op.and_then(|op| where_it_holds(op, flipped, other)) {
                found.push((element.clone(), interval));
            }
        }
        found
    }

    fn of_sum(&mut self, sum: &Linear) -> Interval {
        self.interval(&self.simple(sum.to_expr()))
    }
}

/// Returns the interval of `x` if `x op other` holds, or `other op x` if that is `flipped`.
fn where_it_holds(op: BinOp, flipped: bool, other: Interval) -> Option<Interval> {
    let Interval { min, max } = other;
    let moved = |end: Option<Expr>, by: i64| end.map(|e| build::offset(e, by));
    Some(match (op, flipped) {
        (BinOp::Eq, _) => Interval { min, max },
        (BinOp::Le, false) | (BinOp::Ge, true) => Interval { min: None, max },
        (BinOp::Lt, false) | (BinOp::Gt, true) => Interval { min: None, max: moved(max, -1) },
        (BinOp::Ge, false) | (BinOp::Le, true) => Interval { min, max: None },
        (BinOp::Gt, false) | (BinOp::Lt, true) => Interval { min: moved(min, 1), max: None },
        _ => return None,
    })
}

fn negated(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Eq => BinOp::Ne,
        BinOp::Ne => BinOp::Eq,
        BinOp::Lt => BinOp::Ge,
        BinOp::Le => BinOp::Gt,
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        _ => return None,
    })
}

/// The element that an atom of a sum is, through conversions.
fn element(atom: &Expr) -> Option<&Expr> {
    match atom.kind() {
        ExprKind::Read { .. } | ExprKind::Load { .. } => Some(atom),
        ExprKind::Cast(a) if atom.ty().is_index() && is_small_integer(a) => element(a),
        _ => None,
    }
}

fn is_small_integer(e: &Expr) -> bool {
    e.lanes() == 1 && (e.ty().is_index() || e.ty().scalar().is_some_and(|t| t.is_int() && t.bits() <= 32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify::Facts;
    use halide_core::types::ScalarType;
    use halide_core::value::Scalar;
    use halide_ir::{BufId, Sym};

    /// `b` op 9 keeps a byte to what it says, on either side and negated.
    #[test]
    fn comparisons_keep_elements() {
        let read = || build::read(BufId(0), ScalarType::U8, vec![build::sym(Sym::Temp(0))]);
        let nine = || build::constant(Scalar::from(9u8));
        let facts = Facts::new();
        let arms = |cond: Expr| {
            let e = build::to_index(build::select(cond, read(), build::constant(Scalar::from(4u8))));
            let interval = crate::bounds::interval_of(&e, &|_| None, &facts);
            (interval.min.and_then(|e| build::as_int(&e)), interval.max.and_then(|e| build::as_int(&e)))
        };
        assert_eq!(arms(build::lt(read(), nine())), (Some(0), Some(8)));
        assert_eq!(arms(build::le(read(), nine())), (Some(0), Some(9)));
        assert_eq!(arms(build::gt(nine(), read())), (Some(0), Some(8)));
        assert_eq!(arms(build::eq(read(), nine())), (Some(4), Some(9)));
        assert_eq!(arms(build::not(build::gt(read(), nine()))), (Some(0), Some(9)));
        assert_eq!(arms(build::ge(read(), nine())), (Some(4), Some(255)));
        assert_eq!(arms(build::ne(read(), nine())), (Some(0), Some(255)));
        let between = build::and(build::ge(read(), build::constant(Scalar::from(3u8))), build::lt(read(), nine()));
        assert_eq!(arms(between), (Some(3), Some(8)));
    }
}

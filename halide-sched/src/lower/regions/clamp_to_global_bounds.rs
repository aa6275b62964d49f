//! Ends of what an iteration needs, within those of the whole run. Part of `infer_bounds`.

use crate::tuning::MOST_CLAMP_CHOICES;
use halide_core::ops::BinOp;
use halide_ir::hash::Map;
use halide_ir::{Edge, Expr, ExprKind, build};
use halide_solve::simplify::Facts;

/// An end with the constants that it may be kept within the end of the whole; `None` if they are. What is needed lies
/// within the whole, so an end that is one of several may be moved there whichever of them it is. `facts` hold for the
/// whole run.
pub(crate) fn within_whole(end: &Expr, whole: &Expr, edge: Edge, facts: &Facts) -> Option<Expr> {
    Ends { edge, facts, nothing: Facts::new(), done: Map::default() }.moved(end, whole, 0)
}

struct Ends<'f> {
    edge: Edge,
    facts: &'f Facts,
    /// An empty set of facts: ranges found with it hold whatever the symbols are.
    nothing: Facts,
    /// Results by part of an end and end of the whole: parts of an end may stand in it many times.
    done: Map<(Expr, Expr), Option<Expr>>,
}

impl Ends<'_> {
    fn moved(&mut self, end: &Expr, whole: &Expr, depth: u32) -> Option<Expr> {
        let key = (end.clone(), whole.clone());
        if let Some(known) = self.done.get(&key) {
            return known.clone();
        }
        let made = if depth > MOST_CLAMP_CHOICES { None } else { self.node(end, whole, depth + 1) };
        self.done.insert(key, made.clone());
        made
    }
    fn node(&mut self, end: &Expr, whole: &Expr, depth: u32) -> Option<Expr> {
        match end.kind() {
            ExprKind::Binary(op @ BinOp::Min, a, b) if self.edge == Edge::Min => {
                self.either(a, b, whole, depth).map(|(a, b)| build::binary(*op, a, b))
            }
            ExprKind::Binary(op @ BinOp::Max, a, b) if self.edge == Edge::Max => {
                self.either(a, b, whole, depth).map(|(a, b)| build::binary(*op, a, b))
            }
            ExprKind::Select(c, a, b) => self.either(a, b, whole, depth).map(|(a, b)| build::select(c.clone(), a, b)),
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) if build::as_int(b).is_some() => {
                let by = build::as_int(b)?;
                let inner = build::offset(whole.clone(), if *op == BinOp::Add { by.checked_neg()? } else { by });
                self.moved(a, &inner, depth).map(|a| build::binary(*op, a, b.clone()))
            }
            _ => self.leaf(end, whole),
        }
    }
    fn leaf(&self, end: &Expr, whole: &Expr) -> Option<Expr> {
        let ends = self.nothing.range(end);
        if let Some(whole) = build::as_int(whole) {
            let is_beyond = match (self.edge, ends) {
                (Edge::Min, (_, Some(most))) => most < whole,
                (Edge::Max, (Some(least), _)) => least > whole,
                _ => false,
            };
            return is_beyond.then(|| build::int(whole));
        }
        // The end of the whole may be known better than that of an iteration: then the smaller part counts.
        build::as_int(end)?;
        let op = if self.edge == Edge::Min { BinOp::Max } else { BinOp::Min };
        let is_within = match (self.edge, ends, self.facts.range(whole)) {
            (Edge::Min, (Some(least), _), (_, Some(most))) => most <= least,
            (Edge::Max, (_, Some(most)), (Some(least), _)) => most <= least,
            _ => false,
        };
        (!is_within).then(|| build::binary(op, whole.clone(), end.clone()))
    }
    /// Both, if at least one is moved.
    fn either(&mut self, a: &Expr, b: &Expr, whole: &Expr, depth: u32) -> Option<(Expr, Expr)> {
        let (new_a, new_b) = (self.moved(a, whole, depth), self.moved(b, whole, depth));
        let any = new_a.is_some() || new_b.is_some();
        any.then(|| (new_a.unwrap_or_else(|| a.clone()), new_b.unwrap_or_else(|| b.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::Sym;

    fn within(end: &Expr, whole: i64, edge: Edge) -> Option<Expr> {
        within_whole(end, &build::int(whole), edge, &Facts::new())
    }

    /// An end of the whole that is known better than what holds for any iteration.
    #[test]
    fn constants_where_the_whole_varies() {
        let (x, last) = (build::sym(Sym::Temp(0)), build::sym(Sym::Temp(1)));
        let mut facts = Facts::new();
        facts.bind_let(Sym::Temp(1), &build::min(build::sym(Sym::Temp(2)), build::int(7)));
        let at = |end: &Expr, edge| within_whole(end, &last, edge, &facts);
        assert_eq!(at(&build::int(7), Edge::Max), Some(build::min(last.clone(), build::int(7))));
        let two = build::max(x.clone(), build::int(7));
        assert_eq!(at(&two, Edge::Max), Some(build::max(x, build::min(last.clone(), build::int(7)))));
        // A first coordinate that is 7 or more begins no sooner than the whole.
        assert_eq!(at(&build::int(7), Edge::Min), None);
        assert_eq!(at(&build::int(6), Edge::Min), Some(build::max(last, build::int(6))));
    }

    #[test]
    fn constants_in_sums_and_products() {
        let x = || build::sym(Sym::Temp(0));
        let sum = build::add(build::max(x(), build::int(123)), build::int(4));
        let moved = build::add(build::max(x(), build::int(0)), build::int(4));
        assert_eq!(within(&sum, 4, Edge::Max), Some(moved));
        assert_eq!(within(&sum, 127, Edge::Max), None);
        // It is 246 at least.
        let product = build::mul(build::max(x(), build::int(123)), build::int(2));
        assert_eq!(within(&product, 200, Edge::Max), Some(build::int(200)));
        assert_eq!(within(&product, 200, Edge::Min), None);
    }

    /// Parts that stand in an end again and again are looked at once.
    #[test]
    fn shared_parts_are_looked_at_once() {
        let mut end = build::min(build::sym(Sym::Temp(0)), build::int(-9));
        for i in 0..30 {
            end = build::select(build::lt(build::sym(Sym::Temp(1)), build::int(i)), end.clone(), end);
        }
        let end = build::min(build::offset(build::sym(Sym::Temp(2)), 3), build::min(end, build::int(-5)));
        let moved = within(&end, 2, Edge::Min).expect("constants are below the whole");
        assert_eq!(within(&moved, 2, Edge::Min), None);
        assert_eq!(within(&moved, 2, Edge::Max), None);
    }
}

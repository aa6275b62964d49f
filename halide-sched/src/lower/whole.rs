//! Ends of what an iteration needs, within those of the whole run. Part of `infer_bounds`.

use crate::ir::hash::Map;
use crate::ir::{Edge, Expr, ExprKind, build};
use halide_core::ops::BinOp;

/// How many minima, maxima and choices deep the ends of iterations are looked into for constants.
const MOST_CHOICES: u32 = 32;

/// An end with the constants that it may be kept within the end of the whole; `None` if they are. What is needed lies within
/// the whole, so an end that is one of several may be moved there whichever of them it is.
pub(crate) fn within_whole(end: &Expr, whole: i64, edge: Edge) -> Option<Expr> {
    Ends { whole, edge, done: Map::default() }.moved(end, 0)
}

struct Ends {
    whole: i64,
    edge: Edge,
    /// What was found: parts of an end may stand in it many times.
    done: Map<Expr, Option<Expr>>,
}

impl Ends {
    fn moved(&mut self, end: &Expr, depth: u32) -> Option<Expr> {
        if let Some(known) = self.done.get(end) {
            return known.clone();
        }
        let made = if depth > MOST_CHOICES { None } else { self.node(end, depth + 1) };
        self.done.insert(end.clone(), made.clone());
        made
    }
    fn node(&mut self, end: &Expr, depth: u32) -> Option<Expr> {
        let is_beyond = |v: i64| if self.edge == Edge::Min { v < self.whole } else { v > self.whole };
        match end.kind() {
            ExprKind::Int(v) => is_beyond(*v).then(|| build::int(self.whole)),
            ExprKind::Binary(op @ BinOp::Min, a, b) if self.edge == Edge::Min => {
                self.either(a, b, depth).map(|(a, b)| build::binary(*op, a, b))
            }
            ExprKind::Binary(op @ BinOp::Max, a, b) if self.edge == Edge::Max => {
                self.either(a, b, depth).map(|(a, b)| build::binary(*op, a, b))
            }
            ExprKind::Select(c, a, b) => self.either(a, b, depth).map(|(a, b)| build::select(c.clone(), a, b)),
            _ => None,
        }
    }
    /// Both, if at least one is moved.
    fn either(&mut self, a: &Expr, b: &Expr, depth: u32) -> Option<(Expr, Expr)> {
        let (new_a, new_b) = (self.moved(a, depth), self.moved(b, depth));
        let any = new_a.is_some() || new_b.is_some();
        any.then(|| (new_a.unwrap_or_else(|| a.clone()), new_b.unwrap_or_else(|| b.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Sym;

    /// Parts that stand in an end again and again are looked at once.
    #[test]
    fn shared_parts_are_looked_at_once() {
        let mut end = build::min(build::sym(Sym::Temp(0)), build::int(-9));
        for i in 0..30 {
            end = build::select(build::lt(build::sym(Sym::Temp(1)), build::int(i)), end.clone(), end);
        }
        let end = build::min(build::offset(build::sym(Sym::Temp(2)), 3), build::min(end, build::int(-5)));
        let moved = within_whole(&end, 2, Edge::Min).expect("constants are below the whole");
        assert_eq!(within_whole(&moved, 2, Edge::Min), None);
        assert_eq!(within_whole(&moved, 2, Edge::Max), None);
    }
}

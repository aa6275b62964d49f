//! Ends of what an iteration needs, within those of the whole run. Part of `infer_bounds`.

use crate::ir::{Edge, Expr, ExprKind, build};
use halide_core::ops::BinOp;

/// How many minima, maxima and choices deep the ends of iterations are looked into for constants.
const MOST_CHOICES: u32 = 32;

/// An end with the constants that it may be kept within the end of the whole; `None` if they are. What is needed lies within
/// the whole, so an end that is one of several may be moved there whichever of them it is.
pub(crate) fn within_whole(end: &Expr, whole: i64, edge: Edge) -> Option<Expr> {
    moved(end, whole, edge, 0)
}

fn moved(end: &Expr, whole: i64, edge: Edge, depth: u32) -> Option<Expr> {
    let of = |e: &Expr| moved(e, whole, edge, depth + 1);
    let either = |a: &Expr, b: &Expr| {
        let (new_a, new_b) = (of(a), of(b));
        let any = new_a.is_some() || new_b.is_some();
        any.then(|| (new_a.unwrap_or_else(|| a.clone()), new_b.unwrap_or_else(|| b.clone())))
    };
    match end.kind() {
        ExprKind::Int(v) if (edge == Edge::Min && *v < whole) || (edge == Edge::Max && *v > whole) => {
            Some(build::int(whole))
        }
        _ if depth > MOST_CHOICES => None,
        ExprKind::Binary(BinOp::Min, a, b) if edge == Edge::Min => either(a, b).map(|(a, b)| build::min(a, b)),
        ExprKind::Binary(BinOp::Max, a, b) if edge == Edge::Max => either(a, b).map(|(a, b)| build::max(a, b)),
        ExprKind::Select(c, a, b) => either(a, b).map(|(a, b)| build::select(c.clone(), a, b)),
        _ => None,
    }
}

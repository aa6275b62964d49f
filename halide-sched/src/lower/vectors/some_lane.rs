//! The condition that a mask holds in some lane.
//!
//! Masks are conjunctions: the lanes of a tail that are inside, and those that an algorithm stores. Each comparison of
//! Index that grows or falls by one from lane to lane holds in all lanes from some one on, or up to some one; there is
//! a lane where all of them hold if the last of the first lanes is a lane, and not behind the first of the last ones.

use super::lanes::{self, Shape};
use halide_core::ops::BinOp;
use halide_ir::{Expr, ExprKind, build};

/// The lanes in which a comparison holds.
enum Holds {
    /// All lanes or none.
    Everywhere,
    /// This lane and all behind it.
    From(Expr),
    /// This lane and all before it.
    UpTo(Expr),
}

/// Returns the scalar condition that a mask holds in some lane.
pub(crate) fn some_lane(mask: &Expr) -> Expr {
    if mask.lanes() == 1 {
        return mask.clone();
    }
    let mut parts = Vec::new();
    conjuncts(mask, &mut parts);
    let known: Option<Vec<Holds>> = parts.iter().map(holds).collect();
    let Some(known) = known else { return lanes::reduce(BinOp::BitOr, mask) };
    let own = parts.iter().zip(&known).map(|(part, holds)| {
        let lane = if let Holds::From(_) = holds { mask.lanes() - 1 } else { 0 };
        lanes::lane(part, lane)
    });
    let first = known.iter().filter_map(|h| if let Holds::From(first) = h { Some(first) } else { None });
    let last = || known.iter().filter_map(|h| if let Holds::UpTo(last) = h { Some(last) } else { None });
    let meet = first.flat_map(|first| last().map(move |last| build::le(first.clone(), last.clone())));
    own.chain(meet).reduce(build::and).unwrap_or_else(|| build::boolean(true))
}

/// Adds the conditions that hold together where `mask` does, without marks.
pub(crate) fn conjuncts(mask: &Expr, parts: &mut Vec<Expr>) {
    match mask.kind() {
        ExprKind::Likely(of) => conjuncts(of, parts),
        ExprKind::Binary(BinOp::BitAnd, a, b) => {
            conjuncts(a, parts);
            conjuncts(b, parts);
        }
        _ => parts.push(mask.clone()),
    }
}

/// Returns the lanes in which a condition holds, if it grows or falls by one from lane to lane.
fn holds(part: &Expr) -> Option<Holds> {
    if lanes::uniform(part).is_some() {
        return Some(Holds::Everywhere);
    }
    let ExprKind::Binary(op, a, b) = part.kind() else { return None };
    // As `0 <= distance` in each lane.
    let (small, large, apart) = match op {
        BinOp::Le => (a, b, 0),
        BinOp::Lt => (a, b, 1),
        BinOp::Ge => (b, a, 0),
        BinOp::Gt => (b, a, 1),
        _ => return None,
    };
    let ((small, down), (large, up)) = (line(small)?, line(large)?);
    let distance = build::offset(build::sub(large, small), -apart);
    match up.checked_sub(down)? {
        0 => Some(Holds::Everywhere),
        1 => Some(Holds::From(build::sub(build::int(0), distance))),
        -1 => Some(Holds::UpTo(distance)),
        _ => None,
    }
}

/// The first lane of a vector of Index, and what each next one is more.
fn line(e: &Expr) -> Option<(Expr, i64)> {
    match (e.kind(), lanes::shape(e)) {
        _ if !e.ty().is_index() => None,
        (ExprKind::Likely(of), _) => line(of),
        (_, Shape::Uniform(a)) => Some((a, 0)),
        (_, Shape::Ramp(base, stride)) => Some((base, build::as_int(&stride)?)),
        (_, Shape::General) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::ids::Id;
    use halide_core::pipeline::DimField;
    use halide_ir::{LoopId, Sym};
    use halide_solve::simplify::{Facts, simplify};

    fn size(dim: u16) -> Expr {
        build::sym(Sym::Buffer { buf: Id::new(0), dim, field: DimField::Extent })
    }

    fn ramp(base: Expr, stride: i64) -> Expr {
        build::ramp(base, build::int(stride), 4)
    }

    fn spread(e: Expr) -> Expr {
        build::broadcast(e, 4)
    }

    #[test]
    fn a_tail_asks_of_its_first_lane() {
        let x = build::loop_var(LoopId(0));
        let tail = build::binary(BinOp::Lt, build::likely(ramp(x.clone(), 1)), spread(size(0)));
        assert_eq!(some_lane(&tail), build::lt(x, size(0)));
    }

    /// All values near the ends, one by one.
    #[test]
    fn it_holds_where_some_lane_does() {
        let (x, y) = (build::loop_var(LoopId(0)), build::loop_var(LoopId(1)));
        let inside = build::likely(build::binary(BinOp::Le, ramp(x.clone(), 1), spread(size(0))));
        let behind = build::binary(BinOp::Gt, ramp(x.clone(), 1), spread(y.clone()));
        let before = build::binary(BinOp::Lt, ramp(y.clone(), -1), spread(size(0)));
        let even = build::binary(BinOp::Le, ramp(x.clone(), 2), spread(y.clone()));
        let same = spread(build::lt(x.clone(), y.clone()));
        let both = |a: &Expr, b: &Expr| build::binary(BinOp::BitAnd, a.clone(), b.clone());
        let masks = [
            both(&inside, &behind),
            both(&both(&inside, &before), &behind),
            both(&inside, &even),
            both(&both(&behind, &same), &inside),
            behind,
        ];
        for mask in masks {
            let some = some_lane(&mask);
            for (at, to, n) in (-6..6).flat_map(|x| (-6..6).flat_map(move |y| (-6..6).map(move |n| (x, y, n)))) {
                let known = |e: &Expr| {
                    let value = |s: Sym| match s {
                        Sym::Loop(LoopId(0)) => Some(build::int(at)),
                        Sym::Loop(_) => Some(build::int(to)),
                        _ => Some(build::int(n)),
                    };
                    build::as_bool(&simplify(&halide_ir::visit::substitute(e, &value), &Facts::new()))
                };
                let lanes: Vec<_> = (0..4).map(|i| known(&lanes::lane(&mask, i))).collect();
                assert_eq!(known(&some), Some(lanes.contains(&Some(true))), "{mask:?} at {at}, {to}, {n}: {some:?}");
            }
        }
    }
}

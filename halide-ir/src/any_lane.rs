//! The condition that a mask holds in some lane, in a form that code generators know.

use crate::build;
use crate::expr::{Expr, ExprKind};
use halide_core::ops::BinOp;

/// Returns the scalar that holds where `mask` does in some lane: each lane by itself, joined in the order of the lanes.
/// [`as_any_lane`] finds it again.
pub fn any_lane(mask: &Expr) -> Expr {
    match mask.kind() {
        ExprKind::Broadcast(all) => all.clone(),
        _ if mask.lanes() == 1 => mask.clone(),
        _ => {
            let lanes = (0..mask.lanes()).map(|i| build::shuffle(vec![mask.clone()], vec![i]));
            lanes.reduce(|a, b| build::binary(BinOp::BitOr, a, b)).expect("a vector has lanes")
        }
    }
}

/// Returns the mask of what [`any_lane`] made of a vector.
pub fn as_any_lane(e: &Expr) -> Option<&Expr> {
    let (mut of, mut lanes, mut rest) = (None, 0, e);
    loop {
        let (part, before) = match rest.kind() {
            ExprKind::Binary(BinOp::BitOr, before, part) => (part, Some(before)),
            _ => (rest, None),
        };
        let ExprKind::Shuffle(vectors, picked) = part.kind() else { return None };
        let ([mask], [lane]) = (&vectors[..], &picked[..]) else { return None };
        if of.is_some_and(|of| of != mask) {
            return None;
        }
        of = Some(mask);
        lanes += 1;
        // From the last lane to the first.
        if mask.lanes().checked_sub(lanes) != Some(*lane) {
            return None;
        }
        match before {
            Some(before) => rest = before,
            None => return of.filter(|mask| mask.lanes() == lanes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::ids::Id;
    use halide_core::types::ScalarType;

    fn mask(buf: u32, lanes: u16) -> Expr {
        let index = build::ramp(build::int(0), build::int(1), lanes);
        let loaded = build::load(Id::new(buf as usize), ScalarType::I32, index, None);
        let one = build::constant(halide_core::value::Scalar::from(1i32));
        build::binary(BinOp::Ne, loaded, build::broadcast(one, lanes))
    }

    #[test]
    fn it_is_found_again() {
        for lanes in 2..18 {
            assert_eq!(as_any_lane(&any_lane(&mask(0, lanes))), Some(&mask(0, lanes)));
        }
    }

    #[test]
    fn other_disjunctions_are_not_taken_for_it() {
        let (a, b) = (mask(0, 4), mask(1, 4));
        let lane = |of: &Expr, i| build::shuffle(vec![of.clone()], vec![i]);
        let or = |a, b| build::binary(BinOp::BitOr, a, b);
        assert_eq!(as_any_lane(&or(any_lane(&a), any_lane(&b))), None);
        assert_eq!(as_any_lane(&or(or(lane(&a, 0), lane(&a, 1)), lane(&a, 2))), None);
        assert_eq!(as_any_lane(&or(or(or(lane(&a, 0), lane(&b, 1)), lane(&a, 2)), lane(&a, 3))), None);
        assert_eq!(as_any_lane(&lane(&a, 3)), None);
    }
}

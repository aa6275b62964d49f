//! Tells places of a buffer apart that have no element in common, whatever names stand for.

use super::survey::Access;
use crate::lower::code::polynomial::Sum;
use crate::tuning::MOST_PROMOTED_PLACES;
use halide_ir::{BufId, BufferInfo, DimField, Expr, ExprKind, Sym, build};

/// Returns true if no two places of a buffer have an element in common, and there are not too many to tell.
pub(super) fn are_apart(info: &BufferInfo, buf: BufId, places: &[&Access]) -> bool {
    places.len() <= MOST_PROMOTED_PLACES
        && places
            .iter()
            .enumerate()
            .all(|(i, a)| places[..i].iter().all(|b| is_apart(info, buf, &a.place.index, &b.place.index)))
}

/// Two places are apart if their first lanes differ by a constant that is large enough, or by multiples of the buffer's
/// strides: then their coordinates differ.
fn is_apart(info: &BufferInfo, buf: BufId, a: &Expr, b: &Expr) -> bool {
    let Some(difference) = Sum::of(&build::sub(first_lane(b).clone(), first_lane(a).clone())) else { return false };
    let is_stride = |e: &Expr| matches!(e.kind(), ExprKind::Sym(Sym::Buffer { buf: of, field: DimField::Stride, .. }) if *of == buf);
    let mut terms = difference.terms().peekable();
    if terms.peek().is_none() {
        let (before, behind) = (i64::from(b.lanes()), i64::from(a.lanes()));
        return difference.constant >= behind || difference.constant <= -before;
    }
    let folds = info.fold.iter().any(Option::is_some);
    !folds && terms.all(|term| term.factors.len() == 1 && is_stride(&term.factors[0]))
}

fn first_lane(index: &Expr) -> &Expr {
    match index.kind() {
        ExprKind::Ramp { base, .. } => base,
        _ => index,
    }
}

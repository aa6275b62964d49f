//! Vectors of which all lanes are computed alike are computed once.

use halide_ir::visit::{for_each_child, map_children};
use halide_ir::{Expr, ExprKind, build};

/// An operation on broadcasts as a broadcast of the operation on scalars; a choice of lanes that is simpler written
/// otherwise.
pub(super) fn simplify_lanes(e: &Expr) -> Option<Expr> {
    if e.lanes() == 1 {
        return None;
    }
    match e.kind() {
        ExprKind::Broadcast(_) | ExprKind::Ramp { .. } => None,
        ExprKind::Shuffle(vectors, picks) => shuffle(vectors, picks),
        _ => {
            let mut uniform = true;
            for_each_child(e, |c| uniform &= matches!(c.kind(), ExprKind::Broadcast(_)));
            let lanes = e.lanes();
            let inside = |c: &Expr| match c.kind() {
                ExprKind::Broadcast(a) => a.clone(),
                _ => c.clone(),
            };
            uniform.then(|| build::broadcast(map_children(e, inside), lanes))
        }
    }
}

/// Lanes picked from broadcasts of one value, in order from one vector, or evenly from a ramp.
fn shuffle(vectors: &[Expr], picks: &[u16]) -> Option<Expr> {
    let first = vectors.first()?;
    let lanes = picks.len() as u16;
    if let ExprKind::Broadcast(a) = first.kind()
        && vectors.iter().all(|v| matches!(v.kind(), ExprKind::Broadcast(b) if a == b))
    {
        return Some(build::broadcast(a.clone(), lanes));
    }
    // Only one of the vectors is used.
    if vectors.len() > 1 {
        let mut start = 0;
        for v in vectors {
            let end = start + v.lanes();
            if picks.iter().all(|&p| (start..end).contains(&p)) {
                return Some(build::shuffle(vec![v.clone()], picks.iter().map(|p| p - start).collect()));
            }
            start = end;
        }
        return None;
    }
    if let ExprKind::Ramp { base, stride } = first.kind() {
        let step = if lanes > 1 { picks[1] as i64 - picks[0] as i64 } else { 0 };
        let even = picks.windows(2).all(|w| w[1] as i64 - w[0] as i64 == step);
        let start = build::add(base.clone(), build::mul(stride.clone(), build::int(picks[0] as i64)));
        return even.then(|| build::ramp(start, build::mul(stride.clone(), build::int(step)), lanes));
    }
    None
}

//! Structural equality of expressions in time proportional to their nodes, and without deep recursion.
//!
//! Equal nodes have equal hashes, so that different expressions are told apart at once. What remains is to confirm that
//! expressions that were built separately are equal; where they share parts inside, each pair of parts is compared
//! once.

use super::expr::{Expr, ExprKind};
use super::hash::Set;
use super::tuning::COMPARED_WITHOUT_TABLE;

impl PartialEq for Expr {
    /// Returns true if they are the same all the way down.
    fn eq(&self, other: &Expr) -> bool {
        at_once(self, other)
            .unwrap_or_else(|| few(self, other, &mut { COMPARED_WITHOUT_TABLE }).unwrap_or_else(|| many(self, other)))
    }
}

impl Eq for Expr {}

/// The answer where one look gives it.
fn at_once(a: &Expr, b: &Expr) -> Option<bool> {
    match () {
        _ if a.id() == b.id() => Some(true),
        _ if a.structural_hash() != b.structural_hash() || a.ty() != b.ty() => Some(false),
        _ => None,
    }
}

/// The answer where no more than `budget` nodes give it.
fn few(a: &Expr, b: &Expr, budget: &mut u32) -> Option<bool> {
    if let Some(answer) = at_once(a, b) {
        return Some(answer);
    }
    *budget = budget.checked_sub(1)?;
    let mut all = Some(true);
    let alike = heads_alike(a.kind(), b.kind(), &mut |x, y| {
        all = few(x, y, budget);
        all == Some(true)
    });
    if alike { Some(true) } else { all.map(|_| false) }
}

fn many(a: &Expr, b: &Expr) -> bool {
    let mut compared = Set::default();
    let mut pending = vec![(a, b)];
    while let Some((a, b)) = pending.pop() {
        match at_once(a, b) {
            Some(true) => continue,
            Some(false) => return false,
            None => {}
        }
        let alike = !compared.insert((a.id(), b.id()))
            || heads_alike(a.kind(), b.kind(), &mut |x, y| {
                pending.push((x, y));
                true
            });
        if !alike {
            return false;
        }
    }
    true
}

/// Returns true if two nodes are the same but for their children, and `child` holds for every pair of these.
fn heads_alike<'e>(a: &'e ExprKind, b: &'e ExprKind, child: &mut impl FnMut(&'e Expr, &'e Expr) -> bool) -> bool {
    use ExprKind::*;
    match a {
        Const(_) | Int(_) | Sym(_) | Param(_) => a == b,
        Unary(op, x) => matches!(b, Unary(q, y) if op == q && child(x, y)),
        Binary(op, x, u) => matches!(b, Binary(q, y, v) if op == q && child(x, y) && child(u, v)),
        Select(c, x, u) => matches!(b, Select(d, y, v) if child(c, d) && child(x, y) && child(u, v)),
        Cast(x) => matches!(b, Cast(y) if child(x, y)),
        SaturatingCast(x) => matches!(b, SaturatingCast(y) if child(x, y)),
        Reinterpret(x) => matches!(b, Reinterpret(y) if child(x, y)),
        Likely(x) => matches!(b, Likely(y) if child(x, y)),
        Broadcast(x) => matches!(b, Broadcast(y) if child(x, y)),
        Math(f, x) => matches!(b, Math(g, y) if f == g && all_alike(x, y, child)),
        Intrinsic(f, x) => matches!(b, Intrinsic(g, y) if f == g && all_alike(x, y, child)),
        Read { buf, args } => matches!(b, Read { buf: of, args: y } if buf == of && all_alike(args, y, child)),
        Load { buf, index, mask } => {
            let Load { buf: of, index: at, mask: under } = b else { return false };
            let masks_alike = match (mask, under) {
                (Some(x), Some(y)) => child(x, y),
                (None, None) => true,
                _ => false,
            };
            buf == of && masks_alike && child(index, at)
        }
        Ramp { base, stride } => matches!(b, Ramp { base: y, stride: v } if child(base, y) && child(stride, v)),
        Shuffle(x, lanes) => matches!(b, Shuffle(y, picked) if lanes == picked && all_alike(x, y, child)),
    }
}

fn all_alike<'e>(x: &'e [Expr], y: &'e [Expr], child: &mut impl FnMut(&'e Expr, &'e Expr) -> bool) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| child(x, y))
}

#[cfg(test)]
mod tests {
    use crate::{Expr, LoopId, build};

    /// As many nodes as `depth`, and twice as many paths per node.
    fn doubled(depth: usize, leaf: i64) -> Expr {
        let x = build::offset(build::loop_var(LoopId(0)), leaf);
        (0..depth)
            .fold(x, |e, i| build::binary(halide_core::ops::BinOp::Mod, build::offset(e.clone(), i as i64 + 1), e))
    }

    #[test]
    fn shared_parts_are_compared_once() {
        assert_eq!(doubled(3000, 1), doubled(3000, 1));
        assert_ne!(doubled(3000, 1), doubled(3000, 2));
        assert_eq!(doubled(5, 1), doubled(5, 1));
        assert_ne!(doubled(5, 1), doubled(6, 1));
    }
}

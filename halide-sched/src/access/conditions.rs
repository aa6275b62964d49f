//! Conditions as inequalities, and inequalities in parts.

use super::atoms::{Atom, Terms};
use super::poly::Poly;
use super::read::{Definition, LaneOf, Reader};
use crate::tuning::MOST_PARTS;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::{Expr, ExprKind, build};

/// `0 <= p` as inequalities that together imply it: `0 <= min(a, b) + r` is one for `a` and one for `b`.
pub(crate) fn split_minima<'p>(terms: &Terms<'p>, p: Poly<'p>) -> Vec<Poly<'p>> {
    let mut done = Vec::new();
    let mut open = vec![p];
    while let Some(p) = open.pop() {
        let parts = p.atoms().iter().copied().find_map(|a| {
            let (factor, rest) = p.linear_in(a)?;
            let k = factor.as_constant()?;
            let with = |x: &Poly<'p>| rest.add_scaled(x, k);
            match terms.atom(a) {
                Atom::Min(x, y) if k > 0 => Some(vec![with(x), with(y)]),
                Atom::Either(list, _) => Some(list.iter().map(with).collect()),
                _ => None,
            }
        });
        match parts {
            Some(parts) if done.len() + open.len() + parts.len() <= MOST_PARTS => open.extend(parts),
            _ => done.push(p),
        }
    }
    done
}

/// The inequalities that a condition means, where it is a conjunction of comparisons of indices. Others are left out:
/// the answer is true if there were none.
pub(crate) fn conditions<'p>(
    reader: &mut Reader<'p>,
    cond: &Expr,
    holds: bool,
    lane: &LaneOf<'p>,
    list: &mut Vec<Poly<'p>>,
) -> bool {
    match cond.kind() {
        ExprKind::Likely(a) | ExprKind::Broadcast(a) => conditions(reader, a, holds, lane, list),
        ExprKind::Unary(UnOp::Not, a) => conditions(reader, a, !holds, lane, list),
        ExprKind::Binary(op @ (BinOp::BitAnd | BinOp::BitOr), a, b) if holds == (*op == BinOp::BitAnd) => {
            let first = conditions(reader, a, holds, lane, list);
            conditions(reader, b, holds, lane, list) && first
        }
        ExprKind::Sym(s) if cond.ty().is_bool() => match reader.defs.get(*s).cloned() {
            Some(Definition::Let(value)) => {
                reader.at_binding(*s, &value, |reader| conditions(reader, &value, holds, lane, list))
            }
            _ => false,
        },
        ExprKind::Binary(op, a, b) if a.ty().is_index() => {
            let (a, b) = (reader.read(a, lane), reader.read(b, lane));
            let (a, b) = (reader.expanded(&a), reader.expanded(&b));
            let less = |x: &Poly<'p>, y: &Poly<'p>| y.minus(x).offset(-1);
            let at_most = |x: &Poly<'p>, y: &Poly<'p>| y.minus(x);
            match (op, holds) {
                (BinOp::Lt, true) | (BinOp::Ge, false) => list.push(less(&a, &b)),
                (BinOp::Le, true) | (BinOp::Gt, false) => list.push(at_most(&a, &b)),
                (BinOp::Gt, true) | (BinOp::Le, false) => list.push(less(&b, &a)),
                (BinOp::Ge, true) | (BinOp::Lt, false) => list.push(at_most(&b, &a)),
                (BinOp::Eq, true) | (BinOp::Ne, false) => list.extend([at_most(&a, &b), at_most(&b, &a)]),
                _ => return false,
            }
            true
        }
        ExprKind::Const(_) => build::as_bool(cond) == Some(holds),
        _ => false,
    }
}

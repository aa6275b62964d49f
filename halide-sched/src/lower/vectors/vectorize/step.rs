//! Steps of reductions and scans: what a stored value combines with an old one, and by what operator.

use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_ir::visit::any_node;
use halide_ir::{Expr, ExprKind, build};

/// `old op new`, or `new op old`.
pub(crate) struct Step {
    pub(crate) op: BinOp,
    pub(crate) new: Expr,
    /// True if the old value is the left operand, wherever it stands.
    pub(crate) old_first: bool,
    /// The factors of `new` where the step is one product added without being rounded first.
    pub(crate) fused: Option<[Expr; 2]>,
}

/// The step that `stored` is, if the old value is an operand of its operator.
pub(crate) fn step(stored: &Expr, is_old: &dyn Fn(&Expr) -> bool) -> Option<Step> {
    let (step, depth) = along(stored, is_old)?;
    (depth == 1).then_some(step)
}

/// The step that `stored` is if operators of one family lead down to the old value: `old + a - b` adds `a - b`.
pub(crate) fn chain(stored: &Expr, is_old: &dyn Fn(&Expr) -> bool) -> Option<Step> {
    along(stored, is_old).map(|(step, _)| step)
}

fn along(e: &Expr, is_old: &dyn Fn(&Expr) -> bool) -> Option<(Step, usize)> {
    let reads = |e: &Expr| any_node(e, is_old);
    match e.kind() {
        ExprKind::Binary(op, a, b) => match (reads(a), reads(b)) {
            (true, false) => {
                let new = if *op == BinOp::Sub { build::unary(UnOp::Neg, b.clone()) } else { b.clone() };
                let whole = operator(family(*op)?, new, true);
                behind(a, whole, |inner| build::binary(*op, inner, b.clone()), is_old)
            }
            (false, true) if *op != BinOp::Sub => {
                let whole = operator(family(*op)?, a.clone(), false);
                behind(b, whole, |inner| build::binary(*op, a.clone(), inner), is_old)
            }
            _ => None,
        },
        ExprKind::Math(MathFn::MulAdd, args) => {
            let [x, y, z] = &args[..] else { return None };
            if reads(x) || reads(y) || !reads(z) {
                return None;
            }
            let product = build::binary(BinOp::Mul, x.clone(), y.clone());
            let fused = Some([x.clone(), y.clone()]);
            let whole = Step { fused, ..operator(BinOp::Add, product, true) };
            behind(z, whole, |inner| build::math(MathFn::MulAdd, vec![x.clone(), y.clone(), inner]), is_old)
        }
        _ => None,
    }
}

fn operator(op: BinOp, new: Expr, old_first: bool) -> Step {
    Step { op, new, old_first, fused: None }
}

/// The step `whole` whose old value stands in `e`: it is the old one, or a step itself, to whose new value `outer` adds
/// the rest.
fn behind(
    e: &Expr,
    whole: Step,
    outer: impl FnOnce(Expr) -> Expr,
    is_old: &dyn Fn(&Expr) -> bool,
) -> Option<(Step, usize)> {
    if is_old(e) {
        return Some((whole, 1));
    }
    let (inner, depth) = along(e, is_old).filter(|(inner, _)| inner.op == whole.op)?;
    let old_first = whole.old_first && inner.old_first;
    Some((operator(whole.op, outer(inner.new), old_first), depth + 1))
}

/// The operator that a chain of `op` amounts to.
fn family(op: BinOp) -> Option<BinOp> {
    match op {
        BinOp::Sub => Some(BinOp::Add),
        BinOp::Add | BinOp::Mul | BinOp::Min | BinOp::Max | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => Some(op),
        _ => None,
    }
}

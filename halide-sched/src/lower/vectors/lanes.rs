//! Arithmetic on vectors of Index that keeps its shape: a sum of a ramp and a uniform value is a ramp again, so that
//! accesses stay dense. Data is only relieved of broadcasts: what is equal in all lanes is computed once.

use halide_core::ops::BinOp;
use halide_ir::visit;
use halide_ir::{Expr, ExprKind, build};

/// The relation between the lanes of a vector.
pub(crate) enum Shape {
    /// All are this scalar.
    Uniform(Expr),
    /// Index lanes `base + i * stride`, both scalar.
    Ramp(Expr, Expr),
    /// Anything else.
    General,
}

/// The shape of `e`.
pub(crate) fn shape(e: &Expr) -> Shape {
    match e.kind() {
        _ if e.lanes() == 1 => Shape::Uniform(e.clone()),
        ExprKind::Broadcast(a) => Shape::Uniform(a.clone()),
        ExprKind::Ramp { base, stride } => Shape::Ramp(base.clone(), stride.clone()),
        _ => Shape::General,
    }
}

/// The scalar that every lane of `e` is, if its form says so.
pub(crate) fn uniform(e: &Expr) -> Option<Expr> {
    match shape(e) {
        Shape::Uniform(a) => Some(a),
        _ => None,
    }
}

/// `a op b` on as many lanes as the wider operand has.
pub(crate) fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    let lanes = a.lanes().max(b.lanes());
    if lanes == 1 {
        return build::binary(op, a, b);
    }
    let arithmetic = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod);
    let (a, b) = if arithmetic && a.ty().is_index() { (bare(a), bare(b)) } else { (a, b) };
    match (shape(&a), shape(&b)) {
        (Shape::Uniform(x), Shape::Uniform(y)) => build::broadcast(build::binary(op, x, y), lanes),
        (Shape::Ramp(base, stride), Shape::Uniform(y)) => {
            ramp_by_uniform(op, &base, &stride, &y, lanes).unwrap_or_else(|| build::binary(op, a, b))
        }
        (Shape::Uniform(x), Shape::Ramp(base, stride)) => {
            uniform_by_ramp(op, &x, &base, &stride, lanes).unwrap_or_else(|| build::binary(op, a, b))
        }
        (Shape::Ramp(p, s), Shape::Ramp(q, t)) => {
            ramp_by_ramp(op, (p, s), (q, t), lanes).unwrap_or_else(|| build::binary(op, a, b))
        }
        _ => build::binary(op, a, b),
    }
}

/// `e` without a steady-state marker, which says nothing inside a sum and would hide a ramp.
fn bare(e: Expr) -> Expr {
    match e.kind() {
        ExprKind::Likely(inner) => inner.clone(),
        _ => e,
    }
}

fn ramp_by_uniform(op: BinOp, base: &Expr, stride: &Expr, y: &Expr, lanes: u16) -> Option<Expr> {
    let (base, stride) = (base.clone(), stride.clone());
    match op {
        BinOp::Add | BinOp::Sub => Some(build::ramp(build::binary(op, base, y.clone()), stride, lanes)),
        BinOp::Mul => Some(build::ramp(build::mul(base, y.clone()), build::mul(stride, y.clone()), lanes)),
        BinOp::Div | BinOp::Mod => {
            // Steps that are multiples of the divisor pass through the quotient and vanish from the remainder.
            let (step, by) = (build::as_int(&stride)?, build::as_int(y)?);
            if by <= 0 || step % by != 0 {
                return None;
            }
            let scalar = build::binary(op, base, y.clone());
            Some(if op == BinOp::Mod {
                build::broadcast(scalar, lanes)
            } else {
                build::ramp(scalar, build::int(step / by), lanes)
            })
        }
        _ => None,
    }
}

fn uniform_by_ramp(op: BinOp, x: &Expr, base: &Expr, stride: &Expr, lanes: u16) -> Option<Expr> {
    match op {
        BinOp::Add | BinOp::Mul => ramp_by_uniform(op, base, stride, x, lanes),
        BinOp::Sub => {
            let down = build::sub(build::int(0), stride.clone());
            Some(build::ramp(build::sub(x.clone(), base.clone()), down, lanes))
        }
        _ => None,
    }
}

fn ramp_by_ramp(op: BinOp, (p, s): (Expr, Expr), (q, t): (Expr, Expr), lanes: u16) -> Option<Expr> {
    match op {
        BinOp::Add | BinOp::Sub => Some(build::ramp(build::binary(op, p, q), build::binary(op, s, t), lanes)),
        BinOp::Min | BinOp::Max if s == t => Some(build::ramp(build::binary(op, p, q), s, lanes)),
        _ if op.is_comparison() && s == t => Some(build::broadcast(build::binary(op, p, q), lanes)),
        _ => None,
    }
}

/// The node `e` with every child replaced by `f(child)`, whose lanes may change, in the shape-keeping arithmetic above.
pub(crate) fn map_children(e: &Expr, mut f: impl FnMut(&Expr) -> Expr) -> Expr {
    match e.kind() {
        ExprKind::Binary(op, a, b) => {
            let (x, y) = (f(a), f(b));
            if x.id() == a.id() && y.id() == b.id() && x.lanes() == 1 { e.clone() } else { binary(*op, x, y) }
        }
        ExprKind::Unary(..) | ExprKind::Cast(_) | ExprKind::SaturatingCast(_) | ExprKind::Reinterpret(_) => {
            let made = visit::map_children(e, f);
            lift_uniform(made)
        }
        _ => visit::map_children(e, f),
    }
}

/// A one-operand node of a broadcast becomes the broadcast of the node.
fn lift_uniform(e: Expr) -> Expr {
    let mut inner = None;
    visit::for_each_child(&e, |c| inner = uniform(c).filter(|_| c.lanes() > 1));
    match inner {
        Some(scalar) => build::broadcast(visit::map_children(&e, |_| scalar.clone()), e.lanes()),
        None => e,
    }
}

/// Lane `i` of `e` as a scalar.
pub(crate) fn lane(e: &Expr, i: u16) -> Expr {
    lane_to_depth(e, i, 6)
}

fn lane_to_depth(e: &Expr, i: u16, depth: u32) -> Expr {
    match shape(e) {
        Shape::Uniform(a) => a,
        Shape::Ramp(base, stride) => build::add(base, build::mul(stride, build::int(i64::from(i)))),
        // A little arithmetic on conditions and indices is cheaper on one lane than that lane is to take out.
        Shape::General if depth > 0 && (e.ty().is_bool() || e.ty().is_index()) => match e.kind() {
            ExprKind::Binary(op, a, b) => {
                build::binary(*op, lane_to_depth(a, i, depth - 1), lane_to_depth(b, i, depth - 1))
            }
            ExprKind::Likely(a) => lane_to_depth(a, i, depth),
            _ => build::shuffle(vec![e.clone()], vec![i]),
        },
        Shape::General => match e.kind() {
            // A coordinate as a value.
            ExprKind::Cast(of) if of.ty().is_index() => visit::map_children(e, |of| lane_to_depth(of, i, depth)),
            _ => build::shuffle(vec![e.clone()], vec![i]),
        },
    }
}

/// All lanes of `e` joined by `op`, which is associative and commutative on its type, as a scalar.
pub(crate) fn reduce(op: BinOp, e: &Expr) -> Expr {
    if let ExprKind::Likely(a) = e.kind() {
        return build::likely(reduce(op, a));
    }
    if let Some(end) = monotone_end(op, e) {
        return lane(e, end);
    }
    // Conjunctions of conjunctions (and the like) are taken apart: their parts are often monotone.
    if let ExprKind::Binary(same, a, b) = e.kind()
        && *same == op
        && matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::Min | BinOp::Max)
    {
        return build::binary(op, reduce(op, a), reduce(op, b));
    }
    let mut parts: Vec<Expr> = (0..e.lanes()).map(|i| lane(e, i)).collect();
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| pair.iter().cloned().reduce(|a, b| build::binary(op, a, b)).expect("one"))
            .collect();
    }
    parts.pop().expect("a vector has lanes")
}

/// [`reduce`], or the scalar `e` itself.
pub(crate) fn reduce_if_vector(op: BinOp, e: &Expr) -> Expr {
    if e.lanes() == 1 { e.clone() } else { reduce(op, e) }
}

/// The lane that decides a reduction: all lanes are equal, or they grow or fall from one end to the other.
fn monotone_end(op: BinOp, e: &Expr) -> Option<u16> {
    let last = e.lanes() - 1;
    let growth = growth(e)?;
    match op {
        BinOp::Max | BinOp::BitOr => Some(if growth > 0 { last } else { 0 }),
        BinOp::Min | BinOp::BitAnd => Some(if growth < 0 { last } else { 0 }),
        _ => None,
    }
}

/// +1 if lanes grow from the first to the last (false before true), -1 if they fall, 0 if all are equal.
fn growth(e: &Expr) -> Option<i64> {
    let plain = |e: &Expr| if let ExprKind::Likely(of) = e.kind() { of.clone() } else { e.clone() };
    let step = |e: &Expr| match shape(&plain(e)) {
        Shape::Uniform(_) => Some(0),
        Shape::Ramp(_, stride) => build::as_int(&stride),
        Shape::General => None,
    };
    match e.kind() {
        ExprKind::Binary(cmp @ (BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge), a, b) if a.ty().is_index() => {
            let slope = step(b)?.checked_sub(step(a)?)?.signum();
            Some(if matches!(cmp, BinOp::Lt | BinOp::Le) { slope } else { -slope })
        }
        _ => Some(step(e)?.signum()),
    }
}

/// Returns true if all lanes of a mask that hold come before all others, as far as its form says.
pub(crate) fn holds_first(mask: &Expr) -> bool {
    match mask.kind() {
        ExprKind::Likely(of) => holds_first(of),
        ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr, a, b) => holds_first(a) && holds_first(b),
        _ => growth(mask).is_some_and(|growth| growth <= 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::{LoopId, Sym};

    fn x() -> Expr {
        build::loop_var(LoopId(0))
    }

    fn ramp(base: Expr, stride: i64) -> Expr {
        build::ramp(base, build::int(stride), 8)
    }

    #[test]
    fn ramps_stay_ramps() {
        let sum = binary(BinOp::Add, ramp(x(), 1), build::int(3));
        assert_eq!(sum, ramp(build::offset(x(), 3), 1));
        let scaled = binary(BinOp::Mul, build::int(2), ramp(x(), 1));
        assert_eq!(scaled, ramp(build::mul(x(), build::int(2)), 2));
        let down = binary(BinOp::Sub, build::int(7), ramp(x(), 1));
        assert_eq!(down, ramp(build::sub(build::int(7), x()), -1));
        let halves = binary(BinOp::Div, ramp(x(), 4), build::int(2));
        assert_eq!(halves, ramp(build::div(x(), build::int(2)), 2));
        let odd = binary(BinOp::Mod, ramp(x(), 4), build::int(2));
        assert_eq!(odd, build::broadcast(build::rem(x(), build::int(2)), 8));
        let equal = binary(BinOp::Sub, ramp(x(), 1), ramp(build::int(5), 1));
        assert_eq!(equal, build::broadcast(build::sub(x(), build::int(5)), 8));
    }

    #[test]
    fn reductions_of_monotone_conditions_look_at_one_lane() {
        let n = build::sym(Sym::Temp(0));
        let all = reduce(BinOp::BitAnd, &binary(BinOp::Lt, ramp(x(), 1), n.clone()));
        assert_eq!(all, build::lt(build::offset(x(), 7), n.clone()));
        let any = reduce(BinOp::BitOr, &binary(BinOp::Lt, ramp(x(), 1), n.clone()));
        assert_eq!(any, build::lt(x(), n.clone()));
        let any = reduce(BinOp::BitOr, &binary(BinOp::Gt, ramp(x(), 1), n.clone()));
        assert_eq!(any, build::gt(build::offset(x(), 7), n));
    }

    #[test]
    fn masks_of_tails_hold_first() {
        let n = build::sym(Sym::Temp(0));
        let (below, above) = (binary(BinOp::Lt, ramp(x(), 1), n.clone()), binary(BinOp::Ge, ramp(x(), 1), n.clone()));
        assert!(holds_first(&below) && holds_first(&build::likely(below.clone())));
        assert!(holds_first(&build::and(below.clone(), binary(BinOp::Gt, n.clone(), ramp(x(), 2)))));
        assert!(holds_first(&binary(BinOp::Lt, build::likely(ramp(x(), 1)), n.clone())));
        assert!(!holds_first(&above) && !holds_first(&build::and(below.clone(), above)));
        assert!(!holds_first(&binary(BinOp::Eq, ramp(x(), 1), n.clone())) && !holds_first(&build::not(below)));
        assert!(holds_first(&build::broadcast(build::lt(x(), n), 8)));
    }

    #[test]
    fn reductions_of_constants_fold() {
        assert_eq!(reduce(BinOp::Max, &ramp(build::int(3), -2)), build::int(3));
        assert_eq!(reduce(BinOp::Min, &ramp(build::int(3), -2)), build::int(-11));
        assert_eq!(reduce(BinOp::Add, &ramp(build::int(0), 1)), build::int(28));
    }
}

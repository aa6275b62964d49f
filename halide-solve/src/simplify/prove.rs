//! Proving conditions: as simplification decides them, with more effort and with the values of let-bound symbols.

use super::bound_query::{Definitions, LITTLE, expand};
use super::expr::simplify;
use super::facts::Facts;
use super::linear::Linear;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::{Expr, ExprKind, build};

/// Returns true if the scalar condition `cond` holds under `facts`; `false` if that is not known.
pub fn prove(cond: &Expr, facts: &Facts) -> bool {
    decide(&simplify(cond, facts), true, facts)
}

/// Returns true if `cond` is known to be `goal`.
fn decide(cond: &Expr, goal: bool, facts: &Facts) -> bool {
    if let Some(value) = build::as_bool(cond) {
        return value == goal;
    }
    match cond.kind() {
        ExprKind::Unary(UnOp::Not, a) => decide(a, !goal, facts),
        ExprKind::Likely(a) => decide(a, goal, facts),
        ExprKind::Binary(op @ (BinOp::BitAnd | BinOp::BitOr), a, b) if cond.ty().is_bool() => {
            let all = (*op == BinOp::BitAnd) == goal;
            let first = decide(a, goal, facts);
            if all { first && decide(b, goal, facts) } else { first || decide(b, goal, facts) }
        }
        ExprKind::Binary(op, a, b) if op.is_comparison() && a.ty() == halide_ir::Type::INDEX => {
            let difference = Linear::of(a).minus(&Linear::of(b));
            difference.is_some_and(|d| decide_difference(*op, &d, goal, facts))
        }
        _ => false,
    }
}

/// Returns true if `difference op 0` is known to be `goal`.
fn decide_difference(op: BinOp, difference: &Linear, goal: bool, facts: &Facts) -> bool {
    let mut decided = false;
    expand(difference, facts, Definitions::OfFacts, LITTLE, |bounder, sum| {
        decided = match (op, goal) {
            (BinOp::Lt, true) | (BinOp::Ge, false) => bounder.at_most(sum, -1),
            (BinOp::Le, true) | (BinOp::Gt, false) => bounder.at_most(sum, 0),
            (BinOp::Gt, true) | (BinOp::Le, false) => bounder.at_least(sum, 1),
            (BinOp::Ge, true) | (BinOp::Lt, false) => bounder.at_least(sum, 0),
            (BinOp::Eq, true) | (BinOp::Ne, false) => bounder.at_most(sum, 0) && bounder.at_least(sum, 0),
            (BinOp::Ne, true) | (BinOp::Eq, false) => bounder.at_most(sum, -1) || bounder.at_least(sum, 1),
            _ => false,
        };
        decided
    });
    decided
}

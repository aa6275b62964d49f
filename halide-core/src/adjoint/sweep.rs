//! The reverse sweep over the values of one definition: from their adjoints to those of what they read.

use super::activity::{Activity, Target};
use super::builder::Builder;
use super::derivative::{Share, partials};
use crate::ids::ExprId;
use crate::ops::{BinOp, UnOp};
use crate::pipeline::Kind;
use std::collections::BTreeMap;

/// The derivative of the loss by a value: `value` where `guard` holds, else zero, whatever `value` is there. So an arm
/// that is not taken adds nothing, even if its derivative is infinite or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Adjoint {
    pub(super) guard: Option<ExprId>,
    pub(super) value: ExprId,
}

impl Adjoint {
    /// The adjoint as one expression.
    pub(super) fn expr(self, b: &mut Builder) -> ExprId {
        match self.guard {
            None => self.value,
            Some(guard) => {
                let zero = b.float(b.ty(self.value), 0.0);
                b.select(guard, self.value, zero)
            }
        }
    }

    fn plus(self, other: Adjoint, b: &mut Builder) -> Adjoint {
        if self.guard == other.guard {
            return Adjoint { guard: self.guard, value: b.binary(BinOp::Add, self.value, other.value) };
        }
        let guard = match (self.guard, other.guard) {
            (Some(p), Some(q)) => Some(b.binary(BinOp::BitOr, p, q)),
            _ => None,
        };
        let (p, q) = (self.expr(b), other.expr(b));
        Adjoint { guard, value: b.binary(BinOp::Add, p, q) }
    }
}

/// An operation without a derivative.
pub(super) struct NotSmooth(pub(super) ExprId);

/// Returns the adjoints of what the values `roots` read, given their own, in order of ids.
pub(super) fn sweep(
    b: &mut Builder,
    activity: &Activity,
    roots: &[(ExprId, Adjoint)],
) -> Result<Vec<(ExprId, Adjoint)>, NotSmooth> {
    let values: Vec<ExprId> = roots.iter().map(|(value, _)| *value).collect();
    let active = activity.nodes(&b.data, &values);
    let mut adjoints: BTreeMap<ExprId, Adjoint> = BTreeMap::new();
    for &(value, seed) in roots {
        accumulate(b, &mut adjoints, value, seed);
    }
    let mut leaves = Vec::new();
    // Operands have smaller ids than what uses them, so every use of a node is done before the node.
    for (&e, _) in active.iter().rev().filter(|(_, is_active)| **is_active) {
        let Some(adjoint) = adjoints.remove(&e) else { continue };
        if Target::of(&b.data.exprs[e].kind).is_some() {
            leaves.push((e, adjoint));
            continue;
        }
        for partial in partials(b, e).ok_or(NotSmooth(e))? {
            if !active[&partial.operand] {
                continue;
            }
            // Bits of a float that have been made a number.
            if !b.ty(partial.operand).is_float() {
                return Err(NotSmooth(e));
            }
            let value = share(b, adjoint.value, partial.share, partial.operand);
            let guard = b.and(adjoint.guard, partial.guard);
            accumulate(b, &mut adjoints, partial.operand, Adjoint { guard, value });
        }
    }
    leaves.reverse();
    Ok(leaves)
}

fn accumulate(b: &mut Builder, adjoints: &mut BTreeMap<ExprId, Adjoint>, e: ExprId, more: Adjoint) {
    let sum = match adjoints.remove(&e) {
        Some(known) => known.plus(more, b),
        None => more,
    };
    adjoints.insert(e, sum);
}

fn share(b: &mut Builder, adjoint: ExprId, share: Share, operand: ExprId) -> ExprId {
    match share {
        Share::Same => adjoint,
        Share::Negated => b.unary(UnOp::Neg, adjoint),
        Share::Times(factor) => b.times(adjoint, factor),
        Share::Over(divisor) => b.binary(BinOp::Div, adjoint, divisor),
        Share::Converted => match (b.ty(adjoint), b.ty(operand)) {
            (from, to) if from == to => adjoint,
            (_, to) => b.node(Kind::Cast(adjoint), to),
        },
    }
}

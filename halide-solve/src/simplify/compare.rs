//! Comparisons of Index sums.
//!
//! Both sides are brought together into `t <= c`, `t == 0` or `t != 0`, decided if the range of `t` decides it, and
//! written down in one way: common factors divided out, positive terms to the left, negative ones to the right.

use super::facts::Facts;
use super::linear::{Form, Linear, Terms};
use super::min_max::{all_at_most, upper_of_lanes};
use super::relational_bounds::Bounder;
use crate::tuning::COMPARE_FUEL;
use halide_core::ops::BinOp;
use halide_ir::build::{self, as_int};
use halide_ir::{Expr, ExprKind};

/// `a op b`, simplified.
pub(super) fn compare(op: BinOp, a: &Form, b: &Form, facts: &Facts) -> Option<Expr> {
    match op {
        BinOp::Lt => at_most(a.minus(b)?, -1, facts),
        BinOp::Le => at_most(a.minus(b)?, 0, facts),
        BinOp::Gt => at_most(b.minus(a)?, -1, facts),
        BinOp::Ge => at_most(b.minus(a)?, 0, facts),
        BinOp::Eq => equal(a.minus(b)?, facts),
        BinOp::Ne => Some(negated(equal(a.minus(b)?, facts)?)),
        _ => None,
    }
}

fn negated(cond: Expr) -> Expr {
    match cond.kind() {
        ExprKind::Broadcast(inner) => build::broadcast(build::not(inner.clone()), cond.lanes()),
        _ => build::not(cond),
    }
}

/// `form <= limit`.
fn at_most(form: Form, limit: i64, facts: &Facts) -> Option<Expr> {
    let lanes = form.lanes;
    if lanes > 1 && form.is_uniform() {
        return Some(build::broadcast(at_most(Form::uniform(form.base, 1), limit, facts)?, lanes));
    }
    let truth = |value: bool| Some(build::broadcast(build::boolean(value), lanes));
    if all_at_most(&form, limit as i128, facts, COMPARE_FUEL) {
        return truth(true);
    }
    if form.scale(-1).is_some_and(|f| all_at_most(&f, -(limit as i128) - 1, facts, COMPARE_FUEL)) {
        return truth(false);
    }
    let (mut form, mut limit) = (form, limit);
    // Dividing by the common factor and opening a quotient can each make room for the other.
    loop {
        limit = limit.checked_sub(form.base.constant)?;
        form.base.constant = 0;
        let content = form.content();
        if content == 0 {
            return truth(0 <= limit);
        }
        if content > 1 {
            limit = limit.div_euclid(content);
            form = divide_exactly(&form, content)?;
        }
        match open_quotient(&form, limit) {
            Some(opened) => (form, limit) = opened,
            None => break,
        }
    }
    if form.lanes == 1
        && let Some(simpler) = drop_arm(&form.base, limit, facts)
    {
        return at_most(Form::uniform(simpler, 1), limit, facts);
    }
    write_at_most(form, limit)
}

fn divide_exactly(form: &Form, by: i64) -> Option<Form> {
    Some(Form {
        lanes: form.lanes,
        vector: form.vector.iter().map(|(a, c)| (a.clone(), c / by)).collect(),
        base: form.base.divide_exactly(by)?,
        stride: form.stride.divide_exactly(by)?,
    })
}

/// `n / d <= c` as `n <= c * d + d - 1`, and `-(n / d) <= c` as `-n <= c * d`.
fn open_quotient(form: &Form, limit: i64) -> Option<(Form, i64)> {
    let (atom, c) = match (&form.base.terms[..], &form.vector[..]) {
        ([term], []) if form.stride == Linear::default() => term,
        ([], [term]) if form.stride == Linear::default() => term,
        _ => return None,
    };
    let ExprKind::Binary(BinOp::Div, n, d) = atom.kind() else { return None };
    let d = as_int(d).filter(|d| *d > 0)?;
    match c {
        1 => Some((Form::of(n), limit.checked_mul(d)?.checked_add(d - 1)?)),
        -1 => Some((Form::of(n).scale(-1)?, limit.checked_mul(d)?)),
        _ => None,
    }
}

/// Drops an arm of `min(a, b) <= limit` that never is that small, or one of `max(a, b) <= limit` that always is;
/// likewise of `-max` and `-min`. Returns the sum with the other arm.
fn drop_arm(sum: &Linear, limit: i64, facts: &Facts) -> Option<Linear> {
    for (atom, c) in &sum.terms {
        let ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) = atom.kind() else { continue };
        let rest = sum.without(atom);
        let (Some(with_a), Some(with_b)) = (rest.plus_scaled(&Linear::of(a), *c), rest.plus_scaled(&Linear::of(b), *c))
        else {
            continue;
        };
        let any = (*op == BinOp::Min) == (*c > 0);
        let decided = |s: &Linear| {
            let mut bounder = Bounder::new(facts, COMPARE_FUEL);
            // An arm that cannot help a disjunction, or cannot hurt a conjunction.
            if any { bounder.at_least(s, limit as i128 + 1) } else { bounder.at_most(s, limit as i128) }
        };
        match () {
            _ if decided(&with_a) => return Some(with_b),
            _ if decided(&with_b) => return Some(with_a),
            _ => {}
        }
    }
    None
}

/// `form <= limit` where `form` has no constant, with positive terms to the left and negative ones to the right.
fn write_at_most(form: Form, limit: i64) -> Option<Expr> {
    let (left, right) = sides(&form)?;
    let constant = |v: i64| build::broadcast(build::int(v), form.lanes);
    let is_zero = |f: &Form| f.as_constant() == Some(0);
    Some(match limit {
        _ if is_zero(&right) => build::le(left.to_expr(), constant(limit)),
        _ if is_zero(&left) => build::ge(right.to_expr(), constant(limit.checked_neg()?)),
        -1 => build::lt(left.to_expr(), right.to_expr()),
        0.. => build::le(left.to_expr(), with_constant(right, limit)?.to_expr()),
        _ => build::le(with_constant(left, limit.checked_neg()?)?.to_expr(), right.to_expr()),
    })
}

/// `form == 0`.
fn equal(form: Form, facts: &Facts) -> Option<Expr> {
    let lanes = form.lanes;
    if lanes > 1 && form.is_uniform() {
        return Some(build::broadcast(equal(Form::uniform(form.base, 1), facts)?, lanes));
    }
    let truth = |value: bool| Some(build::broadcast(build::boolean(value), lanes));
    let above = form.scale(-1).and_then(|f| upper_of_lanes(&f, facts, COMPARE_FUEL)).map(|v| -v);
    let below = upper_of_lanes(&form, facts, COMPARE_FUEL);
    match (above, below) {
        (Some(0), Some(0)) => return truth(true),
        (Some(least), _) if least > 0 => return truth(false),
        (_, Some(most)) if most < 0 => return truth(false),
        _ => {}
    }
    let content = form.content();
    if content == 0 {
        return truth(form.base.constant == 0);
    }
    if form.base.constant % content != 0 {
        return truth(false);
    }
    if form.lanes == 1 {
        let congruence = facts.sum_congruence(&form.base);
        if congruence.modulus() > 1 && congruence.remainder() != 0 {
            return truth(false);
        }
    }
    let form = divide_exactly(&form, content)?;
    // The first term is made positive, so that both orders of the sides give one form.
    let first = form.base.terms.first().or(form.vector.first()).map_or(1, |(_, c)| *c);
    let form = if first < 0 { form.scale(-1)? } else { form };
    let constant = form.base.constant;
    let mut unshifted = form;
    unshifted.base.constant = 0;
    let (left, right) = sides(&unshifted)?;
    Some(build::eq(left.to_expr(), with_constant(right, constant.checked_neg()?)?.to_expr()))
}

/// `form` as the difference of two forms without negative coefficients; a ramp stays to the left.
fn sides(form: &Form) -> Option<(Form, Form)> {
    let positive = |terms: &[(Expr, i64)], sign: i64| -> Option<Terms> {
        terms
            .iter()
            .filter(|(_, c)| (*c > 0) == (sign > 0))
            .map(|(a, c)| Some((a.clone(), c.checked_mul(sign)?)))
            .collect()
    };
    let side = |sign: i64, stride: Linear| -> Option<Form> {
        Some(Form {
            lanes: form.lanes,
            vector: positive(&form.vector, sign)?,
            base: Linear { terms: positive(&form.base.terms, sign)?, constant: 0 },
            stride,
        })
    };
    Some((side(1, form.stride.clone())?, side(-1, Linear::default())?))
}

fn with_constant(mut form: Form, constant: i64) -> Option<Form> {
    form.base.constant = form.base.constant.checked_add(constant)?;
    Some(form)
}

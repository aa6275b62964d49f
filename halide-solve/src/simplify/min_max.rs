//! Minima and maxima of Index sums.
//!
//! A minimum is kept as a list: nested ones are joined, an operand that cannot be the smallest is dropped, and what all
//! operands share (terms, a constant, a factor) is moved outside, so that `min(x + 3, y + 3)` and `min(x, y) + 3` have
//! one form. A minimum of a maximum of constants becomes a maximum of a minimum, so that nested clamps join.

use super::facts::Facts;
use super::linear::{Form, Linear, Terms, compare_atoms};
use super::range::gcd;
use super::relational_bounds::Bounder;
use crate::tuning::{MIN_MAX_FUEL, MOST_COMPARED};
use halide_core::ops::BinOp;
use halide_ir::build::{self, as_int};
use halide_ir::{Expr, ExprKind};
use std::cmp::Ordering;

/// The smallest (`op` is `Min`) or largest (`Max`) of `operands`.
pub(super) fn extreme(op: BinOp, operands: Vec<Form>, facts: &Facts) -> Option<Form> {
    let lanes = operands.first()?.lanes;
    let mut list: Vec<Form> = Vec::new();
    for operand in operands {
        flatten_lanes(op, operand, &mut list);
    }
    // What is the same in every lane is one operand.
    let (uniform, mut list): (Vec<Form>, Vec<Form>) = list.into_iter().partition(Form::is_uniform);
    if !uniform.is_empty() {
        let sums = uniform.into_iter().map(|f| f.base).collect();
        list.insert(0, Form::uniform(extreme_sum(op, sums, facts)?, lanes));
    }
    let mut list = prune(op, list, |a, b| lanes_at_most(a, b, facts));
    if list.len() == 1 {
        return list.pop();
    }
    list.sort_by(|a, b| order(&a.base, &b.base).then(a.vector.len().cmp(&b.vector.len())).then_with(|| by_hash(a, b)));
    let all = list.iter().map(Form::to_expr).reduce(|a, b| build::binary(op, a, b))?;
    Some(Form::of(&facts.cache.borrow_mut().share(all)))
}

fn by_hash(a: &Form, b: &Form) -> Ordering {
    a.to_expr().structural_hash().cmp(&b.to_expr().structural_hash())
}

/// The smallest or largest of scalar Index expressions in normal form, of however many at once.
pub(super) fn extreme_of_many(op: BinOp, operands: &[Expr], facts: &Facts) -> Option<Expr> {
    Some(extreme_sum(op, operands.iter().map(Linear::of).collect(), facts)?.to_expr())
}

/// Returns true if `e`, in normal form, has more operands than are compared with each other.
pub(super) fn is_long(op: BinOp, e: &Expr) -> bool {
    operands_up_to(op, &Linear::of(e), MOST_COMPARED + 1) > MOST_COMPARED
}

/// Counts the operands of a sum in normal form, up to `most`.
fn operands_up_to(op: BinOp, sum: &Linear, most: usize) -> usize {
    let mut count = 1;
    let mut rest = sum.clone();
    while count < most
        && let Some((first, _)) = last_operand(op, &rest)
    {
        count += 1;
        rest = first;
    }
    count
}

/// A sum that is a minimum or maximum in normal form as what its last operand is joined to, and that.
fn last_operand(op: BinOp, sum: &Linear) -> Option<(Linear, Linear)> {
    let inside = |sum: &Linear| match &sum.terms[..] {
        [(atom, 1)] => match atom.kind() {
            ExprKind::Binary(inner, a, b) if *inner == op => Some((a.clone(), b.clone())),
            _ => None,
        },
        _ => None,
    };
    let (a, b) = inside(sum)?;
    let (a, b) = (Linear::of(&a).offset(sum.constant)?, Linear::of(&b).offset(sum.constant)?);
    // Which side it stands on, the order of the two says.
    if inside(&b).is_some() { Some((b, a)) } else { Some((a, b)) }
}

/// Appends an operand that comes behind all operands of a long one that is in normal form: nothing before it changes.
/// Without this, an expression of n operands, which is n deep, would be taken apart and put together n times.
fn append(op: BinOp, operands: &[Linear], facts: &Facts) -> Option<Linear> {
    let [all, next] = operands else { return None };
    let (_, last) = last_operand(op, all)?;
    let behind = last_operand(op, next).is_none() && order(&last, next).is_lt();
    if !behind || operands_up_to(op, all, MOST_COMPARED) < MOST_COMPARED {
        return None;
    }
    combine_two(op, all.clone(), next.clone(), facts)
}

fn extreme_sum(op: BinOp, operands: Vec<Linear>, facts: &Facts) -> Option<Linear> {
    if let Some(longer) = append(op, &operands, facts) {
        return Some(longer);
    }
    let mut list = Vec::new();
    for operand in operands {
        flatten(op, operand, &mut list)?;
    }
    let list = prune(op, list, |a, b| at_most(a, b, facts));
    if let Some(swapped) = swap_clamp(op, &list, facts) {
        return Some(swapped);
    }
    combine(op, list, facts)
}

/// The operands of nested ones: of `min(a, b) * 2 + 3` under `min`, `a * 2 + 3` and `b * 2 + 3`.
fn flatten(op: BinOp, operand: Linear, list: &mut Vec<Linear>) -> Option<()> {
    if let [(atom, c)] = &operand.terms[..]
        && *c > 0
        && let ExprKind::Binary(inner, a, b) = atom.kind()
        && *inner == op
    {
        for arm in [a, b] {
            flatten(op, Linear::of(arm).scale(*c)?.offset(operand.constant)?, list)?;
        }
        return Some(());
    }
    list.push(operand);
    Some(())
}

fn flatten_lanes(op: BinOp, operand: Form, list: &mut Vec<Form>) {
    if let [(atom, 1)] = &operand.vector[..]
        && operand.base == Linear::default()
        && operand.stride == Linear::default()
        && let ExprKind::Binary(inner, a, b) = atom.kind()
        && *inner == op
    {
        flatten_lanes(op, Form::of(a), list);
        flatten_lanes(op, Form::of(b), list);
    } else {
        list.push(operand);
    }
}

/// Drops every operand that another one makes superfluous.
fn prune<T: PartialEq>(op: BinOp, list: Vec<T>, at_most: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let compared = list.len() <= MOST_COMPARED;
    let wins = |a: &T, b: &T| a == b || (compared && if op == BinOp::Min { at_most(a, b) } else { at_most(b, a) });
    let mut kept: Vec<T> = Vec::new();
    for operand in list {
        if kept.iter().any(|k| wins(k, &operand)) {
            continue;
        }
        kept.retain(|k| !wins(&operand, k));
        kept.push(operand);
    }
    kept
}

/// Returns true if `a <= b` always.
pub(super) fn at_most(a: &Linear, b: &Linear, facts: &Facts) -> bool {
    let Some(difference) = a.minus(b) else { return false };
    Bounder::new(facts, MIN_MAX_FUEL).at_most(&difference, 0)
}

fn lanes_at_most(a: &Form, b: &Form, facts: &Facts) -> bool {
    a.minus(b).is_some_and(|difference| all_at_most(&difference, 0, facts, MIN_MAX_FUEL))
}

/// Returns true if no lane of `form` is ever above `limit`.
pub(super) fn all_at_most(form: &Form, limit: i128, facts: &Facts, fuel: u32) -> bool {
    if form.vector.is_empty() && form.stride == Linear::default() {
        return Bounder::new(facts, fuel).at_most(&form.base, limit);
    }
    upper_of_lanes(form, facts, fuel).is_some_and(|most| most <= limit)
}

/// An upper bound of every lane of `form`.
pub(super) fn upper_of_lanes(form: &Form, facts: &Facts, fuel: u32) -> Option<i128> {
    let mut bounder = Bounder::new(facts, fuel);
    let mut most = bounder.upper(&form.base)?;
    // A ramp is largest in its first or last lane.
    if form.stride != Linear::default() {
        most = most.max(bounder.upper(&form.base.plus_scaled(&form.stride, form.lanes as i64 - 1)?)?);
    }
    form.vector.iter().try_fold(most, |sum, (atom, c)| Some(sum + facts.known(atom).range.scale(*c).max()?))
}

/// `min(max(a, c), d)` with constants c <= d as `max(min(a, d), c)`.
fn swap_clamp(op: BinOp, list: &[Linear], facts: &Facts) -> Option<Linear> {
    let [a, b] = list else { return None };
    let (clamped, outer) = match (a.as_constant(), b.as_constant()) {
        (None, Some(d)) if op == BinOp::Min => (a, d),
        (Some(d), None) if op == BinOp::Min => (b, d),
        _ => return None,
    };
    let [(atom, 1)] = &clamped.terms[..] else { return None };
    let ExprKind::Binary(BinOp::Max, x, y) = atom.kind() else { return None };
    let inner = as_int(y)?.checked_add(clamped.constant)?;
    if inner > outer {
        return None;
    }
    let below = extreme_sum(BinOp::Min, vec![Linear::of(x).offset(clamped.constant)?, Linear::constant(outer)], facts)?;
    extreme_sum(BinOp::Max, vec![below, Linear::constant(inner)], facts)
}

/// The normal form of operands of which none is superfluous: in order, each joined to those before it.
fn combine(op: BinOp, mut list: Vec<Linear>, facts: &Facts) -> Option<Linear> {
    list.sort_by(order);
    let compared = list.len() <= MOST_COMPARED;
    let mut rest = list.into_iter();
    let first = rest.next()?;
    // That of the first two none is superfluous is known already.
    let Some(second) = rest.next() else { return Some(first) };
    rest.try_fold(combine_two(op, first, second, facts)?, |all, next| {
        // What is joined may make superfluous what none of its operands did.
        let wins =
            |all: &Linear| if op == BinOp::Min { at_most(all, &next, facts) } else { at_most(&next, all, facts) };
        if compared && wins(&all) { Some(all) } else { combine_two(op, all, next, facts) }
    })
}

/// Joins two operands: the terms that they share come out; what is left is an atom.
fn combine_two(op: BinOp, a: Linear, b: Linear, facts: &Facts) -> Option<Linear> {
    let shared: Terms = a.terms.iter().filter(|(atom, c)| b.coefficient(atom) == *c).cloned().collect();
    if !shared.is_empty() {
        let outside = Linear { terms: shared, constant: 0 };
        let inside = extreme_sum(op, vec![a.minus(&outside)?, b.minus(&outside)?], facts)?;
        return outside.plus(&inside);
    }
    let (a, b) = if order(&a, &b).is_le() { (a, b) } else { (b, a) };
    let constant = a.constant;
    let (a, b) = (a.without_constant(), b.offset(constant.checked_neg()?)?);
    let content = gcd(a.content(), gcd(b.content(), b.constant));
    let inside = if content > 1 {
        extreme_sum(op, vec![a.divide_exactly(content)?, b.divide_exactly(content)?], facts)?.scale(content)?
    } else {
        Linear::of(&facts.cache.borrow_mut().share(build::binary(op, a.to_expr(), b.to_expr())))
    };
    inside.offset(constant)
}

/// A fixed order of operands: by their first atoms, constants last.
fn order(a: &Linear, b: &Linear) -> Ordering {
    match (a.terms.is_empty(), b.terms.is_empty()) {
        (true, true) => return a.constant.cmp(&b.constant),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        _ => {}
    }
    for ((x, c), (y, d)) in a.terms.iter().zip(&b.terms) {
        let first = if x == y { c.cmp(d) } else { compare_atoms(x, y) };
        if first.is_ne() {
            return first;
        }
    }
    a.terms.len().cmp(&b.terms.len()).then(a.constant.cmp(&b.constant))
}

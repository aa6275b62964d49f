//! Simplifying an expression: every node once, children first.

use super::cast::simplify_cast;
use super::compare::compare;
use super::facts::Facts;
use super::index::{divide, join_quotients, multiply, remainder};
use super::lanes::simplify_lanes;
use super::linear::{Form, Linear, Terms};
use super::min_max::{self, extreme};
use super::range::Range;
use super::rules::{commutes, rewrite};
use super::walk::postorder;
use crate::tuning::ALIAS_TERMS;
use halide_core::ops::{BinOp, UnOp};
use halide_core::value::Scalar;
use halide_ir::build;
use halide_ir::visit::{for_each_child, map_children};
use halide_ir::{Elem, Expr, ExprKind, Sym, Type};

/// `e` in normal form: the same value under `facts`, in no more work. Simplifying the result again changes nothing.
pub fn simplify(e: &Expr, facts: &Facts) -> Expr {
    if is_constant(e) || facts.leaves(e) {
        return e.clone();
    }
    facts.memory.simple(facts.state, e).unwrap_or_else(|| {
        let simple = simplify_now(e, facts);
        facts.memory.keep(facts.state, e, &simple);
        simple
    })
}

/// As [`simplify`], of parts of what is simplified.
fn simplify_now(e: &Expr, facts: &Facts) -> Expr {
    if is_constant(e) || facts.leaves(e) {
        return e.clone();
    }
    if let Some(simple) = facts.cache.borrow().simple(e) {
        return simple.clone();
    }
    let is_simple = |e: &Expr| is_constant(e) || facts.leaves(e) || facts.cache.borrow().simple(e).is_some();
    postorder(e, is_simple, |e| {
        facts.memory.count_visit();
        // Over children that are shared it is shared itself, and what was found of an equal one is found by its
        // address.
        let shared = facts.share(map_children(e, |c| simple_child(c, facts)));
        let found = match shared.id() == e.id() {
            true => None,
            false => facts.cache.borrow().simple(&shared).cloned(),
        };
        let simple = found.unwrap_or_else(|| {
            let simple = facts.share(settle(simplify_node(&shared, facts), facts));
            let mut cache = facts.cache.borrow_mut();
            if simple.id() != shared.id() && shared.id() != e.id() {
                cache.set_simple(&shared, simple.clone());
            }
            if !(settles(&simple) && facts.leaves(&simple)) {
                cache.set_simple(&simple, simple.clone());
            }
            simple
        });
        if simple.id() != e.id() {
            facts.cache.borrow_mut().set_simple(e, simple);
        }
    });
    if facts.leaves(e) {
        return e.clone();
    }
    facts.cache.borrow().simple(e).expect("just simplified").clone()
}

/// The smallest (`op` is `Min`) or largest (`Max`) of scalar Index expressions, of which there may be many: in normal
/// form.
pub fn extreme_of_many(op: BinOp, operands: &[Expr], facts: &Facts) -> Expr {
    let simple: Vec<Expr> = operands.iter().map(|e| simplify(e, facts)).collect();
    let one_by_one = || simple.iter().cloned().reduce(|a, b| build::binary(op, a, b)).unwrap_or_else(|| build::int(0));
    let all = min_max::extreme_of_many(op, &simple, facts).unwrap_or_else(one_by_one);
    simplify(&all, facts)
}

/// Returns true if `e`, in normal form, is a minimum or maximum of more operands than are compared with each other.
pub fn is_long_extreme(op: BinOp, e: &Expr) -> bool {
    min_max::is_long(op, e)
}

/// Marks `e`, in normal form, as settled, and returns true, if no facts change it but values of what occurs in it:
/// Index sums and products, and data computed from reads and parameters. No range takes a part in their rules, or none
/// that varies.
fn settles(e: &Expr) -> bool {
    if is_settled(e) {
        return true;
    }
    let mut all = match e.kind() {
        ExprKind::Ramp { .. } | ExprKind::Broadcast(_) => true,
        ExprKind::Binary(op, ..) if e.ty().is_index() => matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul),
        ExprKind::Unary(op, _) if e.ty().is_index() => *op == UnOp::Neg,
        ExprKind::Cast(a) => !e.ty().is_index() && !a.ty().is_index(),
        ExprKind::Unary(..) | ExprKind::Binary(..) => !e.ty().is_bool(),
        ExprKind::Select(..) => !e.ty().is_bool() && !e.ty().is_index(),
        ExprKind::SaturatingCast(_) | ExprKind::Reinterpret(_) | ExprKind::Math(..) | ExprKind::Intrinsic(..) => true,
        ExprKind::Read { .. } | ExprKind::Load { .. } | ExprKind::Shuffle(..) => true,
        ExprKind::Sym(_) | ExprKind::Param(_) | ExprKind::Int(_) | ExprKind::Const(_) | ExprKind::Likely(_) => false,
    };
    // The sums of a sum are made with it, and were not looked at on their own.
    let in_sums = e.ty().is_index();
    for_each_child(e, |c| all = all && if in_sums { settles(c) } else { is_settled(c) });
    if all {
        e.set_settled();
    }
    all
}

/// Returns true if `e` is settled. Symbols and parameters are, but are looked up nevertheless: so all expressions that
/// use one share its node.
fn is_settled(e: &Expr) -> bool {
    e.is_settled() || is_constant(e) || matches!(e.kind(), ExprKind::Sym(_) | ExprKind::Param(_))
}

/// Returns true if `e` is a constant: simple as it stands, so that it need not be remembered.
fn is_constant(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Int(_) | ExprKind::Const(_))
}

/// The normal form of a node already known; children are, when their parent's turn comes.
fn simple_child(e: &Expr, facts: &Facts) -> Expr {
    if is_constant(e) || facts.leaves(e) {
        return e.clone();
    }
    facts.cache.borrow().simple(e).expect("children come first").clone()
}

/// A value that only one constant can have is that constant.
fn settle(e: Expr, facts: &Facts) -> Expr {
    let is_float = e.ty().scalar().is_some_and(|t| t.is_float());
    if is_float || matches!(e.kind(), ExprKind::Int(_) | ExprKind::Const(_) | ExprKind::Broadcast(_)) {
        return e;
    }
    if facts.is_open_sum(&e) {
        return e;
    }
    let Some(value) = facts.known(&e).range.as_point() else { return e };
    let constant = match e.ty().elem {
        Elem::Index => i64::try_from(value).ok().map(build::int),
        Elem::Data(ty) => Some(build::constant(Scalar::int(ty, value))),
    };
    constant.map_or(e.clone(), |c| build::broadcast(c, e.lanes()))
}

/// One node over simplified children, shared as they are.
fn simplify_node(e: &Expr, facts: &Facts) -> Expr {
    if let ExprKind::Sym(s) = e.kind() {
        return alias(*s, facts).unwrap_or_else(|| e.clone());
    }
    if let Some(simpler) = simplify_lanes(e) {
        return simplify_now(&simpler, facts);
    }
    let simpler = match e.ty().elem {
        Elem::Index => simplify_index(e, facts),
        Elem::Data(_) => simplify_data(e, facts),
    };
    simpler.unwrap_or_else(|| e.clone())
}

/// The constant, symbol or sum of loop variables that a let-bound symbol is another name of.
fn alias(s: Sym, facts: &Facts) -> Option<Expr> {
    facts.value_of(s).filter(|value| is_name(value)).cloned()
}

/// Returns true if `value` stands in place of the symbols that have it as their value.
pub(super) fn is_name(value: &Expr) -> bool {
    matches!(value.kind(), ExprKind::Int(_) | ExprKind::Const(_) | ExprKind::Sym(_)) || is_sum_of_loops(value)
}

/// Returns true for constant multiples of a few loop variables and a constant: the first coordinate of a tile whose
/// size divides a known extent. Such a sum is distributed over strides wherever it is put in place by other passes; a
/// symbol that stands for it elsewhere would never cancel against it. Sums of variables alone, which windows that slide
/// begin at, keep their symbols: fewer products of strides are left to form.
fn is_sum_of_loops(value: &Expr) -> bool {
    /// Counts variables in a sum in normal form, its last term first, so that long sums end at once.
    fn count(e: &Expr, variables: &mut usize, is_scaled: &mut bool) -> bool {
        match e.kind() {
            ExprKind::Int(_) => true,
            ExprKind::Sym(Sym::Loop(_)) => {
                *variables += 1;
                *variables <= ALIAS_TERMS
            }
            ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) => {
                count(b, variables, is_scaled) && count(a, variables, is_scaled)
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let factor = build::as_int(b);
                *is_scaled |= factor.is_some_and(|f| f.unsigned_abs() != 1);
                factor.is_some() && count(a, variables, is_scaled)
            }
            _ => false,
        }
    }
    let (mut variables, mut is_scaled) = (0, false);
    value.ty() == Type::INDEX && count(value, &mut variables, &mut is_scaled) && variables > 0 && is_scaled
}

/// An Index node; `None` where it stays as it is.
fn simplify_index(e: &Expr, facts: &Facts) -> Option<Expr> {
    let form = match e.kind() {
        ExprKind::Binary(op, a, b) => index_binary(*op, a, b, facts)?,
        ExprKind::Unary(UnOp::Neg, a) => Form::of(a).scale(-1)?,
        ExprKind::Ramp { .. } | ExprKind::Broadcast(_) => Form::of(e),
        ExprKind::Select(c, a, b) => {
            return match rewrite(e, facts) {
                Some(simpler) => Some(simplify_now(&simpler, facts)),
                None => select_index(c, a, b, facts),
            };
        }
        ExprKind::Cast(_) => return Some(simplify_now(&simplify_cast(e, facts)?, facts)),
        _ => return None,
    };
    Some(Form { base: join_quotients(form.base, facts), ..form }.to_expr())
}

fn index_binary(op: BinOp, a: &Expr, b: &Expr, facts: &Facts) -> Option<Form> {
    let (x, y) = (Form::of(a), Form::of(b));
    match op {
        BinOp::Add => x.plus_scaled(&y, 1),
        BinOp::Sub => x.minus(&y),
        BinOp::Mul => multiply(&x, &y, facts),
        BinOp::Div => match y.as_constant() {
            Some(d) => divide(&x, d, facts),
            None => divide_by_sum(&x, &y, facts),
        },
        BinOp::Mod => match y.as_constant() {
            Some(d) => remainder(&x, d, facts),
            None => remainder_by_sum(&x, &y, facts),
        },
        BinOp::Min | BinOp::Max => extreme(op, vec![x, y], facts),
        _ => None,
    }
}

/// `x / y` where `y` varies: 0 where 0 <= x < y, and what `y` multiplies where it is not 0.
fn divide_by_sum(x: &Form, y: &Form, facts: &Facts) -> Option<Form> {
    let (whole, rest) = split_by_sum(x, y)?;
    let zero = is_remainder(&rest, y, facts);
    zero.then(|| Form::uniform(whole, x.lanes))
}

fn remainder_by_sum(x: &Form, y: &Form, facts: &Facts) -> Option<Form> {
    let (_, rest) = split_by_sum(x, y)?;
    is_remainder(&rest, y, facts).then_some(rest)
}

/// `x = y * whole + rest`, as far as the terms of `x` show.
fn split_by_sum(x: &Form, y: &Form) -> Option<(Linear, Form)> {
    if !y.is_uniform() || !y.vector.is_empty() {
        return None;
    }
    let divisor = y.base.to_expr();
    let mut whole = Linear::default();
    let mut rest = x.clone();
    for (atom, c) in &x.base.terms {
        let quotient = match atom.kind() {
            _ if *atom == divisor => Linear::constant(1),
            ExprKind::Binary(BinOp::Mul, a, b) if *a == divisor => Linear::of(b),
            ExprKind::Binary(BinOp::Mul, a, b) if *b == divisor => Linear::of(a),
            _ => continue,
        };
        whole = whole.plus_scaled(&quotient, *c)?;
        rest.base = rest.base.plus_scaled(&Linear::atom(atom.clone()), c.checked_neg()?)?;
    }
    Some((whole, rest))
}

/// Returns true if `0 <= rest < divisor` in every lane.
fn is_remainder(rest: &Form, divisor: &Form, facts: &Facts) -> bool {
    let zero = Form::uniform(Linear::default(), rest.lanes);
    let holds = |op, a: &Form, b: &Form| compare(op, a, b, facts).as_ref().and_then(build::as_bool) == Some(true);
    holds(BinOp::Ge, rest, &zero) && holds(BinOp::Lt, rest, divisor)
}

/// A select of Index: what both arms share comes out, and one that picks the smaller or larger arm says so.
fn select_index(c: &Expr, a: &Expr, b: &Expr, facts: &Facts) -> Option<Expr> {
    if a.lanes() > 1 {
        return None;
    }
    let (x, y) = (Linear::of(a), Linear::of(b));
    if let Some(op) = chosen_extreme(c, &x, &y) {
        let all = extreme(op, vec![Form::uniform(x, 1), Form::uniform(y, 1)], facts)?;
        return Some(all.to_expr());
    }
    let shared = x.terms.iter().filter(|(atom, k)| y.coefficient(atom) == *k).cloned().collect::<Terms>();
    if shared.is_empty() {
        return None;
    }
    let shared = Linear { terms: shared, constant: y.constant };
    let rest = build::select(c.clone(), x.minus(&shared)?.to_expr(), y.minus(&shared)?.to_expr());
    let rest = simplify_now(&rest, facts);
    Some(shared.plus(&Linear::of(&rest))?.to_expr())
}

/// Returns `Min` (or `Max`) if the condition holds just where `x` is the smaller (or larger) of the two; where they are
/// equal it may be either.
fn chosen_extreme(c: &Expr, x: &Linear, y: &Linear) -> Option<BinOp> {
    let ExprKind::Binary(op, a, b) = c.kind() else { return None };
    if a.ty() != Type::INDEX {
        return None;
    }
    // In the form `t <= limit`.
    let (t, limit) = match op {
        BinOp::Lt => (Linear::of(a).minus(&Linear::of(b))?, -1),
        BinOp::Le => (Linear::of(a).minus(&Linear::of(b))?, 0),
        BinOp::Gt => (Linear::of(b).minus(&Linear::of(a))?, -1),
        BinOp::Ge => (Linear::of(b).minus(&Linear::of(a))?, 0),
        _ => return None,
    };
    // x <= y just where t <= limit, or also where t is limit + 1, where then x == y.
    let ties = |sum: Option<Linear>| sum.and_then(|s| s.as_constant()).is_some_and(|k| k == limit || k == limit + 1);
    let smaller = ties(t.minus(&x.minus(y)?));
    let larger = ties(t.minus(&y.minus(x)?));
    match (smaller, larger) {
        (true, _) => Some(BinOp::Min),
        (_, true) => Some(BinOp::Max),
        _ => None,
    }
}

/// A data node; `None` where it stays as it is.
fn simplify_data(e: &Expr, facts: &Facts) -> Option<Expr> {
    if let ExprKind::Binary(op, a, b) = e.kind() {
        if op.is_comparison() && a.ty().is_index() {
            return compare(*op, &Form::of(a), &Form::of(b), facts);
        }
        if op.is_comparison()
            && let Some((a, b)) = as_coordinates(a, b, facts)
        {
            return compare(*op, &Form::of(&a), &Form::of(&b), facts);
        }
        if op.is_comparison()
            && let Some(known) = decided_as_coordinates(*op, a, b, facts)
        {
            return Some(build::boolean(known));
        }
        let (left, right) = (build::as_const(a).is_some(), build::as_const(b).is_some());
        if left && !right && commutes(*op, a) {
            return Some(simplify_now(&build::binary(*op, b.clone(), a.clone()), facts));
        }
    }
    let simpler = simplify_cast(e, facts).or_else(|| rewrite(e, facts))?;
    Some(simplify_now(&simpler, facts))
}

/// Decides a comparison of a coordinate or a parameter with other integers by facts about coordinates: conditions of
/// schedules compare parameters as coordinates. It is not written as one of coordinates, which would cost vectors
/// lanes.
fn decided_as_coordinates(op: BinOp, a: &Expr, b: &Expr, facts: &Facts) -> Option<bool> {
    let is_coordinate = |e: &Expr| matches!(e.kind(), ExprKind::Cast(x) if x.ty().is_index());
    let small = |e: &Expr| e.ty().scalar().is_some_and(|t| t.is_int() && t.bits() <= 32);
    let concerns = is_coordinate(a) != is_coordinate(b) || is_param(a) || is_param(b);
    if a.lanes() > 1 || !small(a) || !concerns {
        return None;
    }
    let value = |e: &Expr| Form::of(&simplify_now(&build::to_index(with_known_param(e, facts)), facts));
    let known = compare(op, &value(a), &value(b), facts)?;
    build::as_bool(&known).or_else(|| known_truth(&known, facts))
}

/// Returns arithmetic of a parameter with its value in place of the parameter, if facts leave one only.
fn with_known_param(e: &Expr, facts: &Facts) -> Expr {
    match (e.kind(), e.ty().scalar()) {
        (ExprKind::Param(_), Some(ty)) => match facts.range_of(&build::to_index(e.clone())).as_point() {
            Some(value) => build::constant(Scalar::int(ty, value)),
            None => e.clone(),
        },
        (ExprKind::Binary(op, a, b), _) if is_param(e) => {
            build::binary(*op, with_known_param(a, facts), with_known_param(b, facts))
        }
        _ => e.clone(),
    }
}

/// Returns true of a parameter, and of arithmetic of one with constants.
fn is_param(e: &Expr) -> bool {
    match e.kind() {
        ExprKind::Param(_) => true,
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod, a, b) => {
            is_param(a) && build::as_const(b).is_some() || build::as_const(a).is_some() && is_param(b)
        }
        _ => false,
    }
}

/// Returns the truth of a condition that was learned, by itself or negated.
fn known_truth(cond: &Expr, facts: &Facts) -> Option<bool> {
    match cond.kind() {
        ExprKind::Unary(UnOp::Not, a) => known_truth(a, facts).map(|holds| !holds),
        _ => facts.truth(cond),
    }
}

/// The operands of a comparison of integers as coordinates, where both were coordinates or constants before.
fn as_coordinates(a: &Expr, b: &Expr, facts: &Facts) -> Option<(Expr, Expr)> {
    let ty = a.ty().scalar().filter(|t| t.is_int())?;
    let source = |e: &Expr| match e.kind() {
        ExprKind::Cast(x) if x.ty().is_index() && facts.range_of(x).within(Range::of_type(ty)) => Some(x.clone()),
        _ => {
            let value = build::as_const(e).and_then(|v| i64::try_from(v.as_i128()).ok())?;
            Some(build::broadcast(build::int(value), e.lanes()))
        }
    };
    Some((source(a)?, source(b)?))
}

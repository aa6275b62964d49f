//! Products, quotients and remainders of Index sums.
//!
//! Every function gives the normal form of its result, or `None` where it would not fit in 64 bits.

use super::facts::Facts;
use super::linear::{Form, Linear, Terms};
use super::range::{Range, gcd};
use halide_core::ops::BinOp;
use halide_ir::build;
use halide_ir::{Expr, ExprKind};

/// `a * b`.
pub(super) fn multiply(a: &Form, b: &Form, facts: &Facts) -> Option<Form> {
    if let Some(c) = b.as_constant() {
        return a.scale(c);
    }
    if let Some(c) = a.as_constant() {
        return b.scale(c);
    }
    let lanes = a.lanes;
    let (varying, uniform) = if b.is_uniform() { (a, b) } else { (b, a) };
    if !uniform.is_uniform() {
        return Some(atom_form(build::mul(a.to_expr(), b.to_expr()), facts));
    }
    let factor = &uniform.base;
    let mut product = Form {
        lanes,
        vector: Terms::new(),
        base: multiply_sums(&varying.base, factor, facts)?,
        stride: multiply_sums(&varying.stride, factor, facts)?,
    };
    for (atom, c) in &varying.vector {
        let content = gcd(factor.content(), factor.constant).max(1);
        let unit = build::broadcast(factor.divide_exactly(content)?.to_expr(), lanes);
        let term = atom_form(build::mul(atom.clone(), unit), facts);
        product = product.plus_scaled(&term, c.checked_mul(content)?)?;
    }
    Some(product)
}

/// The product of scalar sums: their contents multiply, and what is left is an atom.
fn multiply_sums(a: &Linear, b: &Linear, facts: &Facts) -> Option<Linear> {
    match (a.as_constant(), b.as_constant()) {
        (_, Some(c)) => return a.scale(c),
        (Some(c), _) => return b.scale(c),
        _ => {}
    }
    let content = |s: &Linear| gcd(s.content(), s.constant);
    let (ca, cb) = (content(a), content(b));
    let (x, y) = (a.divide_exactly(ca)?.to_expr(), b.divide_exactly(cb)?.to_expr());
    let (x, y) = if super::linear::compare_atoms(&x, &y).is_le() { (x, y) } else { (y, x) };
    share(build::mul(x, y), facts).scale(ca.checked_mul(cb)?)
}

/// `n / d` for a constant divisor.
pub(super) fn divide(n: &Form, d: i64, facts: &Facts) -> Option<Form> {
    match d {
        0 => return Some(Form::uniform(Linear::default(), n.lanes)),
        1 => return Some(n.clone()),
        _ if d < 0 => return divide(n, d.checked_neg()?, facts)?.scale(-1),
        _ if n.is_uniform() => return Some(Form::uniform(divide_sum(&n.base, d, facts)?, n.lanes)),
        _ => {}
    }
    let (whole, rest) = split(n, d)?;
    if rest.is_uniform() {
        return whole.plus_scaled(&Form::uniform(divide_sum(&rest.base, d, facts)?, n.lanes), 1);
    }
    if let Some(block) = block_of(facts.form_range(&rest), d) {
        return whole.plus_scaled(&Form::uniform(Linear::constant(block), n.lanes), 1);
    }
    if let Some(first) = lanes_within(&rest, d, facts) {
        return whole.plus_scaled(&Form::uniform(divide_sum(&first, d, facts)?, n.lanes), 1);
    }
    let common = gcd(rest.content(), d);
    if common > 1 {
        let reduced = divide(&divide_form(&rest, common)?, d / common, facts)?;
        return whole.plus_scaled(&reduced, 1);
    }
    let quotient = build::div(rest.to_expr(), build::int(d));
    whole.plus_scaled(&atom_form(quotient, facts), 1)
}

/// `n % d` for a constant divisor.
pub(super) fn remainder(n: &Form, d: i64, facts: &Facts) -> Option<Form> {
    match d {
        -1..=1 => return Some(Form::uniform(Linear::default(), n.lanes)),
        _ if d < 0 => return remainder(n, d.checked_neg()?, facts),
        _ if n.is_uniform() => return Some(Form::uniform(remainder_sum(&n.base, d, facts)?, n.lanes)),
        _ => {}
    }
    let (_, rest) = split(n, d)?;
    if rest.is_uniform() {
        return Some(Form::uniform(remainder_sum(&rest.base, d, facts)?, n.lanes));
    }
    if let Some(block) = block_of(facts.form_range(&rest), d) {
        return rest.plus_scaled(&Form::uniform(Linear::constant(block.checked_mul(d)?), n.lanes), -1);
    }
    if let Some(first) = lanes_within(&rest, d, facts) {
        let base = remainder_sum(&first, d, facts)?;
        let steps = rest.plus_scaled(&Form::uniform(first, n.lanes), -1)?;
        return Form::uniform(base, n.lanes).plus_scaled(&steps, 1);
    }
    let common = gcd(rest.content(), d);
    if common > 1 {
        let reduced = remainder(&divide_form(&rest, common)?, d / common, facts)?.scale(common)?;
        let odd = Linear::constant(rest.base.constant.rem_euclid(common));
        return reduced.plus_scaled(&Form::uniform(odd, n.lanes), 1);
    }
    Some(atom_form(build::rem(rest.to_expr(), build::int(d)), facts))
}

/// `n = d * whole + rest` with the coefficients of `rest` smaller than `d` and its constant in `0..d`.
fn split_sum(n: &Linear, d: i64) -> Option<(Linear, Linear)> {
    let parts = |f: fn(i64, i64) -> i64| -> Linear {
        let terms = n.terms.iter().map(|(a, c)| (a.clone(), f(*c, d))).filter(|(_, c)| *c != 0);
        Linear { terms: terms.collect(), constant: 0 }
    };
    let whole = parts(|c, d| c / d).offset(n.constant.div_euclid(d))?;
    let rest = parts(|c, d| c % d).offset(n.constant.rem_euclid(d))?;
    Some((whole, rest))
}

fn split(n: &Form, d: i64) -> Option<(Form, Form)> {
    let (base, base_rest) = split_sum(&n.base, d)?;
    let (mut stride, mut stride_rest) = split_sum(&n.stride, d)?;
    if n.stride.constant < 0 && stride_rest.constant != 0 {
        // A stride of -1 stays what it is.
        stride.constant += 1;
        stride_rest.constant -= d;
    }
    let vector = |f: fn(i64, i64) -> i64| -> Terms {
        n.vector.iter().map(|(a, c)| (a.clone(), f(*c, d))).filter(|(_, c)| *c != 0).collect()
    };
    let whole = Form { lanes: n.lanes, vector: vector(|c, d| c / d), base, stride };
    let rest = Form { lanes: n.lanes, vector: vector(|c, d| c % d), base: base_rest, stride: stride_rest };
    Some((whole, rest))
}

/// All coefficients divided by their divisor `common`, the constant rounded down.
fn divide_form(n: &Form, common: i64) -> Option<Form> {
    let scaled = |terms: &[(Expr, i64)]| terms.iter().map(|(a, c)| (a.clone(), c / common)).collect::<Terms>();
    let base = Linear { terms: scaled(&n.base.terms), constant: n.base.constant.div_euclid(common) };
    Some(Form { lanes: n.lanes, vector: scaled(&n.vector), base, stride: n.stride.divide_exactly(common)? })
}

/// A sum in the same block of `d` as all lanes of a ramp, if they lie in one.
fn lanes_within(n: &Form, d: i64, facts: &Facts) -> Option<Linear> {
    if !n.vector.is_empty() {
        return None;
    }
    let spread = facts.sum_range(&n.stride).scale(n.lanes as i64 - 1).union(Range::point(0));
    let start = match facts.sum_congruence(&n.base).modulo(d) {
        Some(r) => Range::point(r as i128),
        None => {
            let g = facts.sum_congruence(&n.base);
            // With a known remainder modulo a divisor of d, the last start in a block is known too.
            let step = gcd(g.modulus(), d);
            let first = g.remainder().rem_euclid(step.max(1));
            Range::new(Some(first as i128), Some((d - step + first) as i128))
        }
    };
    (start + spread).within(Range::new(Some(0), Some(d as i128 - 1))).then(|| n.base.clone())
}

/// The quotient of every value in `range`, if they have one.
fn block_of(range: Range, d: i64) -> Option<i64> {
    let (Some(first), Some(last)) = range.ends() else { return None };
    (first.div_euclid(d) == last.div_euclid(d)).then(|| first.div_euclid(d))
}

/// `n / d` for d > 1.
fn divide_sum(n: &Linear, d: i64, facts: &Facts) -> Option<Linear> {
    let (mut whole, mut rest) = split_sum(n, d)?;
    if let Some(q) = block_of(facts.sum_range(&rest), d) {
        return whole.offset(q);
    }
    if let Some(r) = facts.sum_congruence(&rest).modulo(d) {
        let constant = rest.constant - r;
        whole = whole.offset(constant.div_euclid(d))?;
        rest.constant = constant.rem_euclid(d);
    }
    // Terms that are multiples of d whatever their symbols are divide on their own, if the others are in one block.
    let (even, odd) = separate_multiples(&rest, d, facts);
    if !even.terms.is_empty()
        && odd != Linear::default()
        && let Some(q) = block_of(facts.sum_range(&odd), d)
    {
        return whole.plus(&divide_sum(&even, d, facts)?)?.offset(q);
    }
    let common = gcd(rest.content(), d);
    if common > 1 {
        let reduced = Linear {
            terms: rest.terms.iter().map(|(a, c)| (a.clone(), c / common)).collect(),
            constant: rest.constant.div_euclid(common),
        };
        let quotient = if d == common { reduced } else { divide_sum(&reduced, d / common, facts)? };
        return whole.plus(&quotient);
    }
    whole.plus(&quotient_atom(&rest, d, facts)?)
}

/// The terms of which every value is a multiple of `d`, and the rest with the constant.
fn separate_multiples(n: &Linear, d: i64, facts: &Facts) -> (Linear, Linear) {
    let is_multiple = |(atom, c): &(Expr, i64)| facts.known(atom).congruence.scale(*c).modulo(d) == Some(0);
    let (even, odd) = n.terms.iter().cloned().partition(is_multiple);
    (Linear { terms: even, constant: 0 }, Linear { terms: odd, constant: n.constant })
}

/// `n / d` where no part of `n` comes out: nested quotients join, and choices that then resolve are moved outside.
fn quotient_atom(n: &Linear, d: i64, facts: &Facts) -> Option<Linear> {
    if let [(atom, 1)] = &n.terms[..] {
        match atom.kind() {
            ExprKind::Binary(BinOp::Div, m, e) => {
                if let Some(e) = build::as_int(e).filter(|e| *e > 0)
                    && let (Some(product), Some(shift)) = (d.checked_mul(e), n.constant.checked_mul(e))
                {
                    return divide_sum(&Linear::of(m).offset(shift)?, product, facts);
                }
            }
            ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => {
                let arm = |e: &Expr| divide_sum(&Linear::of(e).offset(n.constant)?, d, facts);
                let (a, b) = (arm(a)?, arm(b)?);
                if !has_quotient(&a) || !has_quotient(&b) {
                    let both = [Form::uniform(a, 1), Form::uniform(b, 1)];
                    return Some(super::min_max::extreme(*op, both.to_vec(), facts)?.base);
                }
            }
            _ => {}
        }
    }
    Some(share(build::div(n.to_expr(), build::int(d)), facts))
}

fn has_quotient(n: &Linear) -> bool {
    n.terms.iter().any(|(atom, _)| matches!(atom.kind(), ExprKind::Binary(BinOp::Div | BinOp::Min | BinOp::Max, ..)))
}

/// `n % d` for d > 1.
fn remainder_sum(n: &Linear, d: i64, facts: &Facts) -> Option<Linear> {
    let (_, rest) = split_sum(&open_remainders(n, d)?, d)?;
    let (_, mut rest) = separate_multiples(&rest, d, facts);
    rest.constant = rest.constant.rem_euclid(d);
    if let Some(r) = facts.sum_congruence(&rest).modulo(d) {
        return Some(Linear::constant(r));
    }
    if let Some(block) = block_of(facts.sum_range(&rest), d) {
        return rest.offset(block.checked_mul(d)?.checked_neg()?);
    }
    let common = gcd(rest.content(), d);
    if common > 1 {
        let reduced = Linear {
            terms: rest.terms.iter().map(|(a, c)| (a.clone(), c / common)).collect(),
            constant: rest.constant.div_euclid(common),
        };
        return remainder_sum(&reduced, d / common, facts)?.scale(common)?.offset(rest.constant.rem_euclid(common));
    }
    Some(share(build::rem(rest.to_expr(), build::int(d)), facts))
}

/// `n` with the terms `m % e`, where `d` divides `e`, replaced by `m`: the same modulo `d`.
fn open_remainders(n: &Linear, d: i64) -> Option<Linear> {
    let mut open = Linear::constant(n.constant);
    for (atom, c) in &n.terms {
        let inner = match atom.kind() {
            ExprKind::Binary(BinOp::Mod, m, e) if build::as_int(e).is_some_and(|e| e != 0 && e % d == 0) => {
                Linear::of(m)
            }
            _ => Linear::atom(atom.clone()),
        };
        open = open.plus_scaled(&inner, *c)?;
    }
    Some(open)
}

/// `n` with quotients and remainders that belong together joined: `(x / d) * d + x % d` is `x`, `x - (x / d) * d` is
/// `x % d`, and `(x / d) * d` is `x` where `d` divides it.
pub(super) fn join_quotients(n: Linear, facts: &Facts) -> Linear {
    let mut n = n;
    let mut i = 0;
    while i < n.terms.len() {
        match joined(&n, i, facts) {
            // A join removes the term, so this ends.
            Some(simpler) => (n, i) = (simpler, 0),
            None => i += 1,
        }
    }
    n
}

/// `n` after joining the quotient of term `i` with others, if it can be.
fn joined(n: &Linear, i: usize, facts: &Facts) -> Option<Linear> {
    let (atom, c) = n.terms.get(i)?;
    let ExprKind::Binary(BinOp::Div, m, e) = atom.kind() else { return None };
    let d = build::as_int(e).filter(|d| *d > 1 && c % d == 0)?;
    let multiple = c / d;
    let inner = Linear::of(m);
    let rest = n.without(atom);
    if facts.sum_congruence(&inner).modulo(d) == Some(0) {
        return rest.plus_scaled(&inner, multiple);
    }
    let modulo = remainder_sum(&inner, d, facts)?;
    let partner = modulo.as_atom();
    if let Some(partner) = partner
        && n.coefficient(partner) == multiple
    {
        return rest.without(partner).plus_scaled(&inner, multiple);
    }
    let all_there = inner.terms.iter().all(|(a, k)| k.checked_mul(multiple).is_some_and(|k| rest.coefficient(a) == -k));
    if partner.is_some() && all_there {
        // c * (m / d) is multiple * (m - m % d), of which the terms of m cancel.
        return rest.plus_scaled(&inner, multiple)?.plus_scaled(&modulo, multiple.checked_neg()?);
    }
    None
}

fn share(e: Expr, facts: &Facts) -> Linear {
    Linear::of(&facts.share(e))
}

fn atom_form(e: Expr, facts: &Facts) -> Form {
    Form::of(&facts.share(e))
}

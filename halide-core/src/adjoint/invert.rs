//! Reads turned around: the points of the reader that read a given point of the source.
//!
//! A read `f[2 * x + r, y]` at every point `(x, y)` and every `r` is turned into `x = (X - r) / 2` where the remainder
//! is zero, `y = Y`, for every `r`: the variables that are solved for become expressions of the source's coordinates
//! `(X, Y)`, and the others stay free. Pure variables are solved for first, so that what stays free is small in
//! stencils and convolutions. Reads such as `f[x / 2]` leave the remainder free.

use super::builder::Builder;
use super::domain::{Domain, LoopVar, NoReduction, Range, is_closed, reduction};
use super::linear::Linear;
use crate::ids::{ExprId, RDomId};
use crate::ops::BinOp;
use crate::pipeline::Kind;

/// A read that has been turned around.
pub(super) struct Inverse {
    /// The coordinate that each variable of the reader has.
    pub(super) values: Vec<ExprId>,
    /// The variables that have been solved for.
    pub(super) is_solved: Vec<bool>,
    /// The domain of those that stay free; `None` if none does.
    pub(super) rdom: Option<RDomId>,
    /// The conditions under which the reader reads the point at all, but for the ranges of its variables.
    pub(super) guard: Option<ExprId>,
}

/// A coordinate of the read that is solved for a variable: `(factor * var + others) / divisor + constant`.
struct Pivot {
    dim: usize,
    var: usize,
    factor: i64,
    divisor: i64,
    constant: i64,
    linear: Linear,
    /// The free remainder of the division.
    remainder: Option<ExprId>,
}

/// Turns a read at `coordinates` around for the point `at` of the source; `None` if it cannot be: several points may
/// read one in ways that no formula tells.
pub(super) fn invert(
    b: &mut Builder,
    domain: &Domain,
    coordinates: &[ExprId],
    at: &[ExprId],
) -> Result<Option<Inverse>, NoReduction> {
    let mut guard = None;
    let mut candidates: Vec<Vec<Pivot>> = Vec::new();
    for (dim, &e) in coordinates.iter().enumerate() {
        if is_closed(&b.data, e) {
            let is_here = b.binary(BinOp::Eq, at[dim], e);
            guard = b.and(guard, Some(is_here));
            continue;
        }
        candidates.push(pivots(b, domain, dim, e));
    }
    let Some(mut pivots) = chosen(domain, candidates).and_then(in_order) else { return Ok(None) };
    let is_solved: Vec<bool> = (0..domain.vars.len()).map(|v| pivots.iter().any(|p| p.var == v)).collect();
    let (rdom, values) = free(b, domain, &is_solved, &mut pivots)?;
    let mut inverse = Inverse { values, is_solved, rdom, guard };
    for pivot in &pivots {
        solve(b, pivot, at[pivot.dim], &mut inverse);
    }
    Ok(Some(inverse))
}

/// The variables that a coordinate may be solved for: the best first.
fn pivots(b: &Builder, domain: &Domain, dim: usize, e: ExprId) -> Vec<Pivot> {
    let linear = Linear::new(b, domain, e);
    let is_plain = |linear: &Linear| linear.rest.iter().all(|(e, _)| is_closed(&b.data, *e));
    let mut found: Vec<Pivot> = Vec::new();
    if is_plain(&linear) {
        found.extend(linear.terms.iter().map(|&(var, factor)| {
            let linear = linear.clone();
            Pivot { dim, var, factor, divisor: 1, constant: 0, linear, remainder: None }
        }));
    } else if let ([], [(quotient, 1)]) = (&linear.terms[..], &linear.rest[..])
        && let Kind::Binary(BinOp::Div, p, q) = b.data.exprs[*quotient].kind
        && let Some(divisor) = b.int_value(q).filter(|c| *c > 0)
    {
        let inner = Linear::new(b, domain, p);
        if is_plain(&inner) {
            found.extend(inner.terms.iter().filter(|(_, factor)| *factor == 1).map(|&(var, factor)| {
                let (constant, linear) = (linear.constant, inner.clone());
                Pivot { dim, var, factor, divisor, constant, linear, remainder: None }
            }));
        }
    }
    found.sort_by_key(|p| (!domain.vars[p.var].is_pure, p.factor.abs(), p.var));
    found
}

/// One pivot of each coordinate, all of different variables: those with few choices choose first.
fn chosen(domain: &Domain, mut candidates: Vec<Vec<Pivot>>) -> Option<Vec<Pivot>> {
    candidates.sort_by_key(Vec::len);
    let mut is_taken = vec![false; domain.vars.len()];
    let mut all = Vec::new();
    for list in candidates {
        let pivot = list.into_iter().find(|p| !is_taken[p.var])?;
        is_taken[pivot.var] = true;
        all.push(pivot);
    }
    Some(all)
}

/// Sorts pivots so that the other variables of each are free or solved for before; `None` if that is impossible.
fn in_order(mut pivots: Vec<Pivot>) -> Option<Vec<Pivot>> {
    let mut sorted = Vec::new();
    while !pivots.is_empty() {
        let waits = |p: &Pivot| {
            let mut others = p.linear.terms.iter().filter(|(v, _)| *v != p.var);
            others.any(|(v, _)| pivots.iter().any(|q| q.var == *v))
        };
        let next = pivots.iter().position(|p| !waits(p))?;
        sorted.push(pivots.remove(next));
    }
    Some(sorted)
}

/// Makes the domain of the free variables and remainders, and returns the variables of the reader with those of the
/// domain in their places.
fn free(
    b: &mut Builder,
    domain: &Domain,
    is_solved: &[bool],
    pivots: &mut [Pivot],
) -> Result<(Option<RDomId>, Vec<ExprId>), NoReduction> {
    let positions: Vec<usize> = (0..is_solved.len()).filter(|&v| !is_solved[v]).collect();
    let mut remainders = Vec::new();
    for pivot in pivots.iter().filter(|p| p.divisor > 1) {
        let LoopVar { node, name, own_name, .. } = &domain.vars[pivot.var];
        let (node, name, own_name) = (*node, format!("{name}_part"), format!("{own_name}_part"));
        let range = Range::new(b.int(0), b.int(pivot.divisor - 1));
        remainders.push(LoopVar { node, name, own_name, range, is_pure: false });
    }
    let mut values: Vec<ExprId> = domain.vars.iter().map(|v| v.node).collect();
    let vars: Vec<&LoopVar> = positions.iter().map(|&v| &domain.vars[v]).chain(&remainders).collect();
    if vars.is_empty() {
        return Ok((None, values));
    }
    let (rdom, nodes) = reduction(b, &vars).map_err(|why| match why {
        NoReduction::Unbounded(position) => NoReduction::Unbounded(positions[position]),
        other => other,
    })?;
    let mut nodes = nodes.into_iter();
    positions.iter().zip(nodes.by_ref()).for_each(|(&v, node)| values[v] = node);
    pivots.iter_mut().filter(|p| p.divisor > 1).zip(nodes).for_each(|(p, node)| p.remainder = Some(node));
    Ok((Some(rdom), values))
}

fn solve(b: &mut Builder, pivot: &Pivot, at: ExprId, inverse: &mut Inverse) {
    let others = pivot.linear.without(b, pivot.var, &inverse.values);
    let mut target = b.offset(at, -pivot.constant);
    if let Some(remainder) = pivot.remainder {
        target = b.scale(target, pivot.divisor);
        target = b.add(target, remainder);
    }
    let multiple = b.sub(target, others);
    inverse.values[pivot.var] = match pivot.factor {
        1 => multiple,
        -1 => b.scale(multiple, -1),
        factor => {
            let (size, zero) = (b.int(factor.abs()), b.int(0));
            let remainder = b.binary(BinOp::Mod, multiple, size);
            let divides = b.binary(BinOp::Eq, remainder, zero);
            inverse.guard = b.and(inverse.guard, Some(divides));
            let quotient = b.binary(BinOp::Div, multiple, size);
            if factor < 0 { b.scale(quotient, -1) } else { quotient }
        }
    };
}

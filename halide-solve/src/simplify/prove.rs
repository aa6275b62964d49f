//! Proving conditions: as simplification decides them, with more effort and with the values of let-bound symbols.

use super::expr::simplify;
use super::facts::Facts;
use super::linear::Linear;
use super::range::Range;
use super::relational_bounds::Bounder;
use super::transitive_definitions::Reach;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::visit::substitute;
use halide_ir::{Expr, ExprKind, Sym, build};

/// The limits of the cost of a search.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The number of sums that may be taken apart.
    pub(crate) fuel: u32,
    /// The number of times that definitions may be put in place.
    pub(crate) rounds: u32,
}

/// The number of times that definitions are put in place one level at a time, before they are seen through.
const NEAR: u32 = 3;

/// For conditions on the way, of which there are many.
pub(crate) const LITTLE: Effort = Effort { fuel: 150, rounds: 6 };
/// For bounds that decide how storage is laid out, of which there are few.
pub const MUCH: Effort = Effort { fuel: 4000, rounds: 600 };

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
    let definition = |s, reach| facts.definition(s, reach);
    expand(difference, facts, &definition, LITTLE, |bounder, sum| {
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

/// The range of `sum`, where symbols are replaced by their definitions, again and again, until none is left, the range
/// is `enough`, or the effort is spent.
pub fn correlated_range(
    sum: &Linear,
    facts: &Facts,
    definitions: &dyn Fn(Sym, Reach) -> Option<Expr>,
    enough: impl Fn(Range) -> bool,
    effort: Effort,
) -> Range {
    let mut range = Range::ALL;
    expand(sum, facts, definitions, effort, |bounder, sum| {
        range = bounder.range(sum).intersect(range);
        enough(range)
    });
    range
}

/// The least upper bound of `sum` that is found, if it is at most `limit`: nothing is searched for what is more. Symbols are
/// replaced by their definitions as in [`correlated_range`]; without `definitions`, by what `facts` holds.
pub fn correlated_upper(
    sum: &Linear,
    facts: &Facts,
    definitions: Option<&dyn Fn(Sym, Reach) -> Option<Expr>>,
    limit: i128,
    effort: Effort,
) -> Option<i128> {
    let mut most: Option<i128> = None;
    let known = |s, reach| facts.definition(s, reach);
    expand(sum, facts, definitions.unwrap_or(&known), effort, |bounder, sum| {
        let reached = definitions.is_none().then(|| reached(sum, facts)).flatten();
        let is_best = |most: i128| reached.is_some_and(|v| v >= most);
        if reached.is_some_and(|v| v > limit) {
            return true;
        }
        most = bounder.upper_within(sum, most.map_or(limit, |m| m - 1)).or(most);
        most.is_some_and(is_best)
    });
    most
}

/// Returns true if `sum` is found never to be above `limit`. Searches as [`correlated_upper`], and ends with the first
/// bound that says so.
pub fn correlated_at_most(
    sum: &Linear,
    facts: &Facts,
    definitions: Option<&dyn Fn(Sym, Reach) -> Option<Expr>>,
    limit: i128,
    effort: Effort,
) -> bool {
    let mut holds = false;
    let known = |s, reach| facts.definition(s, reach);
    expand(sum, facts, definitions.unwrap_or(&known), effort, |bounder, sum| {
        let refuted = definitions.is_none() && reached(sum, facts).is_some_and(|v| v > limit);
        holds = !refuted && bounder.at_most(sum, limit);
        holds || refuted
    });
    holds
}

/// Returns the largest value of `sum` at any point: no bound of it, or of what it is replaced by with the definitions
/// of `facts`, is below.
fn reached(sum: &Linear, facts: &Facts) -> Option<i128> {
    Some(facts.reached(&sum.terms)? + sum.constant as i128)
}

/// Calls `look` on `sum`, and again after symbols were replaced by their definitions, until it has seen enough, no symbol
/// is left, or the effort is spent. The first replacements go one level at a time, since replacing all at once would lose
/// what cancels before.
fn expand(
    sum: &Linear,
    facts: &Facts,
    definitions: &dyn Fn(Sym, Reach) -> Option<Expr>,
    effort: Effort,
    mut look: impl FnMut(&mut Bounder<'_>, &Linear) -> bool,
) {
    let mut sum = sum.clone();
    let mut fuel = effort.fuel;
    for round in 0..effort.rounds {
        let mut bounder = Bounder::new(facts, fuel);
        let enough = look(&mut bounder, &sum);
        fuel = bounder.fuel_left();
        if enough || fuel == 0 {
            break;
        }
        let e = sum.to_expr();
        let reach = if round < NEAR { Reach::Near } else { Reach::Far };
        let expanded = substitute(&e, &|s| definitions(s, reach));
        if expanded == e {
            break;
        }
        sum = Linear::of(&simplify(&expanded, facts));
    }
}

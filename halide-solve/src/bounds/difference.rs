//! The distance between two expressions: bounds of their difference.

use crate::simplify::{Facts, Linear, MUCH, Reach, correlated_at_most, correlated_range, correlated_upper, simplify};
use halide_ir::{Expr, Sym, build};

/// Constant bounds, lower and upper, of `a - b` for scalar Index expressions; `None` where there is none.
///
/// What the two have in common cancels, also inside of minima, maxima, selects and quotients, and after symbols are
/// replaced by what `defs` defines them as: the extent of a clamped pyramid level is bounded although its ends are not.
/// The effort is limited, and the result is a bound however early it ends.
pub fn constant_difference(
    a: &Expr,
    b: &Expr,
    facts: &Facts,
    defs: &dyn Fn(Sym) -> Option<Expr>,
) -> (Option<i64>, Option<i64>) {
    difference_through(a, b, facts, &|s, _| defs(s))
}

/// As [`constant_difference`], where `defs` may see through definitions when asked to.
pub fn difference_through(
    a: &Expr,
    b: &Expr,
    facts: &Facts,
    defs: &dyn Fn(Sym, Reach) -> Option<Expr>,
) -> (Option<i64>, Option<i64>) {
    let definition = |s, reach| defs(s, reach).or_else(|| facts.definition(s, reach));
    let single = |range: crate::simplify::Range| range.as_point().is_some();
    correlated_range(&between(a, b, facts), facts, &definition, single, MUCH).ends()
}

/// The upper one of [`constant_difference`], without other definitions than those of `facts`, if it is at most `limit`: where
/// it is more, less is searched for.
pub fn upper_difference(a: &Expr, b: &Expr, facts: &Facts, limit: i64) -> Option<i64> {
    upper(a, b, facts, None, limit)
}

/// The upper one of [`difference_through`], if it is at most `limit`.
pub fn upper_through(
    a: &Expr,
    b: &Expr,
    facts: &Facts,
    defs: &dyn Fn(Sym, Reach) -> Option<Expr>,
    limit: i64,
) -> Option<i64> {
    upper(a, b, facts, Some(&|s, reach| defs(s, reach).or_else(|| facts.definition(s, reach))), limit)
}

/// Returns true if `a - b` is found never to be above `limit`. Ends sooner than [`upper_difference`], which finds a
/// bound.
pub fn at_most(a: &Expr, b: &Expr, facts: &Facts, limit: i64) -> bool {
    correlated_at_most(&between(a, b, facts), facts, None, limit.into(), MUCH)
}

/// As [`at_most`], with the definitions of [`difference_through`].
pub fn at_most_through(
    a: &Expr,
    b: &Expr,
    facts: &Facts,
    defs: &dyn Fn(Sym, Reach) -> Option<Expr>,
    limit: i64,
) -> bool {
    let definitions = |s, reach| defs(s, reach).or_else(|| facts.definition(s, reach));
    correlated_at_most(&between(a, b, facts), facts, Some(&definitions), limit.into(), MUCH)
}

/// `a - b`.
fn between(a: &Expr, b: &Expr, facts: &Facts) -> Linear {
    Linear::of(&simplify(&build::sub(a.clone(), b.clone()), facts))
}

fn upper(
    a: &Expr,
    b: &Expr,
    facts: &Facts,
    definitions: Option<&dyn Fn(Sym, Reach) -> Option<Expr>>,
    limit: i64,
) -> Option<i64> {
    let upper = correlated_upper(&between(a, b, facts), facts, definitions, limit.into(), MUCH)?;
    i64::try_from(upper).ok()
}

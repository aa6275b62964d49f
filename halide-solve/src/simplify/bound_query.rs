//! Bound queries: the constant bounds of a sum of Index expressions, as precise as the question needs.
//!
//! Terms that depend on each other cancel, also inside of minima, maxima, selects and quotients ([`Bounder`]), and
//! again after symbols are replaced by their definitions: the extent of a clamped pyramid level is bounded although its
//! ends are not. The effort is limited, and an answer is a bound however early the search ends.

use super::expr::simplify;
use super::facts::Facts;
use super::linear::Linear;
use super::range::Range;
use super::relational_bounds::Bounder;
use super::transitive_definitions::Reach;
use crate::tuning::NEAR_ROUNDS;
use halide_ir::visit::substitute;
use halide_ir::{Expr, Sym, build};

/// A question for bounds of a scalar Index sum. Who needs less asks for less: [`is_at_most`](BoundQuery::is_at_most)
/// ends with the first bound that decides, [`upper`](BoundQuery::upper) never looks for the other end,
/// [`range`](BoundQuery::range) is the most expensive.
///
/// ```
/// use halide_ir::Expr;
/// use halide_solve::simplify::{BoundQuery, Facts};
/// let facts = Facts::new();
/// let (a, b): (Expr, Expr) = ("min(L0 + 4, 9)".parse()?, "min(L0, 9)".parse()?);
/// let apart = BoundQuery::difference(&a, &b, &facts);
/// assert_eq!(apart.range().ends(), (Some(0), Some(4)));
/// assert!(apart.is_at_most(4) && !apart.is_at_most(3));
/// # Ok::<(), halide_ir::parse::ParseError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct BoundQuery<'q> {
    sum: Linear,
    facts: &'q Facts,
    definitions: Definitions<'q>,
}

/// The definitions that a query puts in place of symbols.
#[derive(Clone, Copy)]
pub(super) enum Definitions<'q> {
    /// No ends: symbols stay.
    Ignored,
    /// The ends that facts give.
    OfFacts,
    /// The ends that this gives, and those of the facts for other symbols.
    Given(&'q dyn Fn(Sym, Reach) -> Option<Expr>),
}

impl Definitions<'_> {
    fn value(self, s: Sym, reach: Reach, facts: &Facts) -> Option<Expr> {
        match self {
            Definitions::Ignored => None,
            Definitions::OfFacts => facts.definition(s, reach),
            Definitions::Given(f) => f(s, reach).or_else(|| facts.definition(s, reach)),
        }
    }
}

impl<'q> BoundQuery<'q> {
    /// Asks for bounds of `a - b`, through the definitions of `facts`.
    pub fn difference(a: &Expr, b: &Expr, facts: &'q Facts) -> BoundQuery<'q> {
        let sum = Linear::of(&simplify(&build::sub(a.clone(), b.clone()), facts));
        BoundQuery { sum, facts, definitions: Definitions::OfFacts }
    }
    /// Asks for bounds of a sum as it stands: no symbol is replaced.
    pub fn of_sum(sum: &Linear, facts: &'q Facts) -> BoundQuery<'q> {
        BoundQuery { sum: sum.clone(), facts, definitions: Definitions::Ignored }
    }
    /// Uses `definitions` before those of the facts. They may see through definitions of definitions where asked to.
    pub fn through(self, definitions: &'q dyn Fn(Sym, Reach) -> Option<Expr>) -> BoundQuery<'q> {
        BoundQuery { definitions: Definitions::Given(definitions), ..self }
    }
    /// Returns the range that is found; a point ends the search.
    pub fn range(&self) -> Range {
        self.range_until(|range| range.as_point().is_some())
    }
    /// Returns the range that is found; the first one that is `enough` ends the search.
    pub fn range_until(&self, enough: impl Fn(Range) -> bool) -> Range {
        let mut range = Range::ALL;
        expand(&self.sum, self.facts, self.definitions, MUCH, |bounder, sum| {
            range = bounder.range(sum).intersect(range);
            enough(range)
        });
        range
    }
    /// Returns the least upper bound that is found, if it is at most `limit`: nothing is searched for what is more.
    pub fn upper(&self, limit: i64) -> Option<i64> {
        let limit = i128::from(limit);
        let mut most: Option<i128> = None;
        expand(&self.sum, self.facts, self.definitions, MUCH, |bounder, sum| {
            let reached = self.reached(sum);
            if reached.is_some_and(|v| v > limit) {
                return true;
            }
            most = bounder.upper_within(sum, most.map_or(limit, |m| m - 1)).or(most);
            most.is_some_and(|most| reached.is_some_and(|v| v >= most))
        });
        i64::try_from(most?).ok()
    }
    /// Returns true if the sum is found never to be above `limit`.
    pub fn is_at_most(&self, limit: i64) -> bool {
        let limit = i128::from(limit);
        let mut holds = false;
        expand(&self.sum, self.facts, self.definitions, MUCH, |bounder, sum| {
            let refuted = self.reached(sum).is_some_and(|v| v > limit);
            holds = !refuted && bounder.at_most(sum, limit);
            holds || refuted
        });
        holds
    }
    /// Returns the largest value of `sum` at any point that satisfies the facts: no bound of it, or of what it is
    /// replaced by with the definitions of the facts, is below.
    fn reached(&self, sum: &Linear) -> Option<i128> {
        match self.definitions {
            Definitions::OfFacts => Some(self.facts.reached(&sum.terms)? + i128::from(sum.constant)),
            _ => None,
        }
    }
}

/// The limits of the cost of a search.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// The number of sums that may be taken apart.
    fuel: u32,
    /// The number of times that definitions may be put in place.
    rounds: u32,
}

/// For conditions on the way, of which there are many.
pub(super) const LITTLE: Effort = Effort { fuel: 150, rounds: 6 };
/// For bounds that decide how storage is laid out, of which there are few.
const MUCH: Effort = Effort { fuel: 4000, rounds: 600 };

/// Calls `look` on `sum`, and again after symbols were replaced by their definitions, until it has seen enough, no
/// symbol is left, or the effort is spent. The first replacements go one level at a time, since replacing all at once
/// would lose what cancels before.
pub(super) fn expand(
    sum: &Linear,
    facts: &Facts,
    definitions: Definitions<'_>,
    effort: Effort,
    mut look: impl FnMut(&mut Bounder<'_>, &Linear) -> bool,
) {
    let mut sum = sum.clone();
    let mut fuel = effort.fuel;
    for round in 0..effort.rounds {
        // Also what is answered from memory is work.
        facts.memory.count_visit();
        let mut bounder = Bounder::new(facts, fuel);
        let enough = look(&mut bounder, &sum);
        fuel = bounder.fuel_left();
        if enough || fuel == 0 {
            break;
        }
        let e = sum.to_expr();
        let reach = if round < NEAR_ROUNDS { Reach::Near } else { Reach::Far };
        let expanded = substitute(&e, &|s| definitions.value(s, reach, facts));
        if expanded == e {
            break;
        }
        sum = Linear::of(&simplify(&expanded, facts));
    }
}

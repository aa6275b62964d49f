//! Constant bounds of a sum whose terms depend on each other.
//!
//! Adding up the ranges of the terms of `min(x, a) - min(x, b)` gives nothing where `x` is unbounded. Here the sum is
//! taken apart instead: each minimum, maximum and select is replaced by each of its arms in turn, and each quotient by
//! the rational that it rounds, until `x` cancels. An upper bound of `min(a, b) + r` is *any* of those of `a + r` and
//! `b + r`, so the best is taken (a free choice); one of `max(a, b) + r` must hold for *both* (a forced choice). Forced
//! choices are made first: then each case takes its own best arm, which keeps `min(a, b) - min(a', b')` tight.
//!
//! The search has a budget and remembers what it found; where the budget ends, ranges of terms serve.

use super::facts::Facts;
use super::linear::{Linear, Terms, add_terms, any_term};
use super::range::Range;
use crate::tuning::{ELIMINATIONS, LARGEST_SCALE};
use halide_core::ops::BinOp;
use halide_ir::build::as_int;
use halide_ir::hash::{Map, begin};
use halide_ir::{Expr, ExprKind};
use smallvec::SmallVec;

/// A search for bounds under fixed facts.
pub(crate) struct Bounder<'a> {
    facts: &'a Facts,
    /// Upper bounds of sums without their constants, by how many eliminations were allowed.
    found: [Map<Terms, Found>; ELIMINATIONS as usize + 1],
    fuel: u32,
    /// True if the best bound is looked for; else what cannot reach the goal is not looked at to its end.
    best: bool,
}

/// The result of searches for an upper bound of a sum.
#[derive(Clone, Copy)]
struct Found {
    bound: Option<i128>,
    /// No search for a bound that is at most this, or less, finds one; `None` if no search failed.
    failed: Option<i128>,
}

impl Found {
    /// Returns the result of a search for `goal` that came to `bound`.
    fn after(bound: Option<i128>, goal: i128, best: bool) -> Found {
        let failed = match bound {
            Some(most) if most <= goal => None,
            _ if best => Some(i128::MAX),
            _ => Some(goal),
        };
        Found { bound, failed }
    }
    /// Returns true if a search for `goal`, or for the best bound, need not be made.
    fn answers(self, goal: i128, best: bool) -> bool {
        let sought = if best { i128::MAX } else { goal };
        self.failed.is_some_and(|failed| sought <= failed) || self.bound.is_some_and(|most| most <= goal)
    }
}

/// The result of a search, with the fuel that it had.
#[derive(Clone, Copy)]
pub(super) struct Tried {
    found: Found,
    fuel: u32,
}

/// A goal that no bound reaches.
const NONE: i128 = i128::MIN;

/// The next thing to take apart; terms are named by their place in the sum.
enum Step<'a> {
    /// Both arms must be bounded.
    Forced(usize, [&'a Expr; 2]),
    /// Either arm gives a bound.
    Free(usize, [&'a Expr; 2]),
    /// All selects on one condition: both sides must be bounded.
    Cases(&'a Expr),
    /// A numerator and its constant divisor.
    Quotient(usize, &'a Expr, i64),
    /// A sum times a sum.
    Product(usize, &'a Expr, &'a Expr),
}

/// Steps of which each is taken; few in most sums.
type Steps<'a> = SmallVec<[Step<'a>; 4]>;

impl<'a> Bounder<'a> {
    /// At most `fuel` sums are taken apart.
    pub(crate) fn new(facts: &'a Facts, fuel: u32) -> Bounder<'a> {
        Bounder { facts, found: Default::default(), fuel, best: true }
    }
    /// Returns the number of sums that may still be taken apart.
    pub(crate) fn fuel_left(&self) -> u32 {
        self.fuel
    }
    /// The range of `sum`.
    pub(crate) fn range(&mut self, sum: &Linear) -> Range {
        let max = self.upper(sum);
        let min = sum.scale(-1).and_then(|negated| self.upper(&negated));
        Range::new(min.map(|v| -v), max).intersect(self.facts.sum_range(sum))
    }
    /// An upper bound of `sum`.
    pub(crate) fn upper(&mut self, sum: &Linear) -> Option<i128> {
        self.toward(sum, None)?.checked_add(sum.constant as i128)
    }
    /// The least upper bound that a search for one of at most `limit` can reach.
    pub(crate) fn upper_within(&mut self, sum: &Linear, limit: i128) -> Option<i128> {
        let least = if self.at_most(sum, limit) { self.upper(sum) } else { None };
        least.filter(|most| *most <= limit)
    }
    /// Returns true if `sum` is never above `limit`. Ends sooner than a search for the best bound.
    pub(super) fn at_most(&mut self, sum: &Linear, limit: i128) -> bool {
        let goal = below(limit, sum.constant as i128);
        self.toward(sum, Some(goal)).is_some_and(|most| most <= goal)
    }
    /// Returns true if `sum` is never below `limit`.
    pub(crate) fn at_least(&mut self, sum: &Linear, limit: i128) -> bool {
        sum.scale(-1).is_some_and(|negated| self.at_most(&negated, -limit))
    }

    /// An upper bound of `sum` without its constant: the best one, or one that is at most `goal`, or no matter which
    /// where it is clear that there is none. The facts remember what was found out before.
    fn toward(&mut self, sum: &Linear, goal: Option<i128>) -> Option<i128> {
        let facts = self.facts;
        let reached = facts.reached(&sum.terms);
        if let (Some(goal), Some(reached)) = (goal, reached)
            && reached > goal
        {
            return None;
        }
        self.best = goal.is_none();
        let goal = goal.or(reached).unwrap_or(NONE);
        let before = facts.cache.borrow().bound(&sum.terms);
        if let Some(before) = before
            && before.found.answers(goal, self.best)
            && (before.fuel >= self.fuel || before.found.bound.is_some_and(|most| most <= goal))
        {
            return before.found.bound;
        }
        let fuel = self.fuel;
        let bound = self.upper_of_terms(sum.without_constant(), ELIMINATIONS, goal);
        let bound = least(bound, before.and_then(|b| b.found.bound));
        if self.fuel < fuel {
            let found = Found::after(bound, goal, self.best);
            facts.cache.borrow_mut().set_bound(sum.terms.clone(), Tried { found, fuel });
        }
        bound
    }

    fn upper_of_terms(&mut self, sum: Linear, eliminations: u32, goal: i128) -> Option<i128> {
        let level = eliminations as usize;
        if let Some(known) = self.found[level].get(&sum.terms)
            && known.answers(goal, self.best)
        {
            return known.bound;
        }
        let plain = self.facts.sum_upper(&sum);
        if sum.terms.is_empty() || self.fuel == 0 || plain.is_some_and(|most| most <= goal) {
            return plain;
        }
        let eliminates = eliminations > 0 && self.facts.has_sums();
        if !eliminates && !sum.terms.iter().any(|(atom, _)| can_be_taken_apart(atom)) {
            return plain;
        }
        let steps = self.next_steps(&sum);
        if !eliminates && steps.is_empty() {
            return plain;
        }
        self.fuel -= 1;
        self.facts.memory.count_visit();
        begin(&mut self.found[level], 14);
        // What is asked again while the answer is being found gets the plain one.
        self.found[level].insert(sum.terms.clone(), Found { bound: plain, failed: Some(i128::MAX) });
        let mut best = plain;
        for step in steps {
            best = least(best, self.take(&sum, step, eliminations, goal));
            if best.is_some_and(|most| most <= goal) {
                break;
            }
        }
        if eliminates && best.is_none_or(|most| most > goal) {
            best = least(best, self.eliminate(&sum, eliminations - 1, goal));
        }
        if let Some(found) = self.found[level].get_mut(&sum.terms) {
            *found = Found::after(best, goal, self.best);
        }
        best
    }

    fn continue_with(&mut self, sum: Option<Linear>, eliminations: u32, goal: i128) -> Option<i128> {
        let mut sum = sum?;
        let constant = std::mem::take(&mut sum.constant) as i128;
        let goal = below(goal, constant);
        let content = sum.content();
        let bound = match content {
            2.. => {
                let unit = sum.divide_exactly(content)?;
                let goal = if goal == NONE { NONE } else { goal.div_euclid(content as i128) };
                self.upper_of_terms(unit, eliminations, goal)?.checked_mul(content as i128)?
            }
            _ => self.upper_of_terms(sum, eliminations, goal)?,
        };
        bound.checked_add(constant)
    }

    fn take(&mut self, sum: &Linear, step: Step<'_>, eliminations: u32, goal: i128) -> Option<i128> {
        match step {
            Step::Forced(i, [a, b]) => {
                let first = self.continue_with(sum.replaced(i, &Linear::of(a)), eliminations, goal)?;
                if first > goal && !self.best {
                    return None;
                }
                Some(first.max(self.continue_with(sum.replaced(i, &Linear::of(b)), eliminations, goal)?))
            }
            Step::Free(i, [a, b]) => {
                let first = self.continue_with(sum.replaced(i, &Linear::of(a)), eliminations, goal);
                if first.is_some_and(|most| most <= goal) {
                    return first;
                }
                least(first, self.continue_with(sum.replaced(i, &Linear::of(b)), eliminations, goal))
            }
            Step::Cases(cond) => {
                let first = self.continue_with(choose(sum, cond, true), eliminations, goal)?;
                if first > goal && !self.best {
                    return None;
                }
                Some(first.max(self.continue_with(choose(sum, cond, false), eliminations, goal)?))
            }
            Step::Quotient(i, n, d) => {
                // d * (rest + c * (n / d)) is d * rest + c * n - c * (n % d).
                let c = sum.terms[i].1;
                let rest = sum.replaced(i, &Linear::default())?.scale(d)?;
                let lost = match self.facts.congruence(n).modulo(d) {
                    Some(r) => Range::point(r as i128),
                    None => Range::new(Some(0), Some(d as i128 - 1)),
                };
                let error = lost.scale(c.checked_neg()?).max()?;
                let d = d as i128;
                let goal = match goal {
                    NONE => NONE,
                    _ => below(goal.saturating_mul(d).saturating_add(d - 1), error),
                };
                let bound = self.continue_with(rest.plus_scaled(&Linear::of(n), c), eliminations, goal)?;
                Some(bound.checked_add(error)?.div_euclid(d))
            }
            Step::Product(i, a, b) => {
                let expanded = product(&Linear::of(a), &Linear::of(b))?;
                self.continue_with(sum.replaced(i, &expanded), eliminations, goal)
            }
        }
    }

    /// Adds multiples of learned sums that cancel an atom.
    fn eliminate(&mut self, sum: &Linear, eliminations: u32, goal: i128) -> Option<i128> {
        let facts = self.facts;
        let mut best = None;
        for (atom, c) in &sum.terms {
            for (terms, range) in facts.sums_with(atom) {
                let unit = terms.iter().find(|(a, _)| a == atom).map_or(0, |(_, c)| *c);
                // There is no multiple where the quotient leaves 64 bits, either.
                let Some(factor) = c.checked_div(unit).filter(|factor| factor * unit == *c) else { continue };
                let Some(known) = range.scale(factor).max() else { continue };
                let Some(negated) = factor.checked_neg() else { continue };
                let rest = add_terms(&sum.terms, terms, negated).map(|terms| Linear { terms, constant: 0 });
                let bound = self.continue_with(rest, eliminations, below(goal, known));
                best = least(best, bound.and_then(|b| b.checked_add(known)));
                if best.is_some_and(|most| most <= goal) {
                    return best;
                }
            }
        }
        best
    }

    /// Returns the steps to take next, among the terms that depend on what other terms depend on: the most urgent, or
    /// if that is a free choice, each of the free choices in turn.
    fn next_steps<'s>(&self, sum: &'s Linear) -> Steps<'s> {
        let mut steps: SmallVec<[(u8, Step<'s>); 4]> = SmallVec::new();
        let mut support: SmallVec<[u64; 8]> = SmallVec::new();
        for (i, (atom, c)) in sum.terms.iter().enumerate() {
            let Some(step) = step_for(i, atom, *c) else { continue };
            if !self.facts.has_sums() && !matches!(atom.kind(), ExprKind::Likely(_)) {
                if support.is_empty() {
                    support.extend(sum.terms.iter().map(|(atom, _)| atom.support()));
                }
                let others = support.iter().enumerate().filter(|(j, _)| *j != i).fold(0, |all, (_, s)| all | s);
                if support[i] & others == 0 {
                    continue;
                }
            }
            steps.push(step);
        }
        steps.sort_by_key(|(urgency, _)| *urgency);
        if let Some((_, Step::Quotient(_, _, d))) = steps.first()
            && (*d > LARGEST_SCALE || sum.scale(*d).is_none())
        {
            return Steps::new();
        }
        let free = matches!(steps.first(), Some((_, Step::Free(..))));
        let count = if free { steps.iter().filter(|(_, s)| matches!(s, Step::Free(..))).count() } else { 1 };
        steps.into_iter().take(count).map(|(_, step)| step).collect()
    }
}

/// The bound of what is left of a sum with which all of it, `part` more, reaches `goal`.
fn below(goal: i128, part: i128) -> i128 {
    if goal == NONE { NONE } else { goal.saturating_sub(part).max(NONE + 1) }
}

/// Returns true if [`step_for`] may have a step for `atom`.
fn can_be_taken_apart(atom: &Expr) -> bool {
    use BinOp::{Div, Max, Min, Mul};
    matches!(atom.kind(), ExprKind::Likely(_) | ExprKind::Select(..) | ExprKind::Binary(Min | Max | Mul | Div, ..))
}

/// Returns the step that takes an atom apart, and its urgency: forced choices come first, then quotients that hide
/// choices, free choices, and last the quotients that hide none, which lose precision.
fn step_for(i: usize, atom: &Expr, c: i64) -> Option<(u8, Step<'_>)> {
    Some(match atom.kind() {
        ExprKind::Likely(a) => (0, Step::Free(i, [a, a])),
        ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => {
            if (*op == BinOp::Max) == (c > 0) {
                (1, Step::Forced(i, [a, b]))
            } else {
                // An arm may hide a forced choice, which must be made before the last free one.
                let urgency = match () {
                    _ if is_choice(a) || is_choice(b) => 4,
                    _ if hides_choice(a) || hides_choice(b) => 5,
                    _ => 6,
                };
                (urgency, Step::Free(i, [a, b]))
            }
        }
        ExprKind::Select(cond, ..) => (1, Step::Cases(cond)),
        ExprKind::Binary(BinOp::Mul, a, b) if a.lanes() == 1 => {
            let simple = |e: &Expr| Linear::of(e).as_atom().is_some();
            if simple(a) && simple(b) {
                return None;
            }
            (2, Step::Product(i, a, b))
        }
        ExprKind::Binary(BinOp::Div, n, d) => {
            let d = as_int(d).filter(|d| *d > 0)?;
            (if hides_choice(n) { 3 } else { 7 }, Step::Quotient(i, n, d))
        }
        _ => return None,
    })
}

/// Returns true if a choice is among the terms of `e`.
fn is_choice(e: &Expr) -> bool {
    any_term(e, &|atom| matches!(atom.kind(), ExprKind::Binary(BinOp::Min | BinOp::Max, ..) | ExprKind::Select(..)))
}

/// Returns true if a choice is among the terms of `e`, or of the numerators of its quotients.
fn hides_choice(e: &Expr) -> bool {
    any_term(e, &|atom| match atom.kind() {
        ExprKind::Binary(BinOp::Min | BinOp::Max, ..) | ExprKind::Select(..) => true,
        ExprKind::Binary(BinOp::Div, n, _) => hides_choice(n),
        _ => false,
    })
}

/// `sum` where every select on `cond` takes the same side.
fn choose(sum: &Linear, cond: &Expr, side: bool) -> Option<Linear> {
    let mut chosen = Linear::constant(sum.constant);
    for (atom, c) in &sum.terms {
        let part = match atom.kind() {
            ExprKind::Select(k, a, b) if k == cond => Linear::of(if side { a } else { b }),
            _ => Linear::atom(atom.clone()),
        };
        chosen = chosen.plus_scaled(&part, *c)?;
    }
    Some(chosen)
}

/// The product of two sums as a sum of products of atoms.
pub(super) fn product(a: &Linear, b: &Linear) -> Option<Linear> {
    let mut sum = b.scale(a.constant)?.plus_scaled(&a.without_constant(), b.constant)?;
    for (x, c) in &a.terms {
        for (y, d) in &b.terms {
            let (first, second) = if super::linear::compare_atoms(x, y).is_le() { (x, y) } else { (y, x) };
            let factor = halide_ir::build::mul(first.clone(), second.clone());
            sum = sum.plus_scaled(&Linear::atom(factor), c.checked_mul(*d)?)?;
        }
    }
    Some(sum)
}

/// The smaller of two upper bounds; `None` is no bound.
fn least(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

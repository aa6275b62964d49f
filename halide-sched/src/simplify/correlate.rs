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
use super::linear::{Linear, Term};
use super::range::Range;
use super::walk::postorder;
use crate::ir::build::as_int;
use crate::ir::hash::Map;
use crate::ir::{Expr, ExprKind};
use halide_core::ops::BinOp;

/// The scale to which relaxing quotients may multiply a sum.
const LARGEST_SCALE: i64 = 1 << 40;
/// How many learned sums in a row may be added to eliminate an atom.
const ELIMINATIONS: u32 = 3;

/// A search for bounds under fixed facts.
pub(crate) struct Bounder<'a> {
    facts: &'a Facts,
    /// Upper bounds of sums without their constants, and how many eliminations were allowed.
    found: Map<(Vec<Term>, u32), Option<i128>>,
    fuel: u32,
}

/// The next thing to take apart.
enum Step<'a> {
    /// Both arms must be bounded.
    Forced(Expr, [&'a Expr; 2]),
    /// Either arm gives a bound.
    Free(Expr, [&'a Expr; 2]),
    /// All selects on one condition: both sides must be bounded.
    Cases(&'a Expr),
    /// A numerator and its constant divisor.
    Quotient(Expr, &'a Expr, i64),
    /// A sum times a sum.
    Product(Expr, &'a Expr, &'a Expr),
}

impl<'a> Bounder<'a> {
    /// At most `fuel` sums are taken apart.
    pub(crate) fn new(facts: &'a Facts, fuel: u32) -> Bounder<'a> {
        Bounder { facts, found: Map::default(), fuel }
    }
    /// How many more sums may be taken apart.
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
        let bound = self.upper_of_terms(&sum.terms, ELIMINATIONS)?;
        bound.checked_add(sum.constant as i128)
    }

    fn upper_of_terms(&mut self, terms: &[Term], eliminations: u32) -> Option<i128> {
        let sum = Linear { terms: terms.to_vec(), constant: 0 };
        let plain = self.facts.sum_range(&sum).max();
        if terms.is_empty() || self.fuel == 0 {
            return plain;
        }
        let key = (sum.terms.clone(), eliminations);
        if let Some(known) = self.found.get(&key) {
            return *known;
        }
        self.fuel -= 1;
        // What is asked again while the answer is being found gets the plain one.
        self.found.insert(key.clone(), plain);
        let mut best = plain;
        for step in self.next_steps(&sum) {
            best = least(best, self.take(&sum, step, eliminations));
        }
        if eliminations > 0 && self.facts.has_sums() {
            best = least(best, self.eliminate(&sum, eliminations - 1));
        }
        self.found.insert(key, best);
        best
    }

    fn continue_with(&mut self, sum: Option<Linear>, eliminations: u32) -> Option<i128> {
        let sum = sum?;
        let content = sum.content();
        let bound = match sum.without_constant().divide_exactly(content) {
            Some(unit) if content > 1 => {
                self.upper_of_terms(&unit.terms, eliminations)?.checked_mul(content as i128)?
            }
            _ => self.upper_of_terms(&sum.terms, eliminations)?,
        };
        bound.checked_add(sum.constant as i128)
    }

    fn take(&mut self, sum: &Linear, step: Step<'_>, eliminations: u32) -> Option<i128> {
        let replaced = |atom: &Expr, by: &Expr| sum.without(atom).plus_scaled(&Linear::of(by), sum.coefficient(atom));
        match step {
            Step::Forced(atom, [a, b]) => {
                let first = self.continue_with(replaced(&atom, a), eliminations)?;
                Some(first.max(self.continue_with(replaced(&atom, b), eliminations)?))
            }
            Step::Free(atom, [a, b]) => {
                let first = self.continue_with(replaced(&atom, a), eliminations);
                least(first, self.continue_with(replaced(&atom, b), eliminations))
            }
            Step::Cases(cond) => {
                let first = self.continue_with(choose(sum, cond, true), eliminations)?;
                Some(first.max(self.continue_with(choose(sum, cond, false), eliminations)?))
            }
            Step::Quotient(atom, n, d) => {
                // d * (rest + c * (n / d)) is d * rest + c * n - c * (n % d).
                let c = sum.coefficient(&atom);
                let rest = sum.without(&atom).scale(d)?;
                let lost = match self.facts.congruence(n).modulo(d) {
                    Some(r) => Range::point(r as i128),
                    None => Range::new(Some(0), Some(d as i128 - 1)),
                };
                let error = lost.scale(c.checked_neg()?).max()?;
                let bound = self.continue_with(rest.plus_scaled(&Linear::of(n), c), eliminations)?;
                Some(bound.checked_add(error)?.div_euclid(d as i128))
            }
            Step::Product(atom, a, b) => {
                let expanded = product(&Linear::of(a), &Linear::of(b))?;
                self.continue_with(sum.without(&atom).plus_scaled(&expanded, sum.coefficient(&atom)), eliminations)
            }
        }
    }

    /// Adds multiples of learned sums that cancel an atom.
    fn eliminate(&mut self, sum: &Linear, eliminations: u32) -> Option<i128> {
        let facts = self.facts;
        let mut best = None;
        for (atom, c) in &sum.terms {
            for (terms, range) in facts.sums_with(atom) {
                let learned = Linear { terms: terms.to_vec(), constant: 0 };
                let unit = learned.coefficient(atom);
                // There is no multiple where the quotient leaves 64 bits, either.
                let Some(factor) = c.checked_div(unit).filter(|factor| factor * unit == *c) else { continue };
                let Some(known) = range.scale(factor).max() else { continue };
                let Some(negated) = factor.checked_neg() else { continue };
                let rest = sum.plus_scaled(&learned, negated);
                best = least(best, self.continue_with(rest, eliminations).and_then(|b| b.checked_add(known)));
            }
        }
        best
    }

    /// What to take apart next, among the terms that depend on what other terms depend on: the most urgent, or if that
    /// is a free choice, each of the free choices in turn.
    fn next_steps<'s>(&self, sum: &'s Linear) -> Vec<Step<'s>> {
        let support: Vec<u64> = sum.terms.iter().map(|(atom, _)| self.facts.support(atom)).collect();
        let mut steps: Vec<(u8, Step<'s>)> = Vec::new();
        for (i, (atom, c)) in sum.terms.iter().enumerate() {
            let others = support.iter().enumerate().filter(|(j, _)| *j != i).fold(0, |all, (_, s)| all | s);
            if support[i] & others == 0 && !self.facts.has_sums() && !matches!(atom.kind(), ExprKind::Likely(_)) {
                continue;
            }
            steps.extend(step_for(atom, *c));
        }
        steps.sort_by_key(|(urgency, _)| *urgency);
        if let Some((_, Step::Quotient(_, _, d))) = steps.first()
            && (*d > LARGEST_SCALE || sum.scale(*d).is_none())
        {
            return Vec::new();
        }
        let free = matches!(steps.first(), Some((_, Step::Free(..))));
        let count = if free { steps.iter().filter(|(_, s)| matches!(s, Step::Free(..))).count() } else { 1 };
        steps.into_iter().take(count).map(|(_, step)| step).collect()
    }
}

/// How an atom is taken apart, and how soon: forced choices, then quotients that hide choices, free choices, and last
/// the quotients that hide none, which lose precision.
fn step_for(atom: &Expr, c: i64) -> Option<(u8, Step<'_>)> {
    Some(match atom.kind() {
        ExprKind::Likely(a) => (0, Step::Free(atom.clone(), [a, a])),
        ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => {
            if (*op == BinOp::Max) == (c > 0) {
                (1, Step::Forced(atom.clone(), [a, b]))
            } else {
                // An arm may hide a forced choice, which must be made before the last free one.
                let urgency = match () {
                    _ if is_choice(a) || is_choice(b) => 4,
                    _ if hides_choice(a) || hides_choice(b) => 5,
                    _ => 6,
                };
                (urgency, Step::Free(atom.clone(), [a, b]))
            }
        }
        ExprKind::Select(cond, ..) => (1, Step::Cases(cond)),
        ExprKind::Binary(BinOp::Mul, a, b) if a.lanes() == 1 => {
            let simple = |e: &Expr| Linear::of(e).as_atom().is_some();
            if simple(a) && simple(b) {
                return None;
            }
            (2, Step::Product(atom.clone(), a, b))
        }
        ExprKind::Binary(BinOp::Div, n, d) => {
            let d = as_int(d).filter(|d| *d > 0)?;
            (if hides_choice(n) { 3 } else { 7 }, Step::Quotient(atom.clone(), n, d))
        }
        _ => return None,
    })
}

/// Whether a choice is among the terms of `e`.
fn is_choice(e: &Expr) -> bool {
    Linear::of(e)
        .terms
        .iter()
        .any(|(atom, _)| matches!(atom.kind(), ExprKind::Binary(BinOp::Min | BinOp::Max, ..) | ExprKind::Select(..)))
}

/// Whether a choice is among the terms of `e`, or of the numerators of its quotients.
fn hides_choice(e: &Expr) -> bool {
    let in_quotient = |atom: &Expr| matches!(atom.kind(), ExprKind::Binary(BinOp::Div, n, _) if hides_choice(n));
    is_choice(e) || Linear::of(e).terms.iter().any(|(atom, _)| in_quotient(atom))
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
            let factor = crate::ir::build::mul(first.clone(), second.clone());
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

impl Facts {
    /// A set of hash bits of the symbols in `e`: two expressions without a common bit have no common symbol.
    pub(crate) fn support(&self, e: &Expr) -> u64 {
        if let Some(bits) = self.cache.borrow().support(e) {
            return bits;
        }
        let is_known = |e: &Expr| self.cache.borrow().support(e).is_some();
        postorder(e, is_known, |e| {
            let own = match e.kind() {
                ExprKind::Sym(_) | ExprKind::Param(_) | ExprKind::Read { .. } | ExprKind::Load { .. } => {
                    1u64 << (e.structural_hash() % 64)
                }
                _ => 0,
            };
            let mut bits = own;
            crate::ir::visit::for_each_child(e, |c| bits |= self.cache.borrow().support(c).unwrap_or(u64::MAX));
            self.cache.borrow_mut().set_support(e, bits);
        });
        self.cache.borrow().support(e).unwrap_or(u64::MAX)
    }
}

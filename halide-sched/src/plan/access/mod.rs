//! Dependence tests: iterations of an update that may touch the same element of its Func.
//!
//! Two iterations touch the same element if all coordinates of one's store equal those of the other's store or load.
//! Each coordinate that is affine gives an equation in the differences of the variables. An equation that has no
//! solution, because of divisibility or of the ranges of the variables, shows that such iterations do not exist; one
//! that leaves a variable no room to differ shows that they agree on it, which may help another equation.

#[cfg(test)]
mod tests;

use crate::plan::affine::{Affine, Atom};
use std::collections::BTreeSet;

/// The known part of a variable's range, `min .. min + extent`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    pub(super) min: Option<i64>,
    pub(super) extent: Option<i64>,
}

/// The elements of its Func that an update touches: coordinates per access, `None` where one is not affine.
#[derive(Clone, Debug)]
pub(super) struct Accesses {
    variables: Vec<(Atom, Range)>,
    store: Vec<Option<Affine>>,
    loads: Vec<Vec<Option<Affine>>>,
}

/// The kinds of dependence between iterations that differ in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collision {
    /// Store to the same element.
    Stores,
    /// Load what another stores.
    Loads,
}

impl Accesses {
    pub(super) fn new(
        variables: Vec<(Atom, Range)>,
        store: Vec<Option<Affine>>,
        loads: Vec<Vec<Option<Affine>>>,
    ) -> Accesses {
        Accesses { variables, store, loads }
    }

    /// For each variable: whether two iterations that agree on the variables numbered `equal` but differ in this one
    /// never touch the same element, or what they may do.
    pub(super) fn told_apart(&self, equal: &BTreeSet<usize>) -> Vec<Result<(), Collision>> {
        let mut apart = vec![Ok(()); self.variables.len()];
        let stores = std::iter::once((&self.store, Collision::Stores));
        for (other, collision) in stores.chain(self.loads.iter().map(|l| (l, Collision::Loads))) {
            let Some(agreed) = self.meeting(other, equal) else { continue };
            for (v, result) in apart.iter_mut().enumerate() {
                if !agreed.contains(&v) && result.is_ok() {
                    *result = Err(collision);
                }
            }
        }
        apart
    }

    /// The variables on which an iteration and another one, which accesses `other` where the first stores, agree at
    /// least; `None` if there are no two such iterations.
    fn meeting(&self, other: &[Option<Affine>], equal: &BTreeSet<usize>) -> Option<BTreeSet<usize>> {
        let mut agreed = equal.clone();
        loop {
            let before = agreed.len();
            for (a, b) in self.store.iter().zip(other) {
                let (Some(a), Some(b)) = (a, b) else { continue };
                let Some(equation) = self.equation(a, b, &agreed) else { continue };
                if !equation.has_solution() {
                    return None;
                }
                agreed.extend(equation.without_room());
            }
            if agreed.len() == before {
                return Some(agreed);
            }
        }
    }

    /// `a` in one iteration equals `b` in another; `None` if what is constant for the run does not cancel.
    fn equation(&self, a: &Affine, b: &Affine, agreed: &BTreeSet<usize>) -> Option<Equation> {
        let of = |form: &Affine, atom: Atom| form.terms.get(&atom).copied().unwrap_or(0);
        let is_variable = |atom: &Atom| self.variables.iter().any(|(v, _)| v == atom);
        if a.terms.keys().chain(b.terms.keys()).any(|t| !is_variable(t) && of(a, *t) != of(b, *t)) {
            return None;
        }
        let mut terms = Vec::new();
        for (v, &(atom, range)) in self.variables.iter().enumerate() {
            let (in_a, in_b) = (of(a, atom), of(b, atom));
            let values =
                range.min.zip(range.extent).map(|(min, n)| (i128::from(min), i128::from(min) + i128::from(n) - 1));
            if agreed.contains(&v) {
                terms.push(Term { factor: in_a.checked_sub(in_b)?, values, difference_of: None });
            } else if in_a == in_b {
                let reach = range.extent.map(|n| i128::from((n - 1).max(0)));
                let values = reach.map(|n| (-n, n));
                terms.push(Term { factor: in_a, values, difference_of: Some(v) });
            } else {
                terms.push(Term { factor: in_a, values, difference_of: None });
                terms.push(Term { factor: in_b.checked_neg()?, values, difference_of: None });
            }
        }
        terms.retain(|t| t.factor != 0);
        Some(Equation { terms, offset: a.offset.checked_sub(b.offset)? })
    }
}

/// `sum of terms + offset = 0` in integers.
struct Equation {
    terms: Vec<Term>,
    offset: i128,
}

/// A multiple, not by 0, of an unknown.
struct Term {
    factor: i128,
    /// The least and the largest value of the unknown, where known.
    values: Option<(i128, i128)>,
    /// The variable whose two values the unknown is the difference of.
    difference_of: Option<usize>,
}

impl Term {
    fn reach(&self) -> Option<(i128, i128)> {
        let (least, most) = self.values?;
        let (a, b) = (least.checked_mul(self.factor)?, most.checked_mul(self.factor)?);
        Some((a.min(b), a.max(b)))
    }
}

impl Equation {
    /// Returns false if divisibility or the ranges of the unknowns exclude a solution.
    fn has_solution(&self) -> bool {
        let divisor = self.terms.iter().fold(0, |g, t| gcd(g, t.factor));
        let divides = if divisor == 0 { self.offset == 0 } else { self.offset % divisor == 0 };
        divides && self.others(None).is_none_or(|(least, most)| least <= 0 && 0 <= most)
    }

    /// The variables that cannot differ: one step of them moves the sum further than all else can move it back.
    fn without_room(&self) -> Vec<usize> {
        let fixed = |(i, t): (usize, &Term)| {
            let (least, most) = self.others(Some(i))?;
            let step = t.factor.checked_abs()?;
            t.difference_of.filter(|_| least > -step && most < step)
        };
        self.terms.iter().enumerate().filter_map(fixed).collect()
    }

    /// The range of the left side without term number `without`.
    fn others(&self, without: Option<usize>) -> Option<(i128, i128)> {
        let mut sum = (self.offset, self.offset);
        for (_, term) in self.terms.iter().enumerate().filter(|(i, _)| Some(*i) != without) {
            let (least, most) = term.reach()?;
            sum = (sum.0.checked_add(least)?, sum.1.checked_add(most)?);
        }
        Some(sum)
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

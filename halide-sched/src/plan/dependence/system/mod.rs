//! Systems of linear conditions on integers, and whether they may have a solution.
//!
//! Equations are used to replace unknowns; what is left is decided by Fourier-Motzkin elimination, whose answer is
//! exact for rationals. So "no solution" is certain and "a solution" may be wrong, where only fractions solve the
//! system. Eliminating an unknown with factors of 1 is exact for integers too, and what is divided by a common factor
//! behind it is rounded; so there are two orders of elimination, of which the second one begins with such unknowns.

#[cfg(test)]
mod tests;

use crate::tuning::MOST_CONDITIONS;
use std::collections::BTreeMap;

/// An unknown integer.
pub(super) type Unknown = usize;

/// `sum of coefficient * unknown + constant`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    terms: BTreeMap<Unknown, i128>,
    constant: i128,
}

impl Form {
    pub(super) fn constant(constant: i128) -> Form {
        Form { terms: BTreeMap::new(), constant }
    }
    pub(super) fn of(unknown: Unknown) -> Form {
        Form { terms: BTreeMap::from([(unknown, 1)]), constant: 0 }
    }
    /// `self + other * factor`; `None` where that leaves 128 bits.
    pub(super) fn plus(&self, other: &Form, factor: i128) -> Option<Form> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (u, c) in &other.terms {
            let all = sum.terms.entry(*u).or_insert(0);
            *all = all.checked_add(c.checked_mul(factor)?)?;
        }
        sum.terms.retain(|_, c| *c != 0);
        Some(sum)
    }
    fn content(&self) -> i128 {
        self.terms.values().fold(0, |g, c| gcd(g, c.unsigned_abs()) as i128)
    }
    fn of_unknown(&self, u: Unknown) -> i128 {
        self.terms.get(&u).copied().unwrap_or(0)
    }
}

fn gcd(a: i128, b: u128) -> u128 {
    let (mut a, mut b) = (a.unsigned_abs(), b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Conditions that all hold.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    zero: Vec<Form>,
    at_least_zero: Vec<Form>,
}

impl System {
    pub(super) fn zero(&mut self, form: Form) {
        self.zero.push(form);
    }
    pub(super) fn at_least_zero(&mut self, form: Form) {
        self.at_least_zero.push(form);
    }

    /// Returns false if there is certainly no solution.
    pub(super) fn may_hold(self) -> bool {
        let may = |order| self.clone().decide(order).unwrap_or(true);
        may(Order::Fewest) && may(Order::Exact)
    }

    /// `None`: too large to tell.
    fn decide(mut self, order: Order) -> Option<bool> {
        while let Some(equation) = self.zero.pop() {
            let content = equation.content();
            if content == 0 {
                if equation.constant != 0 {
                    return Some(false);
                }
                continue;
            }
            if equation.constant % content != 0 {
                return Some(false);
            }
            let (&unknown, &c) = equation.terms.iter().min_by_key(|(_, c)| c.abs())?;
            // Multiplied by |c|, the unknown is replaced exactly.
            let replace = |form: &Form| {
                let k = form.of_unknown(unknown);
                let scaled = Form::default().plus(form, c.abs())?;
                scaled.plus(&equation, (-k).checked_mul(c.signum())?)
            };
            self.zero = self.zero.iter().map(replace).collect::<Option<_>>()?;
            self.at_least_zero = self.at_least_zero.iter().map(replace).collect::<Option<_>>()?;
        }
        let mut left = self.at_least_zero;
        loop {
            left = left.into_iter().map(tightened).collect();
            left.sort();
            left.dedup();
            if left.iter().any(|f| f.terms.is_empty() && f.constant < 0) {
                return Some(false);
            }
            left.retain(|f| !f.terms.is_empty());
            let Some(unknown) = next(&left, order) else { return Some(true) };
            left = eliminated(left, unknown)?;
            if left.len() > MOST_CONDITIONS {
                return None;
            }
        }
    }
}

/// The order in which unknowns are eliminated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Unknowns first whose elimination makes the fewest new conditions.
    Fewest,
    /// Unknowns first whose elimination is exact for integers.
    Exact,
}

/// The unknown to eliminate.
fn next(conditions: &[Form], order: Order) -> Option<Unknown> {
    /// Conditions that bound an unknown from one side, and the largest factor.
    type Bounds = (usize, i128);
    let mut signs: BTreeMap<Unknown, (Bounds, Bounds)> = BTreeMap::new();
    for (u, c) in conditions.iter().flat_map(|f| &f.terms) {
        let (above, below) = signs.entry(*u).or_default();
        let (number, factor) = if *c > 0 { above } else { below };
        *number += 1;
        *factor = (*factor).max(c.abs());
    }
    let cost = |((a, by), (b, of)): &(Bounds, Bounds)| (order == Order::Exact && *by > 1 && *of > 1, a * b);
    signs.iter().min_by_key(|(_, bounds)| cost(bounds)).map(|(unknown, _)| *unknown)
}

/// Divided by what its terms have in common: integers leave the constant less room.
fn tightened(form: Form) -> Form {
    let content = form.content();
    if content <= 1 {
        return form;
    }
    let terms = form.terms.into_iter().map(|(u, c)| (u, c / content)).collect();
    Form { terms, constant: form.constant.div_euclid(content) }
}

/// Eliminates an unknown (Fourier-Motzkin): returns the conditions that follow for the other unknowns.
fn eliminated(conditions: Vec<Form>, unknown: Unknown) -> Option<Vec<Form>> {
    let (with, mut rest): (Vec<Form>, Vec<Form>) = conditions.into_iter().partition(|f| f.of_unknown(unknown) != 0);
    let (lower, upper): (Vec<Form>, Vec<Form>) = with.into_iter().partition(|f| f.of_unknown(unknown) > 0);
    for a in &lower {
        for b in &upper {
            let (p, q) = (a.of_unknown(unknown), -b.of_unknown(unknown));
            rest.push(Form::default().plus(a, q)?.plus(b, p)?);
        }
    }
    Some(rest)
}

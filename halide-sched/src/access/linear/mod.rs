//! Decides `0 <= p` by refuting `p <= -1`: linear arithmetic with case splits.
//!
//! Atoms become variables, and what they stand for becomes constraints on them: the ends of a loop variable, the two
//! sides of a quotient, `m <= x` and `m <= y` of a minimum. A minimum is one of its arms besides, which the simplex
//! method does not know: where its solution breaks that, each arm is tried, and likewise the integers around a
//! fraction. Splits only follow solutions, so that most minima are never split (the lazy scheme of satisfiability
//! modulo theories: de Moura and Bjørner, *Satisfiability Modulo Theories: Introduction and Applications*, CACM 2011).
//!
//! Products of variables are variables of their own. What has no solution is proved; a solution proves nothing, since
//! definitions beyond the limits are left out.

mod simplex;
#[cfg(test)]
mod tests;

use super::atoms::{Atom, product};
use super::mono::Mono;
use super::poly::{Poly, Span};
use super::read::Reader;
use crate::tuning::{MOST_DEFINED, MOST_NEW};
use halide_ir::hash::Map;
use simplex::{Answer, Bound, Levels, Simplex, Var, level};
use std::collections::VecDeque;

/// The most cases and pivots of a question.
const MOST: (u32, u32) = (96, 400);
/// The same while its definitions are not all written down.
const FEW: (u32, u32) = (12, 60);

/// A constraint `0 <= p` on variables.
enum Constraint {
    Always,
    Never,
    Of(Bound),
}

/// Lists of bounds of which one holds.
type Choice = Vec<Vec<Bound>>;

/// A system of constraints.
struct System<'a, 'p> {
    reader: &'a mut Reader<'p>,
    simplex: Simplex,
    variables: Map<Mono, Var>,
    /// Monomials whose definitions are not written down yet, the nearest to the question first.
    open: VecDeque<Mono>,
    forms: Map<Vec<(Var, i64)>, Var>,
    choices: Vec<Choice>,
    cases: u32,
    /// True if constraints contradict each other.
    is_closed: bool,
}

/// Returns true if `p` is certain to be at least 0 where all of `own` and of `facts` are; facts are
/// [resolved](Reader::resolved).
pub(super) fn follows<'p>(reader: &mut Reader<'p>, p: &Poly<'p>, own: &[Poly<'p>], facts: &[Poly<'p>]) -> bool {
    let mut system = System {
        reader,
        simplex: Simplex::default(),
        variables: Map::default(),
        open: VecDeque::new(),
        forms: Map::default(),
        choices: Vec::new(),
        cases: 0,
        is_closed: false,
    };
    if !system.require(&p.scaled(-1).offset(-1)) {
        return false;
    }
    own.iter().for_each(|fact| {
        system.require(fact);
    });
    let mut left: Vec<&Poly<'p>> = facts.iter().collect();
    // Most is refuted by what lies near.
    loop {
        if system.is_refuted_in(FEW) {
            return true;
        }
        let before = (left.len(), system.variables.len());
        system.define_layer();
        left.retain(|fact| !(system.is_about(fact) && system.require(fact)));
        if before == (left.len(), system.variables.len()) && system.open.is_empty() {
            return system.is_refuted_in(MOST);
        }
    }
}

impl<'p> System<'_, 'p> {
    /// Returns true if a fact says something of the variables, and of few others.
    fn is_about(&self, fact: &Poly<'p>) -> bool {
        let new = fact.terms().iter().filter(|(mono, _)| !self.variables.contains_key(mono)).count();
        new < fact.terms().len() && new <= MOST_NEW
    }

    /// Writes down `0 <= p`; `false` if it is too large.
    fn require(&mut self, p: &Poly<'p>) -> bool {
        let p = self.reader.resolved(p);
        match self.constraint(&p) {
            None => false,
            Some(constraint) => {
                match constraint {
                    Constraint::Always => {}
                    Constraint::Never => self.is_closed = true,
                    Constraint::Of(bound) => {
                        self.is_closed |= matches!(self.simplex.bound(bound), Answer::Infeasible(_));
                    }
                }
                true
            }
        }
    }

    fn equal(&mut self, a: &Poly<'p>, b: &Poly<'p>) {
        self.require(&a.minus(b));
        self.require(&b.minus(a));
    }

    /// `0 <= p` as a bound of a variable or of a form, which has a common divisor of 1 and begins with a positive
    /// coefficient.
    fn constraint(&mut self, p: &Poly<'p>) -> Option<Constraint> {
        if p.is_broken() {
            return None;
        }
        let constant = i64::try_from(p.constant_term()).ok()?;
        let Some((_, first)) = p.terms().first() else {
            return Some(if constant >= 0 { Constraint::Always } else { Constraint::Never });
        };
        let divisor = i64::try_from(p.without_constant().common_divisor(0)).ok()?.checked_mul(first.signum())?;
        let mut terms = Vec::with_capacity(p.terms().len());
        for (mono, k) in p.terms() {
            terms.push((self.variable(*mono), k.checked_div(divisor)?));
        }
        let var = match terms[..] {
            [(var, 1)] => var,
            _ => match self.forms.get(&terms) {
                Some(known) => *known,
                None => {
                    let made = self.simplex.form(&terms)?;
                    self.forms.insert(terms, made);
                    made
                }
            },
        };
        // divisor * var + constant >= 0.
        let is_lower = divisor > 0;
        let value = match is_lower {
            true => constant.div_euclid(divisor).checked_neg()?,
            false => constant.div_euclid(divisor.checked_neg()?),
        };
        Some(Constraint::Of(Bound { var, is_lower, value }))
    }

    fn variable(&mut self, mono: Mono) -> Var {
        *self.variables.entry(mono).or_insert_with(|| {
            self.open.push_back(mono);
            self.simplex.variable()
        })
    }

    /// Writes down what the variables stand for that came up last.
    fn define_layer(&mut self) {
        for _ in 0..self.open.len() {
            if let Some(mono) = self.open.pop_front()
                && self.variables.len() <= MOST_DEFINED
            {
                self.define(mono);
            }
        }
    }

    fn define(&mut self, mono: Mono) {
        let all = (Some(1), Some(1));
        let (low, high): Span = mono.iter().fold(all, |span, a| product(span, self.reader.terms.span(a)));
        let own = self.reader.terms.monomial(mono);
        if let Some(low) = low {
            self.require(&own.offset(-low));
        }
        if let Some(high) = high {
            self.require(&own.scaled(-1).offset(high));
        }
        let Some(atom) = mono.as_atom() else { return };
        match self.reader.terms.atom(atom).clone() {
            Atom::Sym(_) => {
                if let Some(value) = self.reader.value_of(atom) {
                    self.equal(&own, &value);
                } else if let Some((first, last)) = self.reader.loop_of(atom) {
                    self.require(&own.minus(&first));
                    self.require(&last.minus(&own));
                }
            }
            Atom::Min(x, y) => {
                let (over_x, over_y) = (own.minus(&x), own.minus(&y));
                self.require(&over_x.scaled(-1));
                self.require(&over_y.scaled(-1));
                self.choose([vec![over_x], vec![over_y]]);
            }
            Atom::Either(list, _) => {
                self.choose(list.iter().map(|x| vec![own.minus(x), x.minus(&own)]));
            }
            Atom::Div(x, k) => self.define_quotient(&own, &x, &Poly::constant(k)),
            Atom::Mod(x, k) => {
                let quotient = self.reader.terms.div(x, k);
                self.equal(&own, &x.add_scaled(&quotient, -k));
            }
            Atom::Quotient(x, n) => self.define_quotient(&own, &x, &n),
            Atom::Remainder(x, n) => {
                let quotient = self.reader.terms.quotient(x, n);
                self.equal(&own, &x.minus(&quotient.times(&n)));
                self.require(&n.minus(&own).offset(-1));
            }
            Atom::Opaque(e, None, None) => {
                if let Some((base, low, high)) = self.reader.beside(&e) {
                    self.require(&own.minus(&base).offset(-low));
                    self.require(&base.minus(&own).offset(high));
                }
            }
            Atom::Lane(_) | Atom::Opaque(..) => {}
        }
    }

    /// Writes down `0 <= x - n * own <= n - 1`.
    fn define_quotient(&mut self, own: &Poly<'p>, x: &Poly<'p>, n: &Poly<'p>) {
        let rest = x.minus(&own.times(n));
        self.require(&rest);
        self.require(&n.minus(&rest).offset(-1));
    }

    /// Notes that all of one of the lists are at least 0.
    fn choose(&mut self, lists: impl IntoIterator<Item = Vec<Poly<'p>>>) {
        let mut choice = Choice::new();
        for list in lists {
            let (mut bounds, mut can_hold) = (Vec::new(), true);
            for p in list {
                let p = self.reader.resolved(&p);
                match self.constraint(&p) {
                    Some(Constraint::Of(bound)) => bounds.push(bound),
                    Some(Constraint::Always) => {}
                    Some(Constraint::Never) => can_hold = false,
                    // It may hold, and nothing can be said of where.
                    None => return,
                }
            }
            choice.extend(can_hold.then_some(bounds));
        }
        self.choices.push(choice);
    }

    /// Returns true if no integers obey all constraints, as far as so many cases and pivots tell.
    fn is_refuted_in(&mut self, (cases, pivots): (u32, u32)) -> bool {
        self.cases = cases;
        self.simplex.allow(pivots);
        self.is_closed || self.refuted().is_some()
    }

    /// The levels of the cases that contradict the constraints and each other; `None` if integers obey all, or no
    /// answer is found.
    fn refuted(&mut self) -> Option<Levels> {
        match self.simplex.check() {
            Answer::Infeasible(levels) => Some(levels),
            Answer::Unknown => None,
            Answer::Feasible => {
                let mut all = 0;
                for case in self.broken()? {
                    let (levels, own) = self.case_refuted(&case)?;
                    // What contradicts itself without this case does so in the others (conflict-directed backjumping).
                    if levels & own == 0 {
                        return Some(levels);
                    }
                    all |= levels & !own;
                }
                Some(all)
            }
        }
    }

    /// The levels that contradict each other if a case holds, and the level of the case.
    fn case_refuted(&mut self, case: &[Bound]) -> Option<(Levels, Levels)> {
        self.cases = self.cases.checked_sub(1)?;
        let begun = self.simplex.begin();
        let mut found = None;
        for bound in case {
            if let (None, Answer::Infeasible(levels)) = (found, self.simplex.bound(*bound)) {
                found = Some(levels);
            }
        }
        let found = found.or_else(|| self.refuted());
        self.simplex.undo(begun);
        found.map(|levels| (levels, level(begun.0)))
    }

    /// The cases of a choice, or of a fraction, that the present values break.
    fn broken(&self) -> Option<Choice> {
        let holds = |bound: &Bound| self.simplex.obeys(*bound);
        let choice = self.choices.iter().find(|choice| !choice.iter().any(|case| case.iter().all(holds)));
        if let Some(choice) = choice {
            return Some(choice.clone());
        }
        let (var, below) = self.simplex.fraction()?;
        let low = Bound { var, is_lower: false, value: below };
        Some(vec![vec![low], vec![Bound { is_lower: true, value: below.checked_add(1)?, ..low }]])
    }
}

//! Decides `0 <= p` by replacing what was bound last by its definition or its ends, until a constant is left.
//!
//! The answer *yes* is a proof. *No* means that no proof was found within the effort: nothing follows.

use super::atoms::Atom;
use super::hoist::split_minima;
use super::poly::{AtomId, Poly};
use super::read::Reader;
use crate::ir::hash::Map;

/// The most steps of one question.
const EFFORT: u32 = 160;
/// The most facts that one line of reasoning uses.
const MOST_FACTS: u32 = 3;
/// The most monomials of a polynomial that is looked at.
const MOST_TERMS: usize = 48;

/// Answers questions under facts.
#[derive(Default)]
pub(crate) struct Prover {
    facts: Vec<Poly>,
    known: Map<(Poly, Vec<Poly>), bool>,
}

struct Search<'a> {
    facts: &'a [&'a Poly],
    steps: u32,
}

impl Prover {
    /// Takes for granted that `p` is at least 0, until [`Prover::forget`].
    pub(crate) fn assume(&mut self, reader: &Reader<'_>, p: Poly) {
        let either = |p: &Poly| p.atoms().iter().any(|a| matches!(reader.terms.atom(*a), Atom::Either(_)));
        if !either(&p) {
            self.facts.extend(split_minima(&reader.terms, p).into_iter().filter(|p| !either(p)));
        }
    }
    /// The number of facts.
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }
    /// Forgets all but the first `len` facts.
    pub(crate) fn forget(&mut self, len: usize) {
        if self.facts.len() > len {
            self.facts.truncate(len);
            self.known.clear();
        }
    }
    /// Whether `p` is at least 0 where all of `guards` are, for certain.
    pub(crate) fn holds(&mut self, reader: &mut Reader<'_>, p: &Poly, guards: &[Poly]) -> bool {
        let key = (p.clone(), guards.to_vec());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let facts: Vec<&Poly> = guards.iter().chain(&self.facts).collect();
        let mut search = Search { facts: &facts, steps: EFFORT };
        let answer = search.holds(reader, p.clone(), MOST_FACTS);
        self.known.insert(key, answer);
        answer
    }
}

impl Search<'_> {
    fn holds(&mut self, reader: &mut Reader<'_>, p: Poly, facts: u32) -> bool {
        if p.is_broken() || p.terms().len() > MOST_TERMS || self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        if let (Some(low), _) = reader.terms.span_of(&p)
            && low >= 0
        {
            return true;
        }
        // What was bound last; of what depends on it, operations before the symbol itself.
        let Some(last) = p.atoms().into_iter().max_by_key(|a| (reader.terms.level(*a), a.0)) else { return false };
        self.by_atom(reader, &p, last, facts) || self.by_fact(reader, &p, last, facts)
    }

    /// Replaces `atom`.
    fn by_atom(&mut self, reader: &mut Reader<'_>, p: &Poly, atom: AtomId, facts: u32) -> bool {
        let linear = p.linear_in(atom);
        let number = linear.as_ref().and_then(|(k, rest)| Some((k.as_constant()?, rest.clone())));
        match (reader.terms.atom(atom).clone(), number) {
            (Atom::Min(x, y), Some((k, rest))) if k < 0 => {
                self.holds(reader, rest.add_scaled(&x, k), facts) || self.holds(reader, rest.add_scaled(&y, k), facts)
            }
            (Atom::Min(x, y), _) => {
                self.holds(reader, p.substituted(atom, &x), facts) && self.holds(reader, p.substituted(atom, &y), facts)
            }
            (Atom::Either(list), _) => list.iter().all(|x| self.holds(reader, p.substituted(atom, x), facts)),
            (Atom::Div(x, by), Some((k, rest))) => {
                // by * q is at most x, and at least x - by + 1.
                let x = if k < 0 { x } else { x.offset(1 - by) };
                self.holds(reader, rest.scaled(by).add_scaled(&x, k), facts)
            }
            (Atom::Mod(x, by), Some((k, rest))) => {
                let end = if k < 0 { by - 1 } else { 0 };
                if self.holds(reader, rest.add_scaled(&Poly::constant(end), k), facts) {
                    return true;
                }
                // x - by * (x / by), where that cancels something.
                let quotient = reader.terms.div(x.clone(), by);
                let cancels = quotient.atoms().iter().any(|a| p.has(*a));
                cancels && self.holds(reader, rest.add_scaled(&x.add_scaled(&quotient, -by), k), facts)
            }
            (Atom::Sym(_), _) => match reader.value_of(atom) {
                Some(value) => self.holds(reader, p.substituted(atom, &value), facts),
                None => linear.is_some_and(|(k, rest)| self.by_range(reader, atom, k, rest, facts)),
            },
            (Atom::Lane(_) | Atom::Opaque(..), Some((k, rest))) => {
                let span = reader.terms.span(atom);
                let end = if k < 0 { span.1 } else { span.0 };
                end.is_some_and(|end| self.holds(reader, rest.add_scaled(&Poly::constant(end), k), facts))
            }
            _ => false,
        }
    }

    /// Replaces a loop variable with coefficient `k` by the end of its range, or another symbol by that of its interval.
    fn by_range(&mut self, reader: &mut Reader<'_>, atom: AtomId, k: Poly, rest: Poly, facts: u32) -> bool {
        let Some((low, high)) = reader.loop_of(atom) else {
            let span = reader.terms.span(atom);
            let up = k.as_constant().map(|k| k < 0);
            let end = up.and_then(|up| if up { span.1 } else { span.0 });
            return end.is_some_and(|end| self.holds(reader, rest.add_scaled(&k, end), facts));
        };
        let rises = match k.as_constant() {
            Some(k) => Some(k >= 0),
            None if self.holds(reader, k.clone(), facts) => Some(true),
            None => self.holds(reader, k.scaled(-1), facts).then_some(false),
        };
        let end = match rises {
            Some(true) => low,
            Some(false) => high,
            None => return false,
        };
        self.holds(reader, rest.add_scaled(&k.times(&end), 1), facts)
    }

    /// Adds a multiple of a fact that `atom` cancels with.
    fn by_fact(&mut self, reader: &mut Reader<'_>, p: &Poly, atom: AtomId, facts: u32) -> bool {
        if facts == 0 {
            return false;
        }
        let Some((Some(k), _)) = p.linear_in(atom).map(|(k, rest)| (k.as_constant(), rest)) else { return false };
        for at in 0..self.facts.len() {
            let fact = self.facts[at];
            let Some((Some(f), _)) = fact.linear_in(atom).map(|(f, rest)| (f.as_constant(), rest)) else { continue };
            if f.signum() != k.signum() || f == 0 {
                continue;
            }
            let difference = p.scaled(f.abs()).add_scaled(fact, -k.abs());
            if self.holds(reader, difference, facts - 1) {
                return true;
            }
        }
        false
    }
}

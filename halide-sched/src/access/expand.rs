//! Polynomials with names replaced by what they stand for: two values that are equal are then mostly the same
//! polynomial.

use super::atoms::Atom;
use super::mono::AtomId;
use super::poly::Poly;
use super::read::{Definition, Reader};
use crate::tuning::MOST_EXPANDED_TERMS;
use halide_ir::visit::deep;

impl<'p> Reader<'p> {
    /// Returns `p` with every name of a scalar replaced by its value, also inside of other atoms; names of long sums
    /// stay.
    pub(crate) fn expanded(&mut self, p: &Poly<'p>) -> Poly<'p> {
        let mut result = *p;
        for &atom in p.atoms() {
            let value = self.expanded_atom(atom);
            if value.as_atom() != Some(atom) {
                result = result.substituted(atom, &value);
            }
        }
        // Products of sums may be longer than what they were made of is worth.
        if result.is_broken() { *p } else { result }
    }

    /// Returns `p` with its own names replaced by their values, and those in these, as long as it stays short; other
    /// atoms keep theirs.
    pub(super) fn resolved(&mut self, p: &Poly<'p>) -> Poly<'p> {
        let mut result = *p;
        for &atom in p.atoms() {
            if let Some(value) = self.resolved_name(atom) {
                let next = result.substituted(atom, &value);
                if !next.is_broken() && next.len() <= MOST_EXPANDED_TERMS {
                    result = next;
                }
            }
        }
        result
    }

    fn resolved_name(&mut self, atom: AtomId) -> Option<Poly<'p>> {
        if let Some(known) = self.resolutions.get(&atom) {
            return *known;
        }
        let value = self.value_of(atom);
        let made = value.map(|value| deep(|| self.resolved(&value)));
        self.resolutions.insert(atom, made);
        made
    }

    /// Returns true if `p` has no operations but sums and products.
    fn is_sum(&self, p: &Poly<'p>) -> bool {
        p.atoms().iter().copied().all(|a| matches!(self.terms.atom(a), Atom::Sym(_) | Atom::Opaque(..)))
    }

    fn expanded_atom(&mut self, atom: AtomId) -> Poly<'p> {
        if let Some(known) = self.expansions.get(&atom) {
            return *known;
        }
        let made = deep(|| self.expand_atom(atom)).filter(|p| !p.is_broken() && p.len() <= MOST_EXPANDED_TERMS);
        let made = made.unwrap_or_else(|| self.terms.poly(atom));
        self.expansions.insert(atom, made);
        made
    }

    fn expand_atom(&mut self, atom: AtomId) -> Option<Poly<'p>> {
        Some(match self.terms.atom(atom).clone() {
            Atom::Sym(s) => {
                let Some(Definition::Let(value)) = self.defs.get(s).cloned() else { return None };
                let value = self.at_binding(s, &value, |reader| reader.scalar(&value));
                Some(self.expanded(&value)).filter(|p| self.is_sum(p))?
            }
            Atom::Min(x, y) => {
                let (x, y) = (self.expanded(&x), self.expanded(&y));
                self.terms.min(x, y)
            }
            Atom::Either(list, choice) => {
                let list = list.iter().map(|p| self.expanded(p)).collect();
                self.terms.either(list, choice)
            }
            Atom::Div(x, k) => {
                let x = self.expanded(&x);
                self.terms.div(x, k)
            }
            Atom::Mod(x, k) => {
                let x = self.expanded(&x);
                self.terms.rem(x, k)
            }
            Atom::Quotient(x, n) => {
                let (x, n) = (self.expanded(&x), self.expanded(&n));
                self.terms.quotient(x, n)
            }
            Atom::Remainder(x, n) => {
                let (x, n) = (self.expanded(&x), self.expanded(&n));
                self.terms.remainder(x, n)
            }
            Atom::Lane(_) | Atom::Opaque(..) => return None,
        })
    }
}

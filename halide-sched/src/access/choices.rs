//! Choices in polynomials: one of several values, of which it is not known which.
//!
//! No question can name a choice. An inequality is asked for each of its values; a guard is whatever makes it hold.

use super::atoms::{Atom, Terms};
use super::exact::Exact;
use super::hoist::Hoisted;
use super::mono::AtomId;
use super::poly::Poly;
use super::read::Reader;
use crate::tuning::MOST_PARTS;
use halide_ir::hash::Map;

impl<'p> Terms<'p> {
    /// True if a choice is directly below `atom`, or what depends on one.
    pub(super) fn is_made_of_choices(&self, atom: &Atom<'p>) -> bool {
        let of = |p: &Poly<'p>| p.atoms().iter().any(|a| self.has_choice(*a));
        match atom {
            Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => false,
            Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => of(x) || of(y),
            Atom::Either(list, _) => list.iter().any(of),
            Atom::Div(x, _) | Atom::Mod(x, _) => of(x),
        }
    }

    /// The first choice that `p` depends on, also inside of other atoms; one inside of another choice comes first.
    fn choice_in(&self, p: &Poly<'p>) -> Option<AtomId> {
        let mut with_choice = p.atoms().iter().copied().filter(|a| self.has_choice(*a));
        with_choice.find_map(|a| match self.atom(a) {
            Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => None,
            Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => {
                self.choice_in(x).or_else(|| self.choice_in(y))
            }
            Atom::Either(list, _) => list.iter().find_map(|p| self.choice_in(p)).or(Some(a)),
            Atom::Div(x, _) | Atom::Mod(x, _) => self.choice_in(x),
        })
    }
}

impl<'p> Reader<'p> {
    /// `h` for each value of the choices in its polynomial, which its guards may depend on, too; `None` if there are
    /// none, or too many.
    pub(super) fn each_choice(&mut self, h: Hoisted<'p>) -> Option<Vec<Hoisted<'p>>> {
        self.terms.choice_in(&h.p)?;
        let (mut open, mut done) = (vec![Hoisted { exact: Exact::Nowhere, ..h }], Vec::new());
        while let Some(h) = open.pop() {
            let choice = self.terms.choice_in(&h.p);
            let Some((choice, Atom::Either(list, _))) = choice.map(|a| (a, self.terms.atom(a).clone())) else {
                done.push(h);
                continue;
            };
            if done.len() + open.len() + list.len() > MOST_PARTS {
                return None;
            }
            for value in &list {
                let mut memo = Map::default();
                let p = self.terms.replaced(&h.p, choice, value, &mut memo);
                let guards: Vec<_> =
                    h.guards.iter().map(|g| self.terms.replaced(g, choice, value, &mut memo)).collect();
                open.push(Hoisted { p, guards: self.terms.list_as(h.guards, &guards), ..h });
            }
        }
        let is_broken = |h: &Hoisted<'p>| h.p.is_broken() || h.guards.iter().any(Poly::is_broken);
        Some(done).filter(|values| !values.iter().any(is_broken))
    }

    /// A guard that holds wherever `guard` does, whatever is chosen. Under it, more may be asked than is needed.
    pub(crate) fn by_some_choice(&mut self, guard: Poly<'p>) -> Poly<'p> {
        let values = self.each_choice(Hoisted::new(guard, &[], 0)).unwrap_or_default();
        values.into_iter().map(|h| h.p).reduce(|a, b| self.terms.max(a, b)).unwrap_or(guard)
    }
}

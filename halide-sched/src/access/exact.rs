//! Places at which an inequality asks for no more than its access needs.

use super::atoms::{Atom, Terms};
use super::hoist::Hoisted;
use super::mono::AtomId;
use super::poly::Poly;
use super::read::Reader;
use crate::tuning::{MOST_LANES, MOST_MINIMA, MOST_PERIOD};
use halide_ir::hash::Map;

/// The last place, on the way out of loops, at which an inequality holds if and only if its access stays inside.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exact<'p> {
    /// The place that it came to.
    Here,
    /// A place before that, with the inequality as it was there, but for a constant to be added.
    At(&'p Asked<'p>, i64),
    /// None: it was replaced by one that implies it where the access stands.
    Nowhere,
}

/// An inequality at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'p> {
    /// `0 <= p`.
    pub(crate) p: Poly<'p>,
    /// It is needed where these are all at least 0.
    pub(crate) guards: &'p [Poly<'p>],
    /// The frame, by its number.
    pub(crate) frame: usize,
}

impl<'p> Terms<'p> {
    /// The place that `h` came to.
    pub(super) fn exact_at(&self, h: &Hoisted<'p>) -> Exact<'p> {
        Exact::At(self.kept(Asked { p: h.p, guards: h.guards, frame: h.frame }), 0)
    }
}

impl<'p> Exact<'p> {
    /// True if the inequality was exact all the way.
    pub(crate) fn is_here(&self) -> bool {
        matches!(self, Exact::Here)
    }
    /// The same for an inequality that is greater by `constant`.
    pub(super) fn offset(self, constant: i128) -> Exact<'p> {
        match self {
            Exact::At(asked, before) => match i64::try_from(i128::from(before) + constant) {
                Ok(constant) => Exact::At(asked, constant),
                Err(_) => Exact::Nowhere,
            },
            other => other,
        }
    }
}

/// The direction in which a polynomial goes with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It does not depend on the variable.
    Flat,
    /// It never falls.
    Up,
    /// It never rises.
    Down,
}

impl Way {
    /// The direction of both together.
    fn and(self, other: Way) -> Option<Way> {
        match (self, other) {
            (Way::Flat, way) | (way, Way::Flat) => Some(way),
            _ => (self == other).then_some(self),
        }
    }
    fn reversed(self) -> Way {
        match self {
            Way::Flat => Way::Flat,
            Way::Up => Way::Down,
            Way::Down => Way::Up,
        }
    }
}

impl<'p> Reader<'p> {
    /// The direction of `p` with `atom`; `None` if parts of it go different ways, or it is not known.
    pub(super) fn direction(&self, p: &Poly<'p>, atom: AtomId) -> Option<Way> {
        self.direction_by_arms(p, atom, MOST_MINIMA)
    }

    /// A minimum goes up or down if all of `p` does with each of its arms.
    fn direction_by_arms(&self, p: &Poly<'p>, atom: AtomId, minima: u32) -> Option<Way> {
        let arms = p.atoms().iter().copied().find_map(|a| match self.terms.atom(a) {
            Atom::Min(x, y) if minima > 0 && self.terms.atom_depends(a, atom) => {
                let (k, rest) = p.linear_in(a)?;
                let k = k.as_constant()?;
                Some((rest.add_scaled(x, k), rest.add_scaled(y, k)))
            }
            _ => None,
        });
        if let Some((x, y)) = arms {
            return self.direction_by_arms(&x, atom, minima - 1)?.and(self.direction_by_arms(&y, atom, minima - 1)?);
        }
        let mut all = Way::Flat;
        for a in p.atoms().iter().copied().filter(|a| self.terms.atom_depends(*a, atom)) {
            let (factor, _) = p.linear_in(a)?;
            let way = self.direction_of(a, atom)?;
            let way = match self.terms.span_of(&factor) {
                _ if self.terms.depends(&factor, atom) => return None,
                (Some(least), _) if least >= 0 => way,
                (_, Some(most)) if most <= 0 => way.reversed(),
                _ => return None,
            };
            all = all.and(way)?;
        }
        Some(all)
    }

    fn direction_of(&self, a: AtomId, atom: AtomId) -> Option<Way> {
        if a == atom {
            return Some(Way::Up);
        }
        match self.terms.atom(a) {
            Atom::Min(x, y) => self.direction(x, atom)?.and(self.direction(y, atom)?),
            Atom::Div(x, _) => self.direction(x, atom),
            Atom::Quotient(x, n) if !self.terms.depends(n, atom) => self.direction(x, atom),
            _ => None,
        }
    }

    /// The inequalities that `0 <= p` becomes over a range of `atom`, each with the guard under which it is needed,
    /// where `p` goes one way in steps of a period: `x / 2 + x % 2` does in steps of 2.
    pub(super) fn by_residues(
        &mut self,
        p: &Poly<'p>,
        atom: AtomId,
        low: &Poly<'p>,
        high: &Poly<'p>,
    ) -> Option<Vec<(Poly<'p>, Poly<'p>)>> {
        let mut period = 1;
        if self.period(p, atom, &mut period).is_none() {
            // A few lanes are taken one by one.
            let last = self.terms.span_of(&high.minus(low)).1.filter(|last| *last < MOST_LANES)?;
            period = matches!(self.terms.atom(atom), Atom::Lane(_)).then_some(last + 1)?;
        }
        let is_short = self.terms.span_of(&high.minus(low)).1.is_some_and(|last| last < period);
        let step = self.terms.leaf(Atom::Lane(u32::MAX), (Some(0), None), u32::MAX);
        let number = step.as_atom().filter(|_| period > 1)?;
        let mut list = Vec::new();
        for residue in 0..period {
            let length = high.minus(low).offset(-residue);
            let again = if is_short { 0 } else { period };
            let value = low.offset(residue).add_scaled(&step, again);
            let of_residue = self.terms.replaced(p, atom, &value, &mut Map::default());
            let last = self.terms.div(length, period);
            let end = match self.direction(&of_residue, number)? {
                Way::Down => last,
                Way::Up | Way::Flat => Poly::default(),
            };
            list.push((self.terms.replaced(&of_residue, number, &end, &mut Map::default()), length));
        }
        list.iter().all(|(p, length)| !p.is_broken() && !length.is_broken()).then_some(list)
    }

    /// Makes `period` a multiple of the periods of all divisions of `atom` in `p`; `None` if it is too long.
    fn period(&self, p: &Poly<'p>, atom: AtomId, period: &mut i128) -> Option<()> {
        for a in p.atoms().iter().copied().filter(|a| *a != atom && self.terms.atom_depends(*a, atom)) {
            match self.terms.atom(a) {
                Atom::Min(x, y) => [x, y].into_iter().try_for_each(|x| self.period(x, atom, period))?,
                Atom::Div(x, k) | Atom::Mod(x, k) => {
                    let (factor, _) = x.linear_in(atom).filter(|(_, rest)| !self.terms.depends(rest, atom))?;
                    let own = k / Poly::constant(factor.as_constant()?).common_divisor(*k);
                    *period *= own / Poly::constant(own).common_divisor(*period);
                }
                _ => return None,
            }
        }
        (*period <= MOST_PERIOD).then_some(())
    }
}

//! Loop variables and numbers of lanes taken out of an inequality: one that holds for all of their values.

use super::atoms::Atom;
use super::exact::{Exact, Way};
use super::hoist::{Hoisted, Parts};
use super::mono::AtomId;
use super::poly::Poly;
use super::read::Reader;
use halide_ir::hash::Map;

/// The range of a loop variable.
struct Range<'p> {
    /// Its number among all that were met.
    id: u32,
    atom: AtomId,
    low: Poly<'p>,
    high: Poly<'p>,
}

impl<'p> Reader<'p> {
    /// Adds `0 <= guard` to what an inequality is needed for, unless it is certain.
    pub(super) fn guard(&self, guards: &mut Vec<Poly<'p>>, guard: Poly<'p>) {
        let minimum = guard.atoms().iter().copied().find_map(|a| {
            let Atom::Min(x, y) = self.terms.atom(a) else { return None };
            let (k, rest) = guard.linear_in(a)?;
            let k = k.as_constant().filter(|k| *k > 0)?;
            Some([rest.add_scaled(x, k), rest.add_scaled(y, k)])
        });
        match minimum {
            _ if self.terms.span_of(&guard).0.is_some_and(|low| low >= 0) => {}
            Some(parts) => parts.into_iter().for_each(|part| self.guard(guards, part)),
            None if guards.contains(&guard) => {}
            None => guards.push(guard),
        }
    }

    /// The inequality for all values of a loop variable, or of the number of a lane if there is no range.
    pub(super) fn eliminate(
        &mut self,
        h: Hoisted<'p>,
        atom: AtomId,
        range: Option<(Poly<'p>, Poly<'p>)>,
    ) -> Option<Parts<'p>> {
        let inside = self.terms.depends(&h.p, atom);
        let is_concerned = |reader: &Self, g: &Poly<'p>| reader.terms.depends(g, atom);
        let is_free = !h.guards.iter().any(|g| is_concerned(self, g));
        // A vector has lanes, unless there is a mask.
        let is_never_empty = range.is_none() && is_free;
        let (mut low, mut high) = match range {
            Some(range) => range,
            None => {
                let (low, high) = self.terms.span(atom);
                (Poly::constant(low?), Poly::constant(high?))
            }
        };
        let (mut exact, mut guards) = (h.exact, Vec::with_capacity(h.guards.len() + 1));
        for guard in h.guards {
            if !is_concerned(self, guard) {
                guards.push(*guard);
            } else if !self.narrow(guard, atom, &mut low, &mut high) {
                exact = Exact::Nowhere;
            }
        }
        if !is_never_empty {
            self.guard(&mut guards, high.minus(&low));
        }
        let kept = self.terms.list_as(h.guards, &guards);
        if !inside {
            return Some(Parts::from_elem(Hoisted { guards: kept, exact, ..h }, 1));
        }
        if let Some(way) = self.direction(&h.p, atom) {
            let end = if way == Way::Down { high } else { low };
            let p = self.terms.replaced(&h.p, atom, &end, &mut Map::default());
            return Some(Parts::from_elem(Hoisted { p, guards: kept, exact, ..h }, 1));
        }
        if let Some(list) = self.by_residues(&h.p, atom, &low, &high) {
            let mut made = Parts::new();
            for (p, length) in list {
                let mut guards = guards.clone();
                self.guard(&mut guards, length);
                made.push(Hoisted { p, guards: self.terms.list(&guards), exact, ..h });
            }
            return Some(made);
        }
        if let Some(list) = self.each_choice(h) {
            let each = list.into_iter().map(|of_choice| self.eliminate(of_choice, atom, Some((low, high))));
            if let Some(each) = each.collect::<Option<Vec<_>>>() {
                return Some(each.into_iter().flatten().collect());
            }
        }
        let ids = self.ranges_met.len() as u32;
        let id = *self.ranges_met.entry((atom, low, high)).or_insert(ids);
        let p = self.least(&h.p, &Range { id, atom, low, high })?;
        Some(Parts::from_elem(Hoisted { p, guards: kept, exact: Exact::Nowhere, ..h }, 1))
    }

    /// Narrows a range of `atom` to where `0 <= guard`; false if that cannot be said of its ends.
    fn narrow(&mut self, guard: &Poly<'p>, atom: AtomId, low: &mut Poly<'p>, high: &mut Poly<'p>) -> bool {
        let Some((k, rest)) = guard.linear_in(atom) else { return false };
        let Some(k) = k.as_constant().filter(|_| !self.terms.depends(&rest, atom)) else { return false };
        match k > 0 {
            true => {
                let first = self.terms.div(rest.scaled(-1).offset(k - 1), k);
                *low = self.terms.max(*low, first);
            }
            false => {
                let last = self.terms.div(rest, -k);
                *high = self.terms.min(*high, last);
            }
        }
        true
    }

    /// A lower bound of `p` over a range.
    fn least(&mut self, p: &Poly<'p>, of: &Range<'p>) -> Option<Poly<'p>> {
        let atom = of.atom;
        let mut sum = Poly::default();
        // All monomials with one atom together: those of the variable itself have one coefficient.
        for a in p.atoms().iter().copied().filter(|a| self.terms.atom_depends(*a, atom)).collect::<Vec<_>>() {
            let (factor, _) = p.linear_in(a)?;
            if self.terms.depends(&factor, atom) {
                return None;
            }
            let up = match self.terms.span_of(&factor) {
                (Some(least), _) if least >= 0 => false,
                (_, Some(most)) if most <= 0 => true,
                _ => return None,
            };
            let end = self.end(a, of, up)?;
            sum = sum.add_scaled(&factor.times(&end), 1);
        }
        let mut rest = *p;
        for a in p.atoms().iter().copied().filter(|a| self.terms.atom_depends(*a, atom)).collect::<Vec<_>>() {
            rest = rest.linear_in(a)?.1;
        }
        Some(sum.add_scaled(&rest, 1))
    }

    /// The end of the values of `p`: the least, or with `up` the greatest.
    fn end_of(&mut self, p: &Poly<'p>, of: &Range<'p>, up: bool) -> Option<Poly<'p>> {
        if !self.terms.depends(p, of.atom) {
            return Some(*p);
        }
        if !up {
            return self.least(p, of);
        }
        Some(self.least(&p.scaled(-1), of)?.scaled(-1))
    }

    fn end(&mut self, a: AtomId, of: &Range<'p>, up: bool) -> Option<Poly<'p>> {
        if a == of.atom {
            return Some(if up { of.high } else { of.low });
        }
        if let Some(known) = self.ends_met.get(&(a, of.id, up)) {
            return *known;
        }
        let end = self.end_of_operation(a, of, up);
        self.ends_met.insert((a, of.id, up), end);
        end
    }

    fn end_of_operation(&mut self, a: AtomId, of: &Range<'p>, up: bool) -> Option<Poly<'p>> {
        let atom = of.atom;
        match self.terms.atom(a).clone() {
            Atom::Min(x, y) => {
                let (x, y) = (self.end_of(&x, of, up)?, self.end_of(&y, of, up)?);
                Some(self.terms.min(x, y))
            }
            Atom::Div(x, k) => {
                let x = self.end_of(&x, of, up)?;
                Some(self.terms.div(x, k))
            }
            Atom::Mod(_, k) => Some(Poly::constant(if up { k - 1 } else { 0 })),
            Atom::Quotient(x, n) => {
                if self.terms.depends(&n, atom) {
                    return None;
                }
                let x = self.end_of(&x, of, up)?;
                Some(self.terms.quotient(x, n))
            }
            Atom::Remainder(_, n) if up => (!self.terms.depends(&n, atom)).then(|| n.offset(-1)),
            Atom::Remainder(..) => Some(Poly::constant(0)),
            Atom::Either(list, _) => {
                let mut ends = Vec::new();
                for p in &list {
                    ends.push(self.end_of(p, of, up)?);
                }
                let pick = |a, b| if up { self.terms.max(a, b) } else { self.terms.min(a, b) };
                ends.into_iter().reduce(pick)
            }
            Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => {
                let (least, most) = self.terms.span(a);
                Some(Poly::constant(if up { most? } else { least? }))
            }
        }
    }
}

//! The atoms of polynomials: symbols, and operations that are not sums and products.

use super::mono::{AtomId, Mono};
use super::poly::{Noted, Poly, Span, Sums, Term};
use crate::tuning::{MOST_DEPTH, MOST_INNER, MOST_SUM};
use halide_ir::hash::Map;
use halide_ir::{Expr, Sym};

/// An atom.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Atom<'p> {
    /// A scalar symbol.
    Sym(Sym),
    /// The number of a lane, from 0; the number tells apart vectors of different lanes.
    Lane(u32),
    /// An expression that is not looked into, with the number of the vector whose lane it is.
    Opaque(Expr, Option<u32>, Moment),
    /// The smaller of two.
    Min(Poly<'p>, Poly<'p>),
    /// One of several; which one is not known.
    Either(Vec<Poly<'p>>, Choice),
    /// The Euclidean quotient by a positive constant.
    Div(Poly<'p>, i128),
    /// The Euclidean remainder of a positive constant.
    Mod(Poly<'p>, i128),
    /// The Euclidean quotient by a divisor that is at least 1 wherever it occurs.
    Quotient(Poly<'p>, Poly<'p>),
    /// The Euclidean remainder of such a divisor.
    Remainder(Poly<'p>, Poly<'p>),
}

/// The expression that chooses one of several, with the number of the vector whose lane it is: another one may choose
/// another of the same.
pub(crate) type Choice = (Expr, u32, Moment);

/// The moment at which an expression is evaluated that reads what the program stores to: where the symbol is bound that
/// it is the value of, or where it stands. At another moment it may have another value.
pub(crate) type Moment = Option<Sym>;

#[derive(Debug)]
struct Row<'p> {
    atom: Atom<'p>,
    span: Span,
    level: u32,
    depth: u32,
    /// Hash bits of the leaves that it depends on, and of choices.
    leaves: u64,
    /// True of a choice, and of what depends on one.
    has_choice: bool,
}

/// The most atoms of one program: beyond, no more is proved, and accesses are checked where they stand.
const MOST_ATOMS: usize = AtomId::MOST;

/// The table of atoms.
pub(crate) struct Terms<'p> {
    sums: &'p Sums<'p>,
    rows: Vec<Row<'p>>,
    index: Map<Atom<'p>, AtomId>,
    /// The symbols by the numbers of their bindings.
    bound: Map<u32, AtomId>,
    vectors: u32,
    /// The number of times that intervals of symbols were narrowed.
    time: u32,
}

impl<'p> Terms<'p> {
    /// A table without atoms, whose polynomials are in `sums`.
    pub(crate) fn new(sums: &'p Sums<'p>) -> Terms<'p> {
        let (rows, index, bound) = (Vec::new(), Map::default(), Map::default());
        Terms { sums, rows, index, bound, vectors: 0, time: 0 }
    }
    /// The polynomial that is one atom.
    pub(crate) fn poly(&self, atom: AtomId) -> Poly<'p> {
        self.sums.atom(atom)
    }
    /// A copy of a list that lives as long as all polynomials.
    pub(super) fn list<T: Copy>(&self, list: &[T]) -> &'p [T] {
        self.sums.list(list)
    }
    /// `before` if it is the same list, else a copy of `list`.
    pub(super) fn list_as(&self, before: &'p [Poly<'p>], list: &[Poly<'p>]) -> &'p [Poly<'p>] {
        if before == list { before } else { self.list(list) }
    }
    /// A copy of a value that lives as long as all polynomials.
    pub(super) fn kept<T: Copy>(&self, value: T) -> &'p T {
        self.sums.kept(value)
    }
    /// The polynomial that is one product of atoms.
    pub(super) fn monomial(&self, mono: Mono) -> Poly<'p> {
        self.sums.monomial(mono, 1)
    }
    /// The atom of a number.
    pub(crate) fn atom(&self, id: AtomId) -> &Atom<'p> {
        &self.rows[id.0 as usize].atom
    }
    /// The interval that the atom lies in wherever it occurs.
    pub(crate) fn span(&self, id: AtomId) -> Span {
        self.rows[id.0 as usize].span
    }
    /// The moment at which its last symbol is bound, in the order of bindings; 0 for what is known everywhere.
    pub(crate) fn level(&self, id: AtomId) -> u32 {
        self.rows[id.0 as usize].level
    }
    /// The latest binding that `p` depends on.
    pub(crate) fn level_of(&self, p: &Poly<'p>) -> u32 {
        p.noted(self.time, |terms| self.facts_of(terms)).level
    }
    /// The atom of a symbol that was met before.
    pub(crate) fn find(&self, s: Sym) -> Option<AtomId> {
        self.index.get(&Atom::Sym(s)).copied()
    }
    /// Narrows the interval of a symbol to where `p` is at least 0; false if that says nothing new.
    pub(super) fn narrow(&mut self, p: &Poly<'p>) -> bool {
        let &[atom] = p.atoms() else { return false };
        let Some(k) = p.coefficient(atom).filter(|_| matches!(self.atom(atom), Atom::Sym(_))) else { return false };
        let (old, c) = (self.span(atom), p.constant_term());
        let span = match k > 0 {
            true => (old.0.max(Some(-c.div_euclid(k))), old.1),
            false => (old.0, old.1.into_iter().chain([c.div_euclid(-k)]).min()),
        };
        self.rows[atom.0 as usize].span = span;
        self.time += u32::from(span != old);
        span != old
    }
    /// The symbol of a binding.
    pub(crate) fn bound_at(&self, level: u32) -> Option<AtomId> {
        self.bound.get(&level).copied()
    }
    /// A leaf with the interval it lies in and the number of its binding.
    pub(crate) fn leaf(&mut self, atom: Atom<'p>, span: Span, level: u32) -> Poly<'p> {
        self.intern(atom, span, level).map_or_else(Poly::broken, |id| self.poly(id))
    }
    /// The number of a lane of a new vector.
    pub(crate) fn lane(&mut self, lanes: u16) -> (u32, Poly<'p>) {
        self.vectors += 1;
        let vector = self.vectors;
        (vector, self.leaf(Atom::Lane(vector), (Some(0), Some(i128::from(lanes) - 1)), u32::MAX))
    }
    /// The smaller of two.
    pub(crate) fn min(&mut self, a: Poly<'p>, b: Poly<'p>) -> Poly<'p> {
        let difference = self.span_of(&a.minus(&b));
        if difference.1.is_some_and(|d| d <= 0) {
            return a;
        }
        if difference.0.is_some_and(|d| d >= 0) {
            return b;
        }
        let (x, y) = (self.span_of(&a), self.span_of(&b));
        let low = x.0.zip(y.0).map(|(x, y)| x.min(y));
        let high = [x.1, y.1].into_iter().flatten().min();
        let level = self.level_of(&a).max(self.level_of(&b));
        self.leaf(Atom::Min(a, b), (low, high), level)
    }
    /// The two of which an atom is the smaller one.
    pub(crate) fn smaller_of(&self, id: AtomId) -> Option<(Poly<'p>, Poly<'p>)> {
        match self.atom(id) {
            Atom::Min(x, y) => Some((*x, *y)),
            _ => None,
        }
    }
    /// The larger of two.
    pub(crate) fn max(&mut self, a: Poly<'p>, b: Poly<'p>) -> Poly<'p> {
        self.min(a.scaled(-1), b.scaled(-1)).scaled(-1)
    }
    /// One of several.
    pub(crate) fn either(&mut self, mut list: Vec<Poly<'p>>, choice: Choice) -> Poly<'p> {
        list.dedup();
        if list.len() == 1 {
            return list.remove(0);
        }
        let spans: Vec<Span> = list.iter().map(|p| self.span_of(p)).collect();
        let low = spans.iter().map(|s| s.0).collect::<Option<Vec<_>>>().and_then(|l| l.into_iter().min());
        let high = spans.iter().map(|s| s.1).collect::<Option<Vec<_>>>().and_then(|l| l.into_iter().max());
        let level = list.iter().map(|p| self.level_of(p)).max().unwrap_or(0);
        self.leaf(Atom::Either(list, choice), (low, high), level)
    }
    /// The Euclidean quotient by `k > 0`; multiples of `k` are taken out.
    pub(crate) fn div(&mut self, a: Poly<'p>, k: i128) -> Poly<'p> {
        if k == 1 {
            return a;
        }
        let (multiple, rest) = a.split_multiple(k);
        self.div_rest(rest, k).add_scaled(&multiple, 1)
    }
    fn div_rest(&mut self, a: Poly<'p>, k: i128) -> Poly<'p> {
        if let [(mono, factor)] = a.terms()
            && !a.is_broken()
            && let Some(inner) = mono.as_atom()
        {
            let (factor, constant) = (i128::from(*factor), a.constant_term());
            match self.atom(inner).clone() {
                // A quotient never falls with what is divided, so it is the smaller of two quotients.
                Atom::Min(x, y) => {
                    let (x, y) = (x.scaled(factor).offset(constant), y.scaled(factor).offset(constant));
                    let (x, y) = (self.div(x, k), self.div(y, k));
                    return if factor > 0 { self.min(x, y) } else { self.max(x, y) };
                }
                Atom::Div(x, inner) if factor == 1 && inner.checked_mul(k).is_some() => {
                    return self.div(x.add_scaled(&Poly::constant(inner), constant), inner * k);
                }
                _ => {}
            }
        }
        let (low, high) = self.span_of(&a);
        let span = (low.map(|v| v.div_euclid(k)), high.map(|v| v.div_euclid(k)));
        if let (Some(x), Some(y)) = span
            && x == y
        {
            return Poly::constant(x);
        }
        let level = self.level_of(&a);
        self.leaf(Atom::Div(a, k), span, level)
    }
    /// The Euclidean remainder of `k > 0`.
    pub(crate) fn rem(&mut self, a: Poly<'p>, k: i128) -> Poly<'p> {
        let (_, a) = a.split_multiple(k);
        if let (Some(low), Some(high)) = self.span_of(&a)
            && low.div_euclid(k) == high.div_euclid(k)
        {
            return a.offset(-low.div_euclid(k) * k);
        }
        let level = self.level_of(&a);
        self.leaf(Atom::Mod(a, k), (Some(0), Some(k - 1)), level)
    }
    /// The Euclidean quotient by `n`, which is at least 1.
    pub(crate) fn quotient(&mut self, x: Poly<'p>, n: Poly<'p>) -> Poly<'p> {
        if let Some(k) = n.as_constant().filter(|k| *k > 0) {
            return self.div(x, k);
        }
        // Of `x = n * y + r` with `0 <= r < n` or `-n <= r < 0`, where `y` is read off one atom of the divisor.
        let exact = n.atoms().iter().copied().find_map(|a| {
            n.coefficient(a).filter(|k| *k == 1)?;
            let (y, _) = x.linear_in(a)?;
            match x.minus(&n.times(&y)).as_constant()? {
                0 => Some(y),
                -1 => Some(y.offset(-1)),
                _ => None,
            }
        });
        if let Some(exact) = exact {
            return exact;
        }
        let span = match self.span_of(&x) {
            (Some(low), high) if low >= 0 => (Some(0), high),
            _ => (None, None),
        };
        let level = self.level_of(&x).max(self.level_of(&n));
        self.leaf(Atom::Quotient(x, n), span, level)
    }
    /// The Euclidean remainder of `n`, which is at least 1.
    pub(crate) fn remainder(&mut self, x: Poly<'p>, n: Poly<'p>) -> Poly<'p> {
        if let Some(k) = n.as_constant().filter(|k| *k > 0) {
            return self.rem(x, k);
        }
        let high = self.span_of(&n).1.map(|n| n - 1);
        let level = self.level_of(&x).max(self.level_of(&n));
        self.leaf(Atom::Remainder(x, n), (Some(0), high), level)
    }
    /// The interval that `p` lies in, by the intervals of its atoms.
    pub(crate) fn span_of(&self, p: &Poly<'p>) -> Span {
        if p.is_broken() {
            return (None, None);
        }
        let (low, high) = p.noted(self.time, |terms| self.facts_of(terms)).span.into();
        let shifted = |end: Option<i128>| end.and_then(|v| v.checked_add(p.constant_term()));
        (shifted(low), shifted(high))
    }
    fn facts_of(&self, terms: &[Term]) -> Noted {
        let (mut span, mut level, mut leaves) = ((Some(0), Some(0)), 0, 0);
        for (mono, k) in terms {
            let product =
                mono.iter().fold((Some(i128::from(*k)), Some(i128::from(*k))), |span, a| product(span, self.span(a)));
            let add = |x: Option<i128>, y: Option<i128>| x.zip(y).and_then(|(x, y)| x.checked_add(y));
            span = (add(span.0, product.0), add(span.1, product.1));
            level = mono.iter().map(|a| self.level(a)).max().unwrap_or(0).max(level);
            leaves = mono.iter().fold(leaves, |bits, a| bits | self.rows[a.0 as usize].leaves);
        }
        Noted { span: span.into(), level, time: self.time, leaves }
    }
    /// True if an atom is a choice or depends on one.
    pub(super) fn has_choice(&self, a: AtomId) -> bool {
        self.rows[a.0 as usize].has_choice
    }
    /// True if `p` depends on `atom`, a leaf or a choice, also inside of other atoms.
    pub(crate) fn depends(&self, p: &Poly<'p>, atom: AtomId) -> bool {
        self.leaves_of_poly(p) & leaf_bit(atom) != 0 && p.atoms().iter().any(|a| self.atom_depends(*a, atom))
    }
    /// True if atom `a` is `leaf`, which may be a choice, or depends on it.
    pub(crate) fn atom_depends(&self, a: AtomId, leaf: AtomId) -> bool {
        if a == leaf {
            return true;
        }
        // What is made of a leaf is numbered behind it.
        a > leaf
            && self.rows[a.0 as usize].leaves & leaf_bit(leaf) != 0
            && match self.atom(a) {
                Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => false,
                Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => {
                    self.depends(x, leaf) || self.depends(y, leaf)
                }
                Atom::Either(list, _) => list.iter().any(|p| self.depends(p, leaf)),
                Atom::Div(x, _) | Atom::Mod(x, _) => self.depends(x, leaf),
            }
    }
    /// The hash bits of the leaves of `p`.
    fn leaves_of_poly(&self, p: &Poly<'p>) -> u64 {
        p.noted(self.time, |terms| self.facts_of(terms)).leaves
    }
    /// The number of different leaves of `p`, or a little less.
    pub(crate) fn leaves(&self, p: &Poly<'p>) -> u32 {
        self.leaves_of_poly(p).count_ones()
    }
    /// The numbers of lanes that `p` depends on.
    pub(crate) fn lanes_of(&self, p: &Poly<'p>) -> Vec<AtomId> {
        let mut found = Vec::new();
        // Nothing else is known as late.
        if self.level_of(p) == u32::MAX {
            self.collect_lanes(p, &mut found);
        }
        found
    }
    fn collect_lanes(&self, p: &Poly<'p>, found: &mut Vec<AtomId>) {
        for &a in p.atoms() {
            match self.atom(a) {
                Atom::Lane(_) if !found.contains(&a) => found.push(a),
                Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => {
                    [x, y].into_iter().for_each(|p| self.collect_lanes(p, found))
                }
                Atom::Either(list, _) => list.iter().for_each(|p| self.collect_lanes(p, found)),
                Atom::Div(x, _) | Atom::Mod(x, _) => self.collect_lanes(x, found),
                Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => {}
            }
        }
    }
    /// Adds the symbols that `p` depends on, also inside of other atoms.
    pub(super) fn collect_symbols(&self, p: &Poly<'p>, found: &mut Vec<AtomId>) {
        for &a in p.atoms() {
            match self.atom(a) {
                Atom::Sym(_) if !found.contains(&a) => found.push(a),
                Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => {}
                Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => {
                    self.collect_symbols(x, found);
                    self.collect_symbols(y, found);
                }
                Atom::Either(list, _) => list.iter().for_each(|p| self.collect_symbols(p, found)),
                Atom::Div(x, _) | Atom::Mod(x, _) => self.collect_symbols(x, found),
            }
        }
    }
    /// `p` with `leaf` replaced by `value` everywhere, also inside of other atoms.
    /// `memo` has atoms in which the same was done.
    pub(crate) fn replaced(
        &mut self,
        p: &Poly<'p>,
        leaf: AtomId,
        value: &Poly<'p>,
        memo: &mut Map<AtomId, Poly<'p>>,
    ) -> Poly<'p> {
        let mut result = *p;
        for &a in p.atoms() {
            if a == leaf {
                result = result.substituted(a, value);
            } else if self.atom_depends(a, leaf) {
                let made = match memo.get(&a) {
                    Some(known) => *known,
                    None => self.replaced_in_atom(a, leaf, value, memo),
                };
                result = result.substituted(a, &made);
                memo.insert(a, made);
            }
            if result.len() > MOST_SUM {
                return Poly::broken();
            }
        }
        result
    }
    fn replaced_in_atom(
        &mut self,
        a: AtomId,
        leaf: AtomId,
        value: &Poly<'p>,
        memo: &mut Map<AtomId, Poly<'p>>,
    ) -> Poly<'p> {
        match self.atom(a).clone() {
            Atom::Min(x, y) => {
                let x = self.replaced(&x, leaf, value, memo);
                let y = self.replaced(&y, leaf, value, memo);
                self.min(x, y)
            }
            Atom::Either(list, choice) => {
                let list = list.iter().map(|p| self.replaced(p, leaf, value, memo)).collect();
                self.either(list, choice)
            }
            Atom::Div(x, k) => {
                let x = self.replaced(&x, leaf, value, memo);
                self.div(x, k)
            }
            Atom::Mod(x, k) => {
                let x = self.replaced(&x, leaf, value, memo);
                self.rem(x, k)
            }
            Atom::Quotient(x, n) | Atom::Remainder(x, n) => {
                let x = self.replaced(&x, leaf, value, memo);
                let n = self.replaced(&n, leaf, value, memo);
                match self.atom(a) {
                    Atom::Quotient(..) => self.quotient(x, n),
                    _ => self.remainder(x, n),
                }
            }
            Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => self.poly(a),
        }
    }
    /// The number of an atom; `None` if it is more than is computed with.
    fn intern(&mut self, atom: Atom<'p>, span: Span, level: u32) -> Option<AtomId> {
        if let Some(id) = self.index.get(&atom) {
            return Some(*id);
        }
        let depth = self.depth_of(&atom)?;
        if self.rows.len() >= MOST_ATOMS || depth > MOST_DEPTH {
            return None;
        }
        let id = AtomId(self.rows.len() as u32);
        self.index.insert(atom.clone(), id);
        let is_choice = matches!(atom, Atom::Either(..));
        let below = self.leaves_of(&atom);
        let own = if is_choice || below.is_none() { leaf_bit(id) } else { 0 };
        let leaves = below.unwrap_or(0) | own;
        let has_choice = is_choice || self.is_made_of_choices(&atom);
        if let Atom::Sym(_) = atom
            && level > 0
        {
            self.bound.insert(level, id);
        }
        self.rows.push(Row { atom, span, level, depth, leaves, has_choice });
        Some(id)
    }
    /// The hash bits of the leaves below `atom`; `None` of a leaf.
    fn leaves_of(&self, atom: &Atom<'p>) -> Option<u64> {
        let of = |p: &Poly<'p>| self.leaves_of_poly(p);
        match atom {
            Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => None,
            Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => Some(of(x) | of(y)),
            Atom::Either(list, _) => Some(list.iter().fold(0, |bits, p| bits | of(p))),
            Atom::Div(x, _) | Atom::Mod(x, _) => Some(of(x)),
        }
    }
    /// The depth of the operations in `atom`; `None` if one of its polynomials is too long.
    fn depth_of(&self, atom: &Atom<'p>) -> Option<u32> {
        let inner = |p: &Poly<'p>| {
            let fits = !p.is_broken() && p.len() <= MOST_INNER;
            fits.then(|| p.atoms().iter().map(|a| self.rows[a.0 as usize].depth + 1).max().unwrap_or(1))
        };
        match atom {
            Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => Some(0),
            Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => Some(inner(x)?.max(inner(y)?)),
            Atom::Either(list, _) => list.iter().map(inner).try_fold(0, |most, d| Some(d?.max(most))),
            Atom::Div(x, _) | Atom::Mod(x, _) => inner(x),
        }
    }
}

/// The hash bit of a leaf.
fn leaf_bit(leaf: AtomId) -> u64 {
    1 << (leaf.0 % 64)
}

/// The interval of a product.
pub(super) fn product(a: Span, b: Span) -> Span {
    if a == (Some(0), Some(0)) || b == (Some(0), Some(0)) {
        return (Some(0), Some(0));
    }
    if let ((Some(a0), Some(a1)), (Some(b0), Some(b1))) = (a, b) {
        let corners = [(a0, b0), (a0, b1), (a1, b0), (a1, b1)].map(|(x, y)| x.checked_mul(y));
        return match corners.into_iter().collect::<Option<Vec<_>>>() {
            Some(c) => (c.iter().copied().min(), c.iter().copied().max()),
            None => (None, None),
        };
    }
    // Of half-open intervals only signs are used.
    let sign = |s: Span| match s {
        (Some(low), _) if low >= 0 => 1,
        (_, Some(high)) if high <= 0 => -1,
        _ => 0,
    };
    let least = |s: Span| if sign(s) > 0 { s.0 } else { s.1.map(|v| -v) }.unwrap_or(0);
    match sign(a) * sign(b) {
        0 => (None, None),
        1 => (least(a).checked_mul(least(b)), None),
        _ => (None, least(a).checked_mul(least(b)).map(|v| -v)),
    }
}

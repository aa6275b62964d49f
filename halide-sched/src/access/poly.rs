//! Polynomials with integer coefficients over atoms.

use smallvec::SmallVec;
use std::cmp::Ordering;

/// The number of an atom in [`super::Terms`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct AtomId(pub(crate) u32);

/// A product of atoms, in ascending order; the empty product is 1.
pub(crate) type Mono = SmallVec<[AtomId; 3]>;

/// Coefficients beyond this are not computed with: the polynomial is [`Poly::is_broken`].
const MOST: i128 = 1 << 96;

/// Products of more monomials are not computed.
const MOST_PRODUCTS: usize = 400;
/// The most factors of a monomial.
const MOST_FACTORS: usize = 8;

/// A sum of monomials in ascending order, none with coefficient 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Poly {
    terms: Vec<(Mono, i128)>,
    /// A coefficient grew beyond what is computed with: nothing may be concluded.
    broken: bool,
}

impl Poly {
    /// The constant `value`.
    pub(crate) fn constant(value: i128) -> Poly {
        let terms = if value == 0 { Vec::new() } else { vec![(Mono::new(), value)] };
        Poly { terms, broken: value.abs() > MOST }
    }
    /// The polynomial that nothing is known of.
    pub(crate) fn broken() -> Poly {
        Poly { terms: Vec::new(), broken: true }
    }
    /// The atom itself.
    pub(crate) fn atom(atom: AtomId) -> Poly {
        Poly { terms: vec![(Mono::from_slice(&[atom]), 1)], broken: false }
    }
    /// The product of the atoms of `mono`, times `coefficient`.
    pub(crate) fn monomial(mono: Mono, coefficient: i128) -> Poly {
        if coefficient == 0 {
            return Poly::default();
        }
        Poly { terms: vec![(mono, coefficient)], broken: coefficient.abs() > MOST }
    }
    /// True if a coefficient was too large to compute with.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }
    /// The monomials with their coefficients, in ascending order.
    pub(crate) fn terms(&self) -> &[(Mono, i128)] {
        &self.terms
    }
    /// The value, if it is a constant.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.terms.as_slice() {
            _ if self.broken => None,
            [] => Some(0),
            [(mono, value)] if mono.is_empty() => Some(*value),
            _ => None,
        }
    }
    /// The atom, if it is nothing but one.
    pub(crate) fn as_atom(&self) -> Option<AtomId> {
        match self.terms.as_slice() {
            [(mono, 1)] if mono.len() == 1 && !self.broken => Some(mono[0]),
            _ => None,
        }
    }
    /// The constant term.
    pub(crate) fn constant_term(&self) -> i128 {
        match self.terms.first() {
            Some((mono, value)) if mono.is_empty() => *value,
            _ => 0,
        }
    }
    /// The polynomial without its constant term.
    pub(crate) fn without_constant(&self) -> Poly {
        let terms = self.terms.iter().filter(|(mono, _)| !mono.is_empty()).cloned().collect();
        Poly { terms, broken: self.broken }
    }
    /// The distinct atoms.
    pub(crate) fn atoms(&self) -> SmallVec<[AtomId; 8]> {
        let mut atoms: SmallVec<[AtomId; 8]> = self.terms.iter().flat_map(|(mono, _)| mono.iter().copied()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }
    /// True if `atom` occurs.
    pub(crate) fn has(&self, atom: AtomId) -> bool {
        self.terms.iter().any(|(mono, _)| mono.contains(&atom))
    }
    /// `self + other * factor`.
    pub(crate) fn add_scaled(&self, other: &Poly, factor: i128) -> Poly {
        if factor == 0 {
            return self.clone();
        }
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let mut sum = Poly { terms: Vec::with_capacity(self.terms.len() + other.terms.len()), broken: false };
        sum.broken = self.broken || other.broken;
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => return sum,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((x, _)), Some((y, _))) => x.cmp(y),
            };
            let left = if order == Ordering::Greater { None } else { a.next() };
            let right = if order == Ordering::Less { None } else { b.next() };
            let Some((mono, _)) = left.or(right) else { return sum };
            let scaled = right.map_or(Some(0), |(_, k)| k.checked_mul(factor));
            let total = scaled.and_then(|k| k.checked_add(left.map_or(0, |(_, k)| *k)));
            sum.push(mono.clone(), total);
        }
    }
    /// `self + value`.
    pub(crate) fn offset(&self, value: i128) -> Poly {
        self.add_scaled(&Poly::constant(value), 1)
    }
    /// `self * factor`.
    pub(crate) fn scaled(&self, factor: i128) -> Poly {
        Poly::default().add_scaled(self, factor)
    }
    /// `self - other`.
    pub(crate) fn minus(&self, other: &Poly) -> Poly {
        self.add_scaled(other, -1)
    }
    /// `self * other`.
    pub(crate) fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly { broken: self.broken || other.broken, ..Poly::default() };
        if self.terms.len() * other.terms.len() > MOST_PRODUCTS {
            return Poly::broken();
        }
        for (mono, k) in &other.terms {
            product = product.add_scaled(&self.times_monomial(mono), *k);
        }
        product
    }
    fn times_monomial(&self, factor: &Mono) -> Poly {
        if factor.is_empty() {
            return self.clone();
        }
        let mut terms: Vec<(Mono, i128)> = self.terms.iter().map(|(mono, k)| (merged(mono, factor), *k)).collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Poly { terms, broken: self.broken }
    }
    /// The number that `atom` is multiplied by, if it occurs in no product.
    pub(crate) fn coefficient(&self, atom: AtomId) -> Option<i128> {
        let mut with = self.terms.iter().filter(|(mono, _)| mono.contains(&atom));
        match (with.next(), with.next()) {
            (Some((mono, k)), None) if mono.len() == 1 && !self.broken => Some(*k),
            _ => None,
        }
    }
    /// `(k, rest)` where `self = k * atom + rest` and `atom` occurs in neither; `None` if it occurs in a higher power.
    pub(crate) fn linear_in(&self, atom: AtomId) -> Option<(Poly, Poly)> {
        let (mut factor, mut rest) = (Poly::default(), Poly::default());
        factor.broken = self.broken;
        rest.broken = self.broken;
        for (mono, k) in &self.terms {
            match mono.iter().filter(|a| **a == atom).count() {
                0 => rest.terms.push((mono.clone(), *k)),
                1 => factor.terms.push((mono.iter().copied().filter(|a| *a != atom).collect(), *k)),
                _ => return None,
            }
        }
        factor.terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Some((factor, rest))
    }
    /// The polynomial with `atom` replaced by `value`.
    pub(crate) fn substituted(&self, atom: AtomId, value: &Poly) -> Poly {
        if !self.has(atom) {
            return self.clone();
        }
        let mut sum = Poly { broken: self.broken, ..Poly::default() };
        for (mono, k) in &self.terms {
            let power = mono.iter().filter(|a| **a == atom).count();
            let others: Mono = mono.iter().copied().filter(|a| *a != atom).collect();
            let product = (0..power).fold(Poly::monomial(others, *k), |p, _| p.times(value));
            sum = sum.add_scaled(&product, 1);
        }
        sum
    }
    fn push(&mut self, mono: Mono, coefficient: Option<i128>) {
        match coefficient {
            Some(0) => {}
            Some(k) if k.abs() <= MOST && mono.len() <= MOST_FACTORS => self.terms.push((mono, k)),
            _ => self.broken = true,
        }
    }
}

fn merged(a: &Mono, b: &Mono) -> Mono {
    let mut all: Mono = a.iter().chain(b.iter()).copied().collect();
    all.sort_unstable();
    all
}

//! Polynomials with integer coefficients over atoms.

use super::mono::{AtomId, Mono};
use smallvec::SmallVec;
use std::cell::Cell;
use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

/// Coefficients beyond this are not computed with: the polynomial is [`Poly::is_broken`].
const MOST: i128 = 1 << 96;

/// Products of more monomials are not computed.
const MOST_PRODUCTS: usize = 400;

/// Monomials with their coefficients.
type Terms = SmallVec<[(Mono, i128); 4]>;

/// A sum of monomials. Copies share it, and those that differ by a constant do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Poly {
    constant: i128,
    /// The monomials that are not constant; `None` if there are none.
    sum: Option<Rc<Sum>>,
    /// A coefficient grew beyond what is computed with: nothing may be concluded.
    broken: bool,
}

/// Monomials in ascending order, none with coefficient 0, with a hash of all.
#[derive(Debug)]
struct Sum {
    hash: u64,
    terms: Terms,
    /// Facts of the sum that its reader has found.
    noted: Cell<Option<Noted>>,
}

/// Facts of a sum without its constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    /// The interval that it lies in.
    pub(crate) span: super::atoms::Span,
    /// The latest binding that it depends on.
    pub(crate) level: u32,
    /// The number of what was known of symbols at that time.
    pub(crate) time: u32,
}

impl PartialEq for Sum {
    fn eq(&self, other: &Sum) -> bool {
        self.hash == other.hash && self.terms == other.terms
    }
}
impl Eq for Sum {}

impl Hash for Poly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.sum.as_ref().map_or(0, |sum| sum.hash));
        state.write_u64(self.constant as u64);
    }
}

/// A polynomial in the making.
#[derive(Default)]
struct Made {
    constant: i128,
    terms: Terms,
    broken: bool,
}

impl Made {
    fn push(&mut self, mono: Mono, coefficient: Option<i128>) {
        match coefficient {
            Some(0) => {}
            Some(k) if k.abs() <= MOST => self.terms.push((mono, k)),
            _ => self.broken = true,
        }
    }
    fn add_constant(&mut self, value: Option<i128>) {
        match value.and_then(|v| v.checked_add(self.constant)) {
            Some(sum) if sum.abs() <= MOST => self.constant = sum,
            _ => self.broken = true,
        }
    }
    /// The polynomial, whose terms are in order.
    fn done(self) -> Poly {
        let Made { constant, terms, broken } = self;
        let sum = (!terms.is_empty()).then(|| {
            let hash = BuildHasherDefault::<crate::ir::hash::Spread>::default().hash_one(&terms);
            Rc::new(Sum { hash, terms, noted: Cell::new(None) })
        });
        Poly { constant, sum, broken }
    }
    /// The polynomial, with terms put in order.
    fn sorted(mut self) -> Poly {
        self.terms.sort_unstable_by_key(|a| a.0);
        self.done()
    }
}

impl Poly {
    /// The constant `value`.
    pub(crate) fn constant(value: i128) -> Poly {
        Poly { constant: value, sum: None, broken: value.abs() > MOST }
    }
    /// The polynomial that nothing is known of.
    pub(crate) fn broken() -> Poly {
        Poly { broken: true, ..Poly::default() }
    }
    /// The atom itself.
    pub(crate) fn atom(atom: AtomId) -> Poly {
        Poly::monomial(Mono::atom(atom), 1)
    }
    /// The product of the atoms of `mono`, times `coefficient`.
    pub(crate) fn monomial(mono: Mono, coefficient: i128) -> Poly {
        if mono.is_empty() {
            return Poly::constant(coefficient);
        }
        let mut made = Made::default();
        made.push(mono, Some(coefficient));
        made.done()
    }
    /// True if a coefficient was too large to compute with.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }
    /// The monomials that are not constant with their coefficients, in ascending order.
    pub(crate) fn terms(&self) -> &[(Mono, i128)] {
        self.sum.as_ref().map_or(&[], |sum| &sum.terms)
    }
    /// Facts of the sum without its constant, as `find` finds them in its terms; found once at each `time`.
    pub(crate) fn noted(&self, time: u32, find: impl FnOnce(&[(Mono, i128)]) -> Noted) -> Noted {
        let Some(sum) = &self.sum else { return Noted { span: (Some(0), Some(0)), level: 0, time } };
        match sum.noted.get() {
            Some(noted) if noted.time == time => noted,
            _ => {
                let noted = find(&sum.terms);
                sum.noted.set(Some(noted));
                noted
            }
        }
    }
    /// The number of monomials, with the constant if there is one.
    pub(crate) fn len(&self) -> usize {
        self.terms().len() + usize::from(self.constant != 0)
    }
    /// The value, if it is a constant.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        (self.sum.is_none() && !self.broken).then_some(self.constant)
    }
    /// The atom, if it is nothing but one.
    pub(crate) fn as_atom(&self) -> Option<AtomId> {
        match self.terms() {
            [(mono, 1)] if mono.len() == 1 && self.constant == 0 && !self.broken => mono.iter().next(),
            _ => None,
        }
    }
    /// The constant term.
    pub(crate) fn constant_term(&self) -> i128 {
        self.constant
    }
    /// The polynomial without its constant term.
    pub(crate) fn without_constant(&self) -> Poly {
        Poly { constant: 0, ..self.clone() }
    }
    /// The distinct atoms.
    pub(crate) fn atoms(&self) -> SmallVec<[AtomId; 8]> {
        let mut atoms: SmallVec<[AtomId; 8]> = self.terms().iter().flat_map(|(mono, _)| mono.iter()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }
    /// True if `atom` occurs.
    pub(crate) fn has(&self, atom: AtomId) -> bool {
        self.terms().iter().any(|(mono, _)| mono.contains(atom))
    }
    /// `self + other * factor`.
    pub(crate) fn add_scaled(&self, other: &Poly, factor: i128) -> Poly {
        if factor == 0 {
            return self.clone();
        }
        let mut made = Made { constant: self.constant, broken: self.broken || other.broken, ..Made::default() };
        made.add_constant(other.constant.checked_mul(factor));
        let shared = match (&self.sum, &other.sum) {
            (_, None) => Some(&self.sum),
            (None, Some(_)) if factor == 1 => Some(&other.sum),
            _ => None,
        };
        if let Some(sum) = shared {
            return Poly { constant: made.constant, sum: sum.clone(), broken: made.broken };
        }
        let (mut a, mut b) = (self.terms().iter().peekable(), other.terms().iter().peekable());
        made.terms.reserve(self.terms().len() + other.terms().len());
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => return made.done(),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((x, _)), Some((y, _))) => x.cmp(y),
            };
            let left = if order == Ordering::Greater { None } else { a.next() };
            let right = if order == Ordering::Less { None } else { b.next() };
            let Some((mono, _)) = left.or(right).copied() else { return made.done() };
            let scaled = right.map_or(Some(0), |(_, k)| k.checked_mul(factor));
            let total = scaled.and_then(|k| k.checked_add(left.map_or(0, |(_, k)| *k)));
            if total != Some(0) {
                made.push(mono, total);
            }
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
    /// The greatest number that divides all coefficients and `other`; 0 if these are all 0.
    pub(crate) fn common_divisor(&self, other: i128) -> i128 {
        let all = self.terms().iter().map(|(_, k)| *k).chain([self.constant]);
        all.fold(other.abs(), |mut a, k| {
            let mut b = k.abs();
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        })
    }
    /// `self / by`, where `by` divides all coefficients.
    pub(crate) fn divided(&self, by: i128) -> Poly {
        let mut made = Made { constant: self.constant / by, broken: self.broken, ..Made::default() };
        made.terms.extend(self.terms().iter().map(|(mono, k)| (*mono, k / by)));
        made.done()
    }
    /// `(m, r)` where `self = m * k + r`: `r` has the terms that `k > 0` does not divide, and a constant in `0..k`.
    pub(crate) fn split_multiple(&self, k: i128) -> (Poly, Poly) {
        let mut multiple = Made { constant: self.constant.div_euclid(k), broken: self.broken, ..Made::default() };
        let mut rest = Made { constant: self.constant.rem_euclid(k), broken: self.broken, ..Made::default() };
        for (mono, c) in self.terms() {
            match c % k {
                0 => multiple.terms.push((*mono, c / k)),
                _ => rest.terms.push((*mono, *c)),
            }
        }
        (multiple.done(), rest.done())
    }
    /// `self - other`.
    pub(crate) fn minus(&self, other: &Poly) -> Poly {
        self.add_scaled(other, -1)
    }
    /// `self * other`.
    pub(crate) fn times(&self, other: &Poly) -> Poly {
        if self.len() * other.len() > MOST_PRODUCTS {
            return Poly::broken();
        }
        if other.sum.is_none() {
            return Poly { broken: self.broken || other.broken, ..self.scaled(other.constant) };
        }
        let mut product = self.scaled(other.constant);
        for (mono, k) in other.terms() {
            product = product.add_scaled(&self.times_monomial(*mono), *k);
        }
        Poly { broken: product.broken || self.broken || other.broken, ..product }
    }
    fn times_monomial(&self, factor: Mono) -> Poly {
        let mut made = Made { broken: self.broken, ..Made::default() };
        made.push(factor, Some(self.constant));
        for (mono, k) in self.terms() {
            match mono.times(factor) {
                Some(product) => made.push(product, Some(*k)),
                None => made.broken = true,
            }
        }
        made.sorted()
    }
    /// The number that `atom` is multiplied by, if it occurs in no product.
    pub(crate) fn coefficient(&self, atom: AtomId) -> Option<i128> {
        let mut with = self.terms().iter().filter(|(mono, _)| mono.contains(atom));
        match (with.next(), with.next()) {
            (Some((mono, k)), None) if mono.len() == 1 && !self.broken => Some(*k),
            _ => None,
        }
    }
    /// `(k, rest)` where `self = k * atom + rest` and `atom` occurs in neither; `None` if it occurs in a higher power.
    pub(crate) fn linear_in(&self, atom: AtomId) -> Option<(Poly, Poly)> {
        if !self.has(atom) {
            return Some((Poly { broken: self.broken, ..Poly::default() }, self.clone()));
        }
        let mut factor = Made { broken: self.broken, ..Made::default() };
        let mut rest = Made { constant: self.constant, broken: self.broken, ..Made::default() };
        for (mono, k) in self.terms() {
            let others = mono.without(atom);
            match mono.len() - others.len() {
                0 => rest.terms.push((*mono, *k)),
                1 if others.is_empty() => factor.constant = *k,
                1 => factor.terms.push((others, *k)),
                _ => return None,
            }
        }
        Some((factor.sorted(), rest.done()))
    }
    /// The polynomial with `atom` replaced by `value`.
    pub(crate) fn substituted(&self, atom: AtomId, value: &Poly) -> Poly {
        if !self.has(atom) {
            return self.clone();
        }
        let mut rest = Made { constant: self.constant, broken: self.broken, ..Made::default() };
        rest.terms.extend(self.terms().iter().filter(|(mono, _)| !mono.contains(atom)).copied());
        let mut sum = rest.done();
        for (mono, k) in self.terms().iter().filter(|(mono, _)| mono.contains(atom)) {
            let others = mono.without(atom);
            let power = mono.len() - others.len();
            let product = (0..power).fold(Poly::monomial(others, *k), |p, _| p.times(value));
            sum = sum.add_scaled(&product, 1);
        }
        sum
    }
}

//! Polynomials with integer coefficients over atoms, hash-consed: equal sums are one sum, so copies and comparisons
//! cost nothing.

use super::mono::{AtomId, Mono};
use crate::tuning::{CACHED_SUMS, MOST_PRODUCTS};
use bumpalo::Bump;
use halide_ir::hash::{Map, Spread, begin};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

/// Ends of an interval, inclusive; `None` is unbounded.
pub(crate) type Span = (Option<i128>, Option<i128>);

/// A monomial with its coefficient.
pub(crate) type Term = (Mono, i64);

/// Owner of all sums of one analysis; they end together with it.
pub(crate) struct Sums<'a> {
    memory: Bump,
    /// The sum that was made last of those of each hash.
    known: RefCell<Map<u64, &'a Sum<'a>>>,
}

impl Default for Sums<'_> {
    fn default() -> Self {
        let mut known = Map::default();
        begin(&mut known, CACHED_SUMS);
        Sums { memory: Bump::new(), known: RefCell::new(known) }
    }
}

impl<'a> Sums<'a> {
    /// The sum of terms in ascending order.
    fn sum(&'a self, terms: &[Term]) -> Option<&'a Sum<'a>> {
        if terms.is_empty() {
            return None;
        }
        let hash = BuildHasherDefault::<Spread>::default().hash_one(terms);
        let mut known = self.known.borrow_mut();
        let first = known.get(&hash).copied();
        let mut next = first;
        while let Some(sum) = next {
            if sum.terms == terms {
                return Some(sum);
            }
            next = sum.same_hash;
        }
        let terms = self.memory.alloc_slice_copy(terms);
        let (atoms, noted) = (Cell::new(None), Cell::new(Noted::NONE));
        let sum = &*self.memory.alloc(Sum { home: self, hash, same_hash: first, terms, atoms, noted });
        known.insert(hash, sum);
        Some(sum)
    }
    /// A copy of a list that lives as long as all sums.
    pub(super) fn list<T: Copy>(&'a self, list: &[T]) -> &'a [T] {
        if list.is_empty() { &[] } else { self.memory.alloc_slice_copy(list) }
    }
    /// A copy of a value that lives as long as all sums.
    pub(super) fn kept<T: Copy>(&'a self, value: T) -> &'a T {
        self.memory.alloc(value)
    }
    /// The product of the atoms of `mono`, times `coefficient`.
    pub(super) fn monomial(&'a self, mono: Mono, coefficient: i64) -> Poly<'a> {
        if mono.is_empty() {
            return Poly::constant(coefficient.into());
        }
        let mut made = Made::new(self, 0);
        made.push(mono, Some(coefficient));
        made.done()
    }
    /// The atom itself.
    pub(super) fn atom(&'a self, atom: AtomId) -> Poly<'a> {
        self.monomial(Mono::atom(atom), 1)
    }
}

/// A sum of monomials and a constant.
#[derive(Clone, Copy, Default)]
pub(crate) struct Poly<'a> {
    /// [`BROKEN`] if a coefficient grew beyond what is computed with: nothing may be concluded.
    constant: i64,
    /// The monomials that are not constant; `None` if there are none.
    sum: Option<&'a Sum<'a>>,
}

/// The constant term of what is not computed with.
const BROKEN: i64 = i64::MIN;

/// Monomials in ascending order, none with coefficient 0.
struct Sum<'a> {
    home: &'a Sums<'a>,
    hash: u64,
    /// Another sum of the same hash, which was made before.
    same_hash: Option<&'a Sum<'a>>,
    terms: &'a [Term],
    /// The distinct atoms, once they were asked for.
    atoms: Cell<Option<&'a [AtomId]>>,
    /// Facts of the sum that its reader has found.
    noted: Cell<Noted>,
}

/// Facts of a sum without its constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    /// The interval that it lies in.
    pub(crate) span: Short,
    /// The latest binding that it depends on.
    pub(crate) level: u32,
    /// The number of what was known of symbols at that time.
    pub(crate) time: u32,
    /// Hash bits of the leaves that it depends on.
    pub(crate) leaves: u64,
}

impl Noted {
    /// Facts that no time has.
    const NONE: Noted = Noted { span: Short(0, 0), level: 0, time: u32::MAX, leaves: 0 };
}

/// An interval in two words; an end that does not fit is unbounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short(i64, i64);

impl From<Span> for Short {
    fn from((low, high): Span) -> Short {
        let word = |end: Option<i128>, none: i64| end.and_then(|v| i64::try_from(v).ok()).unwrap_or(none);
        Short(word(low, i64::MIN), word(high, i64::MAX))
    }
}
impl From<Short> for Span {
    fn from(Short(low, high): Short) -> Span {
        let end = |word: i64, none: i64| (word != none).then_some(i128::from(word));
        (end(low, i64::MIN), end(high, i64::MAX))
    }
}

impl PartialEq for Poly<'_> {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (self.sum, other.sum) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        is_same && self.constant == other.constant
    }
}
impl Eq for Poly<'_> {}

impl Hash for Poly<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.sum.map_or(0, |sum| sum.hash));
        state.write_u64(self.constant as u64);
    }
}

impl std::fmt::Debug for Poly<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poly").field("constant", &self.constant).field("terms", &self.terms()).finish()
    }
}

/// A polynomial in the making.
struct Made<'a> {
    home: &'a Sums<'a>,
    constant: i64,
    terms: SmallVec<[Term; 8]>,
}

impl<'a> Made<'a> {
    fn new(home: &'a Sums<'a>, constant: i64) -> Made<'a> {
        Made { home, constant, terms: SmallVec::new() }
    }
    fn push(&mut self, mono: Mono, coefficient: Option<i64>) {
        match coefficient {
            Some(0) => {}
            Some(k) if k != BROKEN => self.terms.push((mono, k)),
            _ => self.constant = BROKEN,
        }
    }
    /// The polynomial, whose terms are in order.
    fn done(self) -> Poly<'a> {
        match self.constant {
            BROKEN => Poly::broken(),
            constant => Poly { constant, sum: self.home.sum(&self.terms) },
        }
    }
    /// The polynomial, with terms put in order.
    fn sorted(mut self) -> Poly<'a> {
        self.terms.sort_unstable_by_key(|a| a.0);
        self.done()
    }
}

impl<'a> Poly<'a> {
    /// The constant `value`.
    pub(crate) fn constant(value: i128) -> Poly<'a> {
        Poly { constant: i64::try_from(value).unwrap_or(BROKEN), sum: None }
    }
    /// The polynomial that nothing is known of.
    pub(crate) fn broken() -> Poly<'a> {
        Poly { constant: BROKEN, sum: None }
    }
    /// True if a coefficient was too large to compute with.
    pub(crate) fn is_broken(&self) -> bool {
        self.constant == BROKEN
    }
    /// The monomials that are not constant with their coefficients, in ascending order.
    pub(crate) fn terms(&self) -> &'a [Term] {
        self.sum.map_or(&[], |sum| sum.terms)
    }
    /// Facts of the sum without its constant, as `find` finds them in its terms; found once at each `time`.
    pub(crate) fn noted(&self, time: u32, find: impl FnOnce(&[Term]) -> Noted) -> Noted {
        let Some(sum) = self.sum else { return Noted { time, ..Noted::NONE } };
        let known = sum.noted.get();
        if known.time == time {
            return known;
        }
        let noted = find(sum.terms);
        sum.noted.set(noted);
        noted
    }
    /// The number of monomials, with the constant if there is one.
    pub(crate) fn len(&self) -> usize {
        self.terms().len() + usize::from(self.constant != 0)
    }
    /// The value, if it is a constant.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        (self.sum.is_none() && !self.is_broken()).then_some(self.constant.into())
    }
    /// The atom, if it is nothing but one.
    pub(crate) fn as_atom(&self) -> Option<AtomId> {
        match self.terms() {
            [(mono, 1)] if self.constant == 0 => mono.as_atom(),
            _ => None,
        }
    }
    /// The constant term.
    pub(crate) fn constant_term(&self) -> i128 {
        self.constant.into()
    }
    /// The polynomial without its constant term.
    pub(crate) fn without_constant(&self) -> Poly<'a> {
        if self.is_broken() { *self } else { Poly { constant: 0, ..*self } }
    }
    /// The distinct atoms in ascending order.
    pub(crate) fn atoms(&self) -> &'a [AtomId] {
        let Some(sum) = self.sum else { return &[] };
        if let Some(known) = sum.atoms.get() {
            return known;
        }
        let mut atoms: SmallVec<[AtomId; 16]> = sum.terms.iter().flat_map(|(mono, _)| mono.iter()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        let atoms = &*sum.home.memory.alloc_slice_copy(&atoms);
        sum.atoms.set(Some(atoms));
        atoms
    }
    /// True if `atom` occurs.
    pub(crate) fn has(&self, atom: AtomId) -> bool {
        self.terms().iter().any(|(mono, _)| mono.contains(atom))
    }
    /// `self + other * factor`.
    pub(crate) fn add_scaled(&self, other: &Poly<'a>, factor: i128) -> Poly<'a> {
        let Ok(factor) = i64::try_from(factor) else { return Poly::broken() };
        if factor == 0 {
            return *self;
        }
        let constant = other.constant.checked_mul(factor).and_then(|v| v.checked_add(self.constant));
        let Some(constant) = constant.filter(|_| !self.is_broken() && !other.is_broken()) else {
            return Poly::broken();
        };
        let (home, left) = match (self.sum, other.sum) {
            (_, None) => return Poly { constant, sum: self.sum },
            (None, Some(sum)) if factor == 1 => return Poly { constant, sum: Some(sum) },
            (None, Some(sum)) => (sum.home, [].as_slice()),
            (Some(own), Some(_)) => (own.home, own.terms),
        };
        let right = other.terms();
        let mut made = Made::new(home, constant);
        made.terms.reserve(left.len() + right.len());
        let (mut i, mut j) = (0, 0);
        while let Some((mono, k)) = right.get(j) {
            let scaled = k.checked_mul(factor);
            match left.get(i).map_or(Ordering::Greater, |(own, _)| own.cmp(mono)) {
                Ordering::Less => {
                    made.terms.push(left[i]);
                    i += 1;
                }
                Ordering::Equal => {
                    made.push(*mono, scaled.and_then(|k| k.checked_add(left[i].1)));
                    (i, j) = (i + 1, j + 1);
                }
                Ordering::Greater => {
                    made.push(*mono, scaled);
                    j += 1;
                }
            }
        }
        made.terms.extend_from_slice(&left[i..]);
        made.done()
    }
    /// `self + value`.
    pub(crate) fn offset(&self, value: i128) -> Poly<'a> {
        self.add_scaled(&Poly::constant(value), 1)
    }
    /// `self * factor`.
    pub(crate) fn scaled(&self, factor: i128) -> Poly<'a> {
        if factor == 1 { *self } else { Poly::default().add_scaled(self, factor) }
    }
    /// The greatest number that divides all coefficients and `other`; 0 if these are all 0.
    pub(crate) fn common_divisor(&self, other: i128) -> i128 {
        let all = self.terms().iter().map(|(_, k)| *k).chain([self.constant]);
        all.fold(other.abs(), |mut a, k| {
            let mut b = i128::from(k).abs();
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        })
    }
    /// `self / by`, where `by` divides all coefficients.
    pub(crate) fn divided(&self, by: i128) -> Poly<'a> {
        let Ok(by) = i64::try_from(by) else { return Poly::broken() };
        let constant = self.constant.checked_div(by).filter(|_| !self.is_broken());
        let Some(constant) = constant else { return Poly::broken() };
        let Some(sum) = self.sum else { return Poly { constant, sum: None } };
        let mut made = Made::new(sum.home, constant);
        sum.terms.iter().for_each(|(mono, k)| made.push(*mono, k.checked_div(by)));
        made.done()
    }
    /// `(m, r)` where `self = m * k + r`: `r` has the terms that `k > 0` does not divide, and a constant in `0..k`.
    pub(crate) fn split_multiple(&self, k: i128) -> (Poly<'a>, Poly<'a>) {
        let Some(k) = i64::try_from(k).ok().filter(|_| !self.is_broken()) else {
            return (Poly::default(), *self);
        };
        let (whole, left) = (self.constant.div_euclid(k), self.constant.rem_euclid(k));
        let Some(sum) = self.sum else {
            return (Poly { constant: whole, sum: None }, Poly { constant: left, sum: None });
        };
        let (mut multiple, mut rest) = (Made::new(sum.home, whole), Made::new(sum.home, left));
        for (mono, c) in sum.terms {
            match c % k {
                0 => multiple.terms.push((*mono, c / k)),
                _ => rest.terms.push((*mono, *c)),
            }
        }
        (multiple.done(), rest.done())
    }
    /// `self - other`.
    pub(crate) fn minus(&self, other: &Poly<'a>) -> Poly<'a> {
        self.add_scaled(other, -1)
    }
    /// `self * other`.
    pub(crate) fn times(&self, other: &Poly<'a>) -> Poly<'a> {
        if self.len() * other.len() > MOST_PRODUCTS || self.is_broken() || other.is_broken() {
            return Poly::broken();
        }
        let mut product = self.scaled(other.constant.into());
        for (mono, k) in other.terms() {
            product = product.add_scaled(&self.times_monomial(*mono, other), (*k).into());
        }
        product
    }
    /// `self` times a monomial of `of`.
    fn times_monomial(&self, factor: Mono, of: &Poly<'a>) -> Poly<'a> {
        let Some(sum) = self.sum.or(of.sum) else { return *self };
        let mut made = Made::new(sum.home, 0);
        made.push(factor, Some(self.constant));
        for (mono, k) in self.terms() {
            match mono.times(factor) {
                Some(product) => made.push(product, Some(*k)),
                None => return Poly::broken(),
            }
        }
        made.sorted()
    }
    /// The number that `atom` is multiplied by, if it occurs in no product.
    pub(crate) fn coefficient(&self, atom: AtomId) -> Option<i128> {
        let mut with = self.terms().iter().filter(|(mono, _)| mono.contains(atom));
        match (with.next(), with.next()) {
            (Some((mono, k)), None) if mono.len() == 1 => Some((*k).into()),
            _ => None,
        }
    }
    /// `(k, rest)` where `self = k * atom + rest` and `atom` occurs in neither; `None` if it occurs in a higher power.
    pub(crate) fn linear_in(&self, atom: AtomId) -> Option<(Poly<'a>, Poly<'a>)> {
        if self.is_broken() {
            return Some((*self, *self));
        }
        let Some(sum) = self.sum.filter(|_| self.has(atom)) else { return Some((Poly::default(), *self)) };
        let (mut factor, mut rest) = (Made::new(sum.home, 0), Made::new(sum.home, self.constant));
        for (mono, k) in sum.terms {
            if !mono.contains(atom) {
                rest.terms.push((*mono, *k));
                continue;
            }
            let others = mono.without(atom);
            match mono.len() - others.len() {
                1 if others.is_empty() => factor.constant = *k,
                1 => factor.terms.push((others, *k)),
                _ => return None,
            }
        }
        Some((factor.sorted(), rest.done()))
    }
    /// The polynomial with `atom` replaced by `value`.
    pub(crate) fn substituted(&self, atom: AtomId, value: &Poly<'a>) -> Poly<'a> {
        let Some(sum) = self.sum.filter(|_| self.has(atom)) else { return *self };
        let mut rest = Made::new(sum.home, self.constant);
        rest.terms.extend(sum.terms.iter().filter(|(mono, _)| !mono.contains(atom)).copied());
        let mut result = rest.done();
        for (mono, k) in sum.terms.iter().filter(|(mono, _)| mono.contains(atom)) {
            let others = mono.without(atom);
            let power = mono.len() - others.len();
            result = match power {
                1 if others.is_empty() => result.add_scaled(value, (*k).into()),
                _ => {
                    let first = sum.home.monomial(others, *k);
                    result.add_scaled(&(0..power).fold(first, |p, _| p.times(value)), 1)
                }
            };
        }
        result
    }
}

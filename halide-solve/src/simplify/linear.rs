//! The normal form of Index arithmetic: a sum of integer multiples of *atoms* plus a constant.
//!
//! An atom is any Index expression that is not itself a sum or a multiple: a symbol, a quotient, a minimum, a cast of
//! data. Equal sums have equal forms, so that `x - x` cancels whatever stands between. Index arithmetic is exact, so
//! every reordering is valid; coefficients are 64-bit and an operation that would overflow them gives `None`, whereupon
//! the caller keeps the expression as an atom.

use super::range::gcd;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::build;
use halide_ir::{Expr, ExprKind, Scope, Sym};
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;

/// A multiple of an atom.
pub type Term = (Expr, i64);
/// Multiples of atoms; few in most sums.
pub type Terms = SmallVec<[Term; 3]>;

/// A sum of multiples of scalar atoms and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Linear {
    /// Distinct atoms in the order of `compare_atoms`, with coefficients that are not 0.
    pub terms: Terms,
    /// The constant that is added.
    pub constant: i64,
}

impl Linear {
    /// A constant.
    pub fn constant(value: i64) -> Linear {
        Linear { terms: Terms::new(), constant: value }
    }
    /// One atom.
    pub fn atom(e: Expr) -> Linear {
        Linear { terms: smallvec![(e, 1)], constant: 0 }
    }
    /// The form of a scalar Index expression. Sums, differences and constant multiples are taken apart; everything else
    /// is an atom.
    pub fn of(e: &Expr) -> Linear {
        parts(e).unwrap_or_else(|| Linear::atom(e.clone()))
    }
    /// The value, if there are no terms.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
    /// The atom, if the form is just that.
    pub fn as_atom(&self) -> Option<&Expr> {
        match &self.terms[..] {
            [(atom, 1)] if self.constant == 0 => Some(atom),
            _ => None,
        }
    }
    /// The coefficient of `atom`; 0 if it does not occur.
    pub fn coefficient(&self, atom: &Expr) -> i64 {
        self.terms.iter().find(|(a, _)| a == atom).map_or(0, |(_, c)| *c)
    }
    /// `self + other`.
    pub fn plus(&self, other: &Linear) -> Option<Linear> {
        Some(Linear {
            terms: add_terms(&self.terms, &other.terms, 1)?,
            constant: self.constant.checked_add(other.constant)?,
        })
    }
    /// `self - other`.
    pub fn minus(&self, other: &Linear) -> Option<Linear> {
        self.plus_scaled(other, -1)
    }
    /// `self + other * factor`.
    pub fn plus_scaled(&self, other: &Linear, factor: i64) -> Option<Linear> {
        Some(Linear {
            terms: add_terms(&self.terms, &other.terms, factor)?,
            constant: self.constant.checked_add(other.constant.checked_mul(factor)?)?,
        })
    }
    /// `self + value`.
    pub fn offset(&self, value: i64) -> Option<Linear> {
        Some(Linear { terms: self.terms.clone(), constant: self.constant.checked_add(value)? })
    }
    /// `self * factor`.
    pub fn scale(&self, factor: i64) -> Option<Linear> {
        Linear::default().plus_scaled(self, factor)
    }
    /// `self / divisor`, where every coefficient and the constant are multiples of it.
    pub fn divide_exactly(&self, divisor: i64) -> Option<Linear> {
        let part = |v: i64| v.checked_rem(divisor).filter(|r| *r == 0).and_then(|_| v.checked_div(divisor));
        let terms = self.terms.iter().map(|(a, c)| Some((a.clone(), part(*c)?))).collect::<Option<_>>()?;
        Some(Linear { terms, constant: part(self.constant)? })
    }
    /// The terms alone.
    pub fn without_constant(&self) -> Linear {
        Linear { terms: self.terms.clone(), constant: 0 }
    }
    /// Everything but the term of `atom`.
    pub fn without(&self, atom: &Expr) -> Linear {
        let terms = self.terms.iter().filter(|(a, _)| a != atom).cloned().collect();
        Linear { terms, constant: self.constant }
    }
    /// `self` with the atom of term `i` replaced by a sum.
    pub(super) fn replaced(&self, i: usize, by: &Linear) -> Option<Linear> {
        let c = self.terms.get(i)?.1;
        Some(Linear {
            terms: merge(&self.terms, Some(i), &by.terms, c)?,
            constant: self.constant.checked_add(by.constant.checked_mul(c)?)?,
        })
    }
    /// The greatest common divisor of the coefficients; 0 if there are none.
    pub fn content(&self) -> i64 {
        self.terms.iter().fold(0, |g, (_, c)| gcd(g, *c))
    }
    /// The expression: positive terms first, then negative ones, then the constant.
    pub fn to_expr(&self) -> Expr {
        let term = |atom: &Expr, c: i64| if c == 1 { atom.clone() } else { build::mul(atom.clone(), build::int(c)) };
        let mut sum: Option<Expr> = None;
        for (atom, c) in self.terms.iter().filter(|(_, c)| *c > 0) {
            let term = term(atom, *c);
            sum = Some(match sum {
                Some(s) => build::add(s, term),
                None => term,
            });
        }
        let mut constant = self.constant;
        if sum.is_none() && constant != 0 && !self.terms.is_empty() {
            sum = Some(build::int(constant));
            constant = 0;
        }
        for (atom, c) in self.terms.iter().filter(|(_, c)| *c < 0) {
            sum = Some(match (sum, c.checked_neg()) {
                (Some(s), Some(c)) => build::sub(s, term(atom, c)),
                (Some(s), None) => build::add(s, term(atom, *c)),
                (None, _) => term(atom, *c),
            });
        }
        match sum {
            None => build::int(constant),
            Some(s) if constant < 0 && constant != i64::MIN => build::sub(s, build::int(-constant)),
            Some(s) => build::add(s, build::int(constant)),
        }
    }
}

/// The sum that `e` is; `None` if it is an atom or its coefficients overflow.
fn parts(e: &Expr) -> Option<Linear> {
    match e.kind() {
        ExprKind::Int(v) => Some(Linear::constant(*v)),
        ExprKind::Binary(BinOp::Add, a, b) => Linear::of(a).plus(&Linear::of(b)),
        ExprKind::Binary(BinOp::Sub, a, b) => Linear::of(a).minus(&Linear::of(b)),
        ExprKind::Binary(BinOp::Mul, a, b) => match (a.kind(), b.kind()) {
            (_, ExprKind::Int(v)) => Linear::of(a).scale(*v),
            (ExprKind::Int(v), _) => Linear::of(b).scale(*v),
            _ => None,
        },
        ExprKind::Unary(UnOp::Neg, a) => Linear::of(a).scale(-1),
        _ => None,
    }
}

/// Returns true if `test` holds for an atom that is added up in the scalar Index expression `e`.
pub(super) fn any_term(e: &Expr, test: &impl Fn(&Expr) -> bool) -> bool {
    match e.kind() {
        ExprKind::Int(_) => false,
        ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) => any_term(a, test) || any_term(b, test),
        ExprKind::Binary(BinOp::Mul, a, b) => match (a.kind(), b.kind()) {
            (_, ExprKind::Int(_)) => any_term(a, test),
            (ExprKind::Int(_), _) => any_term(b, test),
            _ => test(e),
        },
        ExprKind::Unary(UnOp::Neg, a) => any_term(a, test),
        _ => test(e),
    }
}

/// `a + b * factor` for sorted terms.
pub(super) fn add_terms(a: &[Term], b: &[Term], factor: i64) -> Option<Terms> {
    merge(a, None, b, factor)
}

/// `a + b * factor` for sorted terms, without the term at `left_out` in `a`.
fn merge(a: &[Term], left_out: Option<usize>, b: &[Term], factor: i64) -> Option<Terms> {
    let mut sum = Terms::new();
    let (mut i, mut j) = (0, 0);
    loop {
        i += (left_out == Some(i)) as usize;
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => compare_atoms(&x.0, &y.0),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Some(sum),
        };
        let (atom, c) = match order {
            Ordering::Less => (&a[i].0, a[i].1),
            Ordering::Greater => (&b[j].0, b[j].1.checked_mul(factor)?),
            Ordering::Equal => (&a[i].0, a[i].1.checked_add(b[j].1.checked_mul(factor)?)?),
        };
        if c != 0 {
            // Most sums stay as short as terms have room for in place, also those of several terms on either side.
            if sum.len() == sum.capacity() {
                sum.reserve_exact(a.len() - i + b.len() - j);
            }
            sum.push((atom.clone(), c));
        }
        i += order.is_le() as usize;
        j += order.is_ge() as usize;
    }
}

/// The order of atoms in a sum: what varies least comes first, so that invariant parts of a sum are a prefix of it.
pub(super) fn compare_atoms(a: &Expr, b: &Expr) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let key = |e: &Expr| match e.kind() {
        ExprKind::Sym(s) => (rank(*s), Some(*s), 0),
        ExprKind::Cast(x) if matches!(x.kind(), ExprKind::Param(_)) => (0, None, e.structural_hash()),
        _ => (6, None, e.structural_hash()),
    };
    // Different atoms of one hash would be 2^-64 likely; any fixed answer other than `Equal` keeps sums correct.
    key(a).cmp(&key(b)).then(Ordering::Less)
}

fn rank(s: Sym) -> u8 {
    match s {
        Sym::Buffer { .. } => 0,
        Sym::Bound { at: Scope::Root, .. } | Sym::Stored { at: Scope::Root, .. } => 1,
        Sym::Bound { .. } | Sym::Stored { .. } => 2,
        Sym::Temp(_) => 3,
        Sym::Loop(_) => 4,
    }
}

/// A sum of Index lanes: multiples of vector atoms, and a ramp of which base and stride are scalar sums.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Form {
    /// Number of lanes; with 1, there are no vector terms and no stride.
    pub lanes: u16,
    /// Multiples of atoms of `lanes` lanes.
    pub vector: Terms,
    /// Lane 0 of the rest.
    pub base: Linear,
    /// The growth of the rest from lane to lane.
    pub stride: Linear,
}

impl Form {
    /// A scalar sum, the same in every lane.
    pub fn uniform(base: Linear, lanes: u16) -> Form {
        Form { lanes, vector: Terms::new(), base, stride: Linear::default() }
    }
    /// The form of an Index expression of any number of lanes.
    pub fn of(e: &Expr) -> Form {
        if e.lanes() == 1 {
            return Form::uniform(Linear::of(e), 1);
        }
        form_parts(e).unwrap_or_else(|| Form {
            lanes: e.lanes(),
            vector: smallvec![(e.clone(), 1)],
            base: Linear::default(),
            stride: Linear::default(),
        })
    }
    /// Returns true if every lane has one value, by its form.
    pub fn is_uniform(&self) -> bool {
        self.vector.is_empty() && self.stride.as_constant() == Some(0)
    }
    /// The constant in every lane, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        if self.is_uniform() { self.base.as_constant() } else { None }
    }
    /// `self + other * factor`; both have as many lanes.
    pub fn plus_scaled(&self, other: &Form, factor: i64) -> Option<Form> {
        Some(Form {
            lanes: self.lanes,
            vector: add_terms(&self.vector, &other.vector, factor)?,
            base: self.base.plus_scaled(&other.base, factor)?,
            stride: self.stride.plus_scaled(&other.stride, factor)?,
        })
    }
    /// `self - other`.
    pub fn minus(&self, other: &Form) -> Option<Form> {
        self.plus_scaled(other, -1)
    }
    /// `self * factor`.
    pub fn scale(&self, factor: i64) -> Option<Form> {
        Form::uniform(Linear::default(), self.lanes).plus_scaled(self, factor)
    }
    /// The greatest common divisor of all coefficients, those of the stride and its constant included.
    pub fn content(&self) -> i64 {
        let vector = self.vector.iter().fold(0, |g, (_, c)| gcd(g, *c));
        gcd(gcd(vector, self.base.content()), gcd(self.stride.content(), self.stride.constant))
    }
    /// The expression.
    pub fn to_expr(&self) -> Expr {
        if self.lanes == 1 {
            return self.base.to_expr();
        }
        let rest = build::ramp(self.base.to_expr(), self.stride.to_expr(), self.lanes);
        let zero = build::as_int(&rest) == Some(0);
        let term = |c: i64, atom: &Expr| build::mul(atom.clone(), build::int(c));
        let mut sum = (!zero).then_some(rest.clone());
        for (atom, c) in &self.vector {
            sum = Some(match (sum, c.checked_neg()) {
                (Some(s), Some(n)) if n > 0 => build::sub(s, term(n, atom)),
                (Some(s), _) => build::add(s, term(*c, atom)),
                (None, _) => term(*c, atom),
            });
        }
        sum.unwrap_or(rest)
    }
}

/// The lanes that `e` adds up to; `None` if it is an atom or its coefficients overflow.
fn form_parts(e: &Expr) -> Option<Form> {
    let lanes = e.lanes();
    match e.kind() {
        ExprKind::Broadcast(a) => Some(Form::uniform(Linear::of(a), lanes)),
        ExprKind::Ramp { base, stride } => {
            Some(Form { lanes, vector: Terms::new(), base: Linear::of(base), stride: Linear::of(stride) })
        }
        ExprKind::Binary(BinOp::Add, a, b) => Form::of(a).plus_scaled(&Form::of(b), 1),
        ExprKind::Binary(BinOp::Sub, a, b) => Form::of(a).minus(&Form::of(b)),
        ExprKind::Binary(BinOp::Mul, a, b) => match (build::as_int(a), build::as_int(b)) {
            (_, Some(v)) => Form::of(a).scale(v),
            (Some(v), _) => Form::of(b).scale(v),
            _ => None,
        },
        ExprKind::Unary(UnOp::Neg, a) => Form::of(a).scale(-1),
        _ => None,
    }
}

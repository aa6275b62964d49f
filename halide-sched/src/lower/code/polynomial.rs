//! Scalar Index arithmetic as a sum of products, for passes that regroup it. Index arithmetic is exact, so any order of
//! the same terms has the same value.

use crate::tuning::{LISTED_TERMS, MOST_POLYNOMIAL_TERMS};
use halide_core::ops::{BinOp, UnOp};
use halide_ir::hash::Map;
use halide_ir::{Expr, ExprKind, build};
use smallvec::{SmallVec, smallvec};

/// The atoms of a product; most have one or two.
pub(crate) type Factors = SmallVec<[Expr; 2]>;

/// A sum of products of atoms and a constant. An atom is an Index expression that is no sum, difference or product.
#[derive(Clone, Default)]
pub(crate) struct Sum {
    /// In the order in which the products first occurred; coefficients may have become 0.
    terms: Vec<Term>,
    /// The position of each product in `terms`, by its atoms in the order of their hashes; empty while terms are few.
    places: Map<Factors, usize>,
    /// The constant term.
    pub(crate) constant: i64,
}

/// A product and how often it is added.
#[derive(Clone)]
pub(crate) struct Term {
    /// The atoms in the order in which they were written; at least one.
    pub(crate) factors: Factors,
    /// The coefficient.
    pub(crate) times: i64,
}

impl Sum {
    /// The terms of `e`, a scalar Index expression; `None` where a coefficient would overflow.
    pub(crate) fn of(e: &Expr) -> Option<Sum> {
        let mut sum = Sum::default();
        sum.add(e, 1)?;
        Some(sum)
    }

    /// The terms that are there.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|t| t.times != 0)
    }

    /// Returns a key that is equal for two sums if they differ by a constant only.
    pub(crate) fn key(&self) -> Vec<(Factors, i64)> {
        let mut key: Vec<(Factors, i64)> = self.terms().map(|t| (canonical(&t.factors), t.times)).collect();
        let hashes = |factors: &[Expr]| factors.iter().map(Expr::structural_hash).collect::<SmallVec<[u64; 4]>>();
        key.sort_by_key(|(factors, _)| hashes(factors));
        key
    }

    fn add(&mut self, e: &Expr, times: i64) -> Option<()> {
        // Sums lean to one side and may be long, so they are taken apart without recursion.
        let mut pending: SmallVec<[(&Expr, i64); 8]> = smallvec![(e, times)];
        while let Some((e, times)) = pending.pop() {
            match e.kind() {
                ExprKind::Int(v) => self.constant = self.constant.checked_add(v.checked_mul(times)?)?,
                ExprKind::Binary(BinOp::Add, a, b) => pending.extend([(b, times), (a, times)]),
                ExprKind::Binary(BinOp::Sub, a, b) => pending.extend([(b, times.checked_neg()?), (a, times)]),
                ExprKind::Unary(UnOp::Neg, a) => pending.push((a, times.checked_neg()?)),
                ExprKind::Binary(BinOp::Mul, a, b) => self.add_product(a, b, e, times)?,
                _ => self.add_term(smallvec![e.clone()], times)?,
            }
        }
        Some(())
    }

    fn add_product(&mut self, a: &Expr, b: &Expr, whole: &Expr, times: i64) -> Option<()> {
        if let Some(c) = build::as_int(b) {
            return self.add(a, times.checked_mul(c)?);
        }
        let (x, y) = (Sum::of(a)?, Sum::of(b)?);
        let size = |s: &Sum| s.terms().count() + usize::from(s.constant != 0);
        if size(&x) * size(&y) > MOST_POLYNOMIAL_TERMS {
            return self.add_term(smallvec![whole.clone()], times);
        }
        for t in x.terms() {
            for u in y.terms() {
                let factors = t.factors.iter().chain(&u.factors).cloned().collect();
                self.add_term(factors, times.checked_mul(t.times)?.checked_mul(u.times)?)?;
            }
            self.add_term(t.factors.clone(), times.checked_mul(t.times)?.checked_mul(y.constant)?)?;
        }
        for u in y.terms() {
            self.add_term(u.factors.clone(), times.checked_mul(u.times)?.checked_mul(x.constant)?)?;
        }
        self.constant = self.constant.checked_add(times.checked_mul(x.constant)?.checked_mul(y.constant)?)?;
        Some(())
    }

    fn add_term(&mut self, factors: Factors, times: i64) -> Option<()> {
        let place = self.place_of(&factors).unwrap_or_else(|| {
            let place = self.terms.len();
            if !self.places.is_empty() {
                self.places.insert(canonical(&factors), place);
            }
            self.terms.push(Term { factors, times: 0 });
            place
        });
        let term = &mut self.terms[place];
        term.times = term.times.checked_add(times)?;
        Some(())
    }

    /// The position of the product of `factors`, in whichever order.
    fn place_of(&mut self, factors: &Factors) -> Option<usize> {
        if self.terms.len() <= LISTED_TERMS {
            return self.terms.iter().position(|t| are_same(&t.factors, factors));
        }
        if self.places.is_empty() {
            self.places = self.terms.iter().enumerate().map(|(place, t)| (canonical(&t.factors), place)).collect();
        }
        self.places.get(&canonical(factors)).copied()
    }
}

impl Term {
    /// The product with its coefficient.
    pub(crate) fn to_expr(&self) -> Expr {
        let product = self.factors.iter().cloned().reduce(build::mul).expect("a term has a factor");
        if self.times == 1 { product } else { build::mul(product, build::int(self.times)) }
    }
}

/// The sum of `terms`; those that are subtracted come last.
pub(crate) fn sum_of<'t>(terms: impl IntoIterator<Item = &'t Term>) -> Expr {
    let (added, subtracted): (Vec<&Term>, Vec<&Term>) = terms.into_iter().partition(|t| t.times > 0);
    let sum = added.into_iter().map(Term::to_expr).fold(build::int(0), build::add);
    subtracted.into_iter().fold(sum, |sum, t| match t.times.checked_neg() {
        Some(times) => build::sub(sum, Term { factors: t.factors.clone(), times }.to_expr()),
        None => build::add(sum, t.to_expr()),
    })
}

/// Returns true if two products have the same factors.
fn are_same(a: &Factors, b: &Factors) -> bool {
    match (&a[..], &b[..]) {
        ([x], [y]) => x == y,
        (x, y) => x.len() == y.len() && canonical(a) == canonical(b),
    }
}

fn canonical(factors: &Factors) -> Factors {
    let mut sorted = factors.clone();
    sorted.sort_by_key(Expr::structural_hash);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::{LoopId, Sym};

    #[test]
    fn products_are_multiplied_out_and_terms_meet() {
        let (x, y, s) = (build::loop_var(LoopId(0)), build::loop_var(LoopId(1)), build::sym(Sym::Temp(0)));
        // (y + 1 - s) * s + 2 * (x + 3) - y * s
        let e = build::add(
            build::mul(build::sub(build::offset(y.clone(), 1), s.clone()), s.clone()),
            build::mul(build::int(2), build::offset(x, 3)),
        );
        let sum = Sum::of(&build::sub(e, build::mul(s, y))).unwrap();
        assert_eq!(sum.constant, 6);
        let shown = sum_of(sum.terms()).to_string();
        assert_eq!(shown, "t0 + L0 * 2 - t0 * t0");
    }
}

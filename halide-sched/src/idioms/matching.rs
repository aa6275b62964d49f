//! Patterns in expressions of loop IR.

use super::pattern::{Condition, Idiom, Pattern, Replacement, Root, Types, widens};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Expr, ExprKind, build};
use halide_solve::simplify::{Facts, Range};

/// Replaces an expression by the first idiom whose pattern it is.
pub(crate) fn replace(table: &[Idiom], e: &Expr, facts: &Facts) -> Option<Expr> {
    table.iter().find_map(|idiom| idiom.replaced(e, facts))
}

impl Idiom {
    fn replaced(&self, e: &Expr, facts: &Facts) -> Option<Expr> {
        let result = e.ty().scalar().filter(|ty| ty.is_int())?;
        let inner = match (self.root, e.kind()) {
            (Root::Value, _) => e,
            (Root::Narrow, ExprKind::Cast(a))
            | (Root::Saturate, ExprKind::SaturatingCast(a))
            | (Root::Abs, ExprKind::Unary(UnOp::Abs, a)) => a,
            _ => return None,
        };
        let wide = inner.ty().scalar().filter(|ty| ty.is_int())?;
        let mut found = Found { result, operands: [None, None], whole: None, bits: None };
        if !found.matches(&self.pattern, inner) {
            return None;
        }
        let operands = || found.operands.iter().flatten();
        let narrow = match &found.whole {
            Some(_) => result,
            None => operands().find_map(widened)?.1,
        };
        if found.bits.is_some_and(|bits| bits != i128::from(narrow.bits()))
            || !self.takes(Types { narrow, wide, result })
            || !self.fits(inner, wide, result, facts)
        {
            return None;
        }
        let operands: Vec<Expr> = operands().map(|e| as_narrow(e, narrow)).collect::<Option<_>>()?;
        let made = match (self.replacement, &operands[..]) {
            (Replacement::Intrinsic(op), _) => build::intrinsic(op, operands),
            (Replacement::Binary(op), [a, b]) => build::binary(op, a.clone(), b.clone()),
            (Replacement::Operand, [a]) => a.clone(),
            (Replacement::Saturated, _) => build::saturating_cast(result, found.whole?),
            _ => return None,
        };
        Some(build::cast_data(result, made))
    }
    /// Returns true if the conditions on the value that is converted hold.
    fn fits(&self, inner: &Expr, wide: ScalarType, result: ScalarType, facts: &Facts) -> bool {
        let range = || facts.range_of(inner).intersect(Range::of_type(wide));
        self.conditions.iter().all(|condition| match condition {
            Condition::AtMost => result.int_max().is_some_and(|most| range().at_most(most)),
            Condition::AtLeast => result.int_min().is_some_and(|least| range().at_least(least)),
            _ => true,
        })
    }
}

/// The parts of an expression that are those of a pattern.
struct Found {
    result: ScalarType,
    /// Operands as they stand: widened, or constants of the wide type.
    operands: [Option<Expr>; 2],
    whole: Option<Expr>,
    bits: Option<i128>,
}

impl Found {
    fn matches(&mut self, pattern: &Pattern, e: &Expr) -> bool {
        let number = || build::as_const(e).map(|v| v.as_i128());
        match pattern {
            Pattern::Wide(n) => {
                (widened(e).is_some() || build::as_const(e).is_some()) && is_same(&mut self.operands[*n], e)
            }
            Pattern::Whole => is_same(&mut self.whole, e),
            Pattern::Number(v) => number() == Some(*v),
            Pattern::Bits => number().is_some_and(|v| *self.bits.get_or_insert(v) == v),
            Pattern::Least => number().is_some_and(|v| self.result.int_min() == Some(v)),
            Pattern::Most => number().is_some_and(|v| self.result.int_max() == Some(v)),
            Pattern::Sum(terms) => {
                let mut found = Vec::new();
                let mut sums = terms.len();
                take_apart(e, &mut sums, &mut found);
                found.len() == terms.len() && self.in_any_order(terms, &mut found)
            }
            Pattern::Half(inner) => match e.kind() {
                ExprKind::Binary(BinOp::Div, a, b) => is_number(b, 2) && self.matches(inner, a),
                ExprKind::Binary(BinOp::Shr, a, b) => is_number(b, 1) && self.matches(inner, a),
                _ => false,
            },
            Pattern::Binary(op, [p, q]) => match e.kind() {
                ExprKind::Binary(found, a, b) if found == op => {
                    self.either(&[(p, a), (q, b)]) || commutes(*op) && self.either(&[(p, b), (q, a)])
                }
                _ => false,
            },
        }
    }
    /// Returns true if all pairs match; if not, nothing is found.
    fn either(&mut self, pairs: &[(&Pattern, &Expr)]) -> bool {
        let before = (self.operands.clone(), self.whole.clone(), self.bits);
        let all = pairs.iter().all(|(pattern, e)| self.matches(pattern, e));
        if !all {
            (self.operands, self.whole, self.bits) = before;
        }
        all
    }
    fn in_any_order(&mut self, terms: &[Pattern], found: &mut [Expr]) -> bool {
        let Some((first, rest)) = terms.split_first() else { return true };
        (0..found.len()).any(|n| {
            found.swap(0, n);
            let before = (self.operands.clone(), self.whole.clone(), self.bits);
            let all = self.matches(first, &found[0].clone()) && self.in_any_order(rest, &mut found[1..]);
            if !all {
                (self.operands, self.whole, self.bits) = before;
                found.swap(0, n);
            }
            all
        })
    }
}

/// Returns true if `e` is what `known` is, which it is from now on if that is nothing yet.
fn is_same(known: &mut Option<Expr>, e: &Expr) -> bool {
    known.get_or_insert_with(|| e.clone()) == e
}

fn is_number(e: &Expr, number: i128) -> bool {
    build::as_const(e).is_some_and(|v| v.as_i128() == number)
}

fn commutes(op: BinOp) -> bool {
    matches!(op, BinOp::Mul | BinOp::Min | BinOp::Max | BinOp::BitAnd)
}

/// Takes a sum apart into its terms from left to right; at most so many sums.
fn take_apart(e: &Expr, sums: &mut usize, terms: &mut Vec<Expr>) {
    match e.kind() {
        ExprKind::Binary(BinOp::Add, a, b) if *sums > 0 => {
            *sums -= 1;
            take_apart(a, sums, terms);
            take_apart(b, sums, terms);
        }
        _ => terms.push(e.clone()),
    }
}

/// The operand of a conversion to a wider type that keeps the value, and its type.
fn widened(e: &Expr) -> Option<(&Expr, ScalarType)> {
    let ExprKind::Cast(a) = e.kind() else { return None };
    let (from, to) = (a.ty().scalar()?, e.ty().scalar()?);
    widens(from, to).then_some((a, from))
}

/// `e` or, of a constant, what it is in `ty`, if it is one value of that.
fn as_narrow(e: &Expr, ty: ScalarType) -> Option<Expr> {
    match (widened(e), build::as_const(e)) {
        (Some((a, from)), _) if from == ty => Some(a.clone()),
        (None, Some(v)) if ty.int_min()? <= v.as_i128() && v.as_i128() <= ty.int_max()? => {
            Some(build::cast_data(ty, e.clone()))
        }
        _ => None,
    }
}

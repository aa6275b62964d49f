//! Intervals of floats: constants between which all values of an expression are.
//!
//! Rounding never turns the order of two numbers, so an operator that rises or falls with its operands has its ends at
//! theirs, rounded to its type. An expression whose interval is known is never an infinity or a NaN.

use super::poly::Poly;
use super::read::{Definition, Reader};
use crate::tuning::MOST_EXACT;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::visit::deep;
use halide_ir::{Elem, Expr, ExprKind, build};

/// The least and the greatest value, both finite.
pub(crate) type FloatSpan = (f64, f64);

impl<'p> Reader<'p> {
    /// The interval of a float, in any lane; `None` where it may be infinite or a NaN, or nothing is known.
    pub(super) fn float_range(&mut self, e: &Expr) -> Option<FloatSpan> {
        if let Some(known) = self.float_ranges.get(e) {
            return *known;
        }
        let found = deep(|| self.float_range_of(e));
        self.float_ranges.insert(e.clone(), found);
        found
    }

    fn float_range_of(&mut self, e: &Expr) -> Option<FloatSpan> {
        let ty = e.ty().scalar().filter(|ty| ty.is_float())?;
        let (low, high) = match e.kind() {
            ExprKind::Const(v) => (v.as_f64(), v.as_f64()),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.float_range(a)?,
            ExprKind::Param(p) => self.elements.float_param(*p)?,
            ExprKind::Sym(s) => match self.defs.get(*s).cloned() {
                Some(Definition::Let(value)) => self.float_range(&value)?,
                _ => return None,
            },
            ExprKind::Select(_, a, b) => {
                let (a, b) = (self.float_range(a)?, self.float_range(b)?);
                (a.0.min(b.0), a.1.max(b.1))
            }
            ExprKind::Cast(a) => self.converted(a)?,
            ExprKind::Unary(op, a) => unary(*op, self.float_range(a)?)?,
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.float_range(a)?, self.float_range(b)?);
                binary(*op, a, b)?
            }
            _ => return None,
        };
        let (low, high) = (rounded(low, ty)?, rounded(high, ty)?);
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// Splits the index that a float plus a constant becomes: returns the index that the float alone becomes, and the
    /// least and the greatest difference of the two.
    pub(super) fn beside(&mut self, index: &Expr) -> Option<(Poly<'p>, i128, i128)> {
        let ExprKind::Cast(integer) = index.kind() else { return None };
        let (ExprKind::Cast(sum), Some(ty)) = (integer.kind(), integer.ty().scalar()) else { return None };
        let ExprKind::Binary(BinOp::Add, x, by) = sum.kind() else { return None };
        let by = build::as_const(by)?.as_f64();
        let (low, high) = self.float_range(x)?;
        let is_exact = (2.0 * by).fract() == 0.0 && high.max(high + by) < MOST_EXACT;
        let fits = ty.int_max().is_some_and(|most| most >= MOST_EXACT as i128);
        // Truncation rounds down from zero on. With `n <= x < n + 1`, the sum is rounded to no less than `n + by`, and
        // to no more than `n + 1 + by`, which are exact.
        if !index.ty().is_index() || low < 0.0 || low + by < 0.0 || !is_exact || !fits {
            return None;
        }
        let base = self.scalar(&build::to_index(build::cast_data(ty, x.clone())));
        Some((base, by.floor() as i128, by.floor() as i128 + 1))
    }

    /// The interval of what becomes a float.
    fn converted(&mut self, a: &Expr) -> Option<FloatSpan> {
        if a.ty().scalar().is_some_and(ScalarType::is_float) {
            return self.float_range(a);
        }
        let (low, high) = match a.ty().elem {
            Elem::Data(_) => self.range(a),
            _ => {
                let (_, value) = self.lane(a);
                self.terms.span_of(&value)
            }
        };
        Some((low? as f64, high? as f64))
    }
}

/// The value that a type holds in place of `v`; `None` of types that are not computed with here.
fn rounded(v: f64, ty: ScalarType) -> Option<f64> {
    match ty {
        ScalarType::F64 => Some(v),
        // Sums, products, quotients and roots of this type are the same if they are rounded twice.
        ScalarType::F32 => Some(f64::from(v as f32)),
        _ => None,
    }
}

fn unary(op: UnOp, (low, high): FloatSpan) -> Option<FloatSpan> {
    let rising = |of: fn(f64) -> f64| Some((of(low), of(high)));
    match op {
        UnOp::Neg => Some((-high, -low)),
        UnOp::Abs if low >= 0.0 => Some((low, high)),
        UnOp::Abs => Some((if high < 0.0 { -high } else { 0.0 }, high.max(-low))),
        UnOp::Sqrt if low >= 0.0 => rising(f64::sqrt),
        UnOp::Floor => rising(f64::floor),
        UnOp::Ceil => rising(f64::ceil),
        UnOp::Round => rising(f64::round_ties_even),
        UnOp::Trunc => rising(f64::trunc),
        _ => None,
    }
}

fn binary(op: BinOp, a: FloatSpan, b: FloatSpan) -> Option<FloatSpan> {
    let hull = |of: fn(f64, f64) -> f64| {
        let corners = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
        let is_number = corners.iter().all(|v| v.is_finite());
        is_number.then(|| {
            (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
        })
    };
    match op {
        BinOp::Add => Some((a.0 + b.0, a.1 + b.1)),
        BinOp::Sub => Some((a.0 - b.1, a.1 - b.0)),
        BinOp::Mul => hull(|x, y| x * y),
        BinOp::Div if b.0 > 0.0 || b.1 < 0.0 => hull(|x, y| x / y),
        BinOp::Min => Some((a.0.min(b.0), a.1.min(b.1))),
        BinOp::Max => Some((a.0.max(b.0), a.1.max(b.1))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Definitions, Elements, Sums};
    use halide_core::value::Scalar;
    use halide_ir::build;

    #[test]
    fn ends_are_those_of_the_type() {
        let sums = Sums::default();
        let mut reader = Reader::new(Definitions::default(), Elements::default(), &sums);
        let number = |v: f64| build::constant(Scalar::float(ScalarType::F32, v));
        let third = build::binary(BinOp::Div, number(1.0), build::binary(BinOp::Max, number(3.0), number(2.0)));
        let value = f64::from(1.0f32 / 3.0f32);
        assert_eq!(reader.float_range(&third), Some((value, value)));
        let byte = build::select(
            build::typed_sym(halide_ir::Sym::Temp(0), halide_ir::Type::BOOL),
            build::cast_data(ScalarType::F32, build::constant(Scalar::int(ScalarType::U8, 200))),
            number(-2.0),
        );
        assert_eq!(reader.float_range(&byte), Some((-2.0, 200.0)));
        assert_eq!(reader.float_range(&build::unary(UnOp::Abs, byte.clone())), Some((0.0, 200.0)));
        assert_eq!(reader.float_range(&build::unary(UnOp::Sqrt, byte.clone())), None);
        assert_eq!(reader.float_range(&build::binary(BinOp::Div, number(1.0), byte)), None);
        let huge = build::binary(BinOp::Mul, number(3e38), number(3e38));
        assert_eq!(reader.float_range(&huge), None);
    }
    /// The index that a sum becomes against that of its first term, at every value of a float around each integer.
    #[test]
    fn indices_of_sums_lie_beside_those_of_terms() {
        let mut elements = Elements::default();
        let param = halide_core::ids::Id::new(0);
        elements.promise_float(param, (0.0, 4_000_000.0));
        let sums = Sums::default();
        let mut reader = Reader::new(Definitions::default(), elements, &sums);
        let x = build::param(param, ScalarType::F32);
        let index = |e: Expr| build::to_index(build::cast_data(ScalarType::I32, e));
        let sum = |by: f64| build::binary(BinOp::Add, x.clone(), build::constant(Scalar::float(ScalarType::F32, by)));
        for (by, is_told) in [(0.5, true), (1.0, true), (2.5, true), (0.999_999, false), (-0.5, false), (3e6, false)] {
            let found = reader.beside(&index(sum(by)));
            assert_eq!(found.is_some(), is_told, "{by}");
            let Some((base, low, high)) = found else { continue };
            assert_eq!(base, reader.scalar(&index(x.clone())));
            for n in [0, 1, 2, 3, 1000, 65_535, 1 << 20, 3_999_999] {
                let n = n as f32;
                for x in [n, n.next_up(), n + 0.25, n + 0.5, (n + 0.5).next_down(), (n + 1.0).next_down()] {
                    let difference = i128::from((x + by as f32) as i32 - x as i32);
                    assert!((low..=high).contains(&difference), "{x} + {by}: {difference} is not in {low}..={high}");
                }
            }
        }
    }
}

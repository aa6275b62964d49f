//! Intervals of floats, on their way to become integers.
//!
//! Operators of floats round, and rounding never turns two values around: where an operator grows with its operand, it
//! is at its ends what its operand gives there, bit by bit. So ends are float expressions, of constants, parameters and
//! what the coordinates of a region are. Only a NaN is nowhere on the line; it becomes 0 as an integer, and gives way
//! in `min` and `max`.

use super::floats::{Floats, UNKNOWN, both, both_nan, either, either_nan, nan_unless};
use super::{Interval, Search};
use crate::simplify::Range;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::build;
use halide_ir::visit::any_node;
use halide_ir::{Elem, Expr, ExprKind};

impl Search<'_> {
    /// The integers that the cast `to_int` makes of the float `a`.
    pub(super) fn truncated(&self, a: &Expr, to_int: impl Fn(Expr) -> Expr) -> Interval {
        let floats = self.floats_of(a);
        let end = |e: Option<Expr>, op| {
            let integer = build::to_index(to_int(e?));
            let and_zero = match &floats.nan {
                Some(nan) => build::select(nan.clone(), build::binary(op, integer.clone(), build::int(0)), integer),
                None => integer,
            };
            Some(self.simple(and_zero))
        };
        Interval { min: end(floats.min.clone(), BinOp::Min), max: end(floats.max.clone(), BinOp::Max) }
    }

    fn floats_of(&self, e: &Expr) -> Floats {
        self.floats.get(&e.id()).cloned().unwrap_or_else(Floats::everything)
    }

    /// Returns the bounds of a float whose operands were visited. A scalar that does not vary is its own end.
    pub(super) fn float(&self, e: &Expr, ty: ScalarType, varies: bool) -> Floats {
        let mut found = self.float_node(e, ty);
        found.range = rounded(found.range, ty);
        if varies || e.lanes() != 1 || build::as_const(e).is_some() {
            return found;
        }
        Floats { min: Some(e.clone()), max: Some(e.clone()), ..found }
    }

    fn float_node(&self, e: &Expr, ty: ScalarType) -> Floats {
        match e.kind() {
            ExprKind::Const(v) => Floats::constant(*v),
            ExprKind::Param(_) => match self.facts.float_range(e) {
                Some(range) => Floats { min: None, max: None, nan: None, range },
                None => Floats::everything(),
            },
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.floats_of(a),
            ExprKind::Select(_, a, b) => self.floats_of(a).union(&self.floats_of(b)),
            ExprKind::Cast(a) if a.ty().scalar().is_some_and(ScalarType::is_float) => {
                self.floats_of(a).map(|e| build::cast_data(ty, e), |v| v)
            }
            ExprKind::Cast(a) => self.of_integer(a, ty),
            ExprKind::Unary(UnOp::Neg, a) => self.floats_of(a).negated(),
            ExprKind::Unary(UnOp::Abs, a) => absolute(&self.floats_of(a), ty),
            ExprKind::Unary(UnOp::Sqrt, a) => root(&self.floats_of(a), ty),
            ExprKind::Unary(op @ (UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc), a) => {
                let of_range = |v: f64| match op {
                    UnOp::Floor => v.floor(),
                    UnOp::Ceil => v.ceil(),
                    UnOp::Round => v.round_ties_even(),
                    _ => v.trunc(),
                };
                self.floats_of(a).map(|e| build::unary(*op, e), of_range)
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.floats_of(a), self.floats_of(b));
                match op {
                    BinOp::Add | BinOp::Sub => sum(*op, &a, &b),
                    BinOp::Mul => product(&a, &b),
                    BinOp::Div => quotient(&a, &b),
                    BinOp::Min | BinOp::Max => extreme(*op, &a, &b),
                    _ => Floats::everything(),
                }
            }
            _ => Floats::everything(),
        }
    }

    /// The ends of an integer that became a float.
    fn of_integer(&self, a: &Expr, ty: ScalarType) -> Floats {
        let own = a.ty().scalar().unwrap_or(ScalarType::I64);
        let (interval, limits) = match a.kind() {
            ExprKind::Cast(index) if index.ty().is_index() && self.keeps(index, own) => (self.of(index), own),
            _ => (self.of(a), own),
        };
        let end = |e: Option<Expr>| e.map(|e| self.simple(build::cast_data(ty, build::cast_data(ScalarType::I64, e))));
        let limit = |v: Option<i128>| v.map_or(f64::INFINITY, |v| v as f64);
        let (low, high) = interval.constant_range(self.facts).ends();
        let range = (
            low.map_or_else(|| limit(limits.int_min()).min(0.0), |v| v as f64),
            high.map_or_else(|| limit(limits.int_max()), |v| v as f64),
        );
        Floats { min: end(interval.min), max: end(interval.max), nan: None, range }
    }

    /// Returns true if a coordinate that becomes data of type `ty` does not wrap. It does not where it is known to fit.
    /// One that no data decides is in i32, which is checked before a run.
    fn keeps(&self, index: &Expr, ty: ScalarType) -> bool {
        let is_data = |n: &Expr| matches!(n.kind(), ExprKind::Read { .. } | ExprKind::Load { .. });
        let fits = self.of(index).constant_range(self.facts).within(Range::of_type(ty));
        fits || Range::of_type(ScalarType::I32).within(Range::of_type(ty)) && !any_node(index, is_data)
    }
}

/// Magnitudes: from zero on where an operand may have either sign.
fn absolute(a: &Floats, ty: ScalarType) -> Floats {
    let (negated, zero) = (a.negated(), Some(build::constant(Scalar::zero(ty))));
    let low = either(BinOp::Max, &a.min, &negated.min);
    Floats {
        min: either(BinOp::Max, &low, &zero),
        max: both(BinOp::Max, &a.max, &negated.max),
        nan: a.nan.clone(),
        range: (a.range.0.max(negated.range.0).max(0.0), a.range.1.max(negated.range.1)),
    }
}

/// Square roots, which grow; those of negative operands are NaNs.
fn root(a: &Floats, ty: ScalarType) -> Floats {
    let zero = build::constant(Scalar::zero(ty));
    let of = |e: Expr| build::unary(UnOp::Sqrt, build::binary(BinOp::Max, e, zero.clone()));
    let negative = match &a.min {
        _ if a.range.0 >= 0.0 => None,
        Some(min) => Some(build::lt(min.clone(), zero.clone())),
        None => Some(build::boolean(true)),
    };
    Floats { nan: either_nan(&a.nan, &negative), ..a.map(of, |v| v.max(0.0).sqrt()) }
}

fn sum(op: BinOp, a: &Floats, b: &Floats) -> Floats {
    let (low, high, sign) = if op == BinOp::Sub { (&b.max, &b.min, -1.0) } else { (&b.min, &b.max, 1.0) };
    let (first, last) = if op == BinOp::Sub { (b.range.1, b.range.0) } else { b.range };
    let end = |x: &Option<Expr>, y: &Option<Expr>| Some(build::binary(op, x.clone()?, y.clone()?));
    let range = match a.is_finite() && b.is_finite() {
        true => (a.range.0 + sign * first, a.range.1 + sign * last),
        false => UNKNOWN,
    };
    // Only two infinities make a NaN.
    let nan = nan_unless(a.is_finite() || b.is_finite(), either_nan(&a.nan, &b.nan));
    Floats { min: end(&a.min, low), max: end(&a.max, high), nan, range }
}

fn product(a: &Floats, b: &Floats) -> Floats {
    let finite = a.is_finite() && b.is_finite();
    if finite && a.nan.is_none() && b.nan.is_none() && (a.is_zero() || b.is_zero()) {
        return if a.is_zero() { a.clone() } else { b.clone() };
    }
    let times = |x: &Option<Expr>, y: &Option<Expr>| {
        let (x, y) = (x.clone()?, y.clone()?);
        let is = |e: &Expr, v: f64| build::as_const(e).is_some_and(|c| c.as_f64() == v);
        Some(match () {
            () if finite && is(&x, 0.0) || is(&y, 1.0) => x,
            () if finite && is(&y, 0.0) || is(&x, 1.0) => y,
            () => build::binary(BinOp::Mul, x, y),
        })
    };
    let corners = [a.range.0 * b.range.0, a.range.0 * b.range.1, a.range.1 * b.range.0, a.range.1 * b.range.1];
    let not_negative = |f: &Floats| f.range.0 >= 0.0;
    let range = match finite {
        true => {
            (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
        }
        false if not_negative(a) && not_negative(b) => (0.0, f64::INFINITY),
        false => UNKNOWN,
    };
    let is_number = finite || a.is_finite_and_not_zero() || b.is_finite_and_not_zero();
    let (min, max) = match () {
        () if not_negative(a) && not_negative(b) => (times(&a.min, &b.min), times(&a.max, &b.max)),
        () if b.is_point() && not_negative(b) => (times(&a.min, &b.min), times(&a.max, &b.min)),
        () if a.is_point() && not_negative(a) => (times(&a.min, &b.min), times(&a.min, &b.max)),
        () => {
            let all = [times(&a.min, &b.min), times(&a.min, &b.max), times(&a.max, &b.min), times(&a.max, &b.max)];
            let fold = |op| all.iter().skip(1).fold(all[0].clone(), |m, c| both(op, &m, c));
            (fold(BinOp::Min), fold(BinOp::Max))
        }
    };
    // Of one value and finite ones, only NaNs have ends that are NaNs.
    let is_plain = is_number || a.is_point() && b.is_finite() || b.is_point() && a.is_finite();
    let end = |e: Option<Expr>, infinity| if is_plain { e } else { e.map(|e| or_infinity(e, infinity)) };
    let nan = nan_unless(is_number, either_nan(&a.nan, &b.nan));
    Floats { min: end(min, f64::NEG_INFINITY), max: end(max, f64::INFINITY), nan, range }
}

/// An end of products: an infinity times zero is none, since what lies between may be numbers.
fn or_infinity(e: Expr, infinity: f64) -> Expr {
    let infinity = build::constant(Scalar::float(e.ty().scalar().unwrap_or(ScalarType::F32), infinity));
    build::select(build::ne(e.clone(), e.clone()), infinity, e)
}

/// By divisors of one sign, or by one divisor.
fn quotient(a: &Floats, b: &Floats) -> Floats {
    if b.is_negative() {
        return quotient(&a.negated(), &b.negated());
    }
    let over = |x: &Option<Expr>, y: &Option<Expr>| Some(build::binary(BinOp::Div, x.clone()?, y.clone()?));
    let extremes = |[x, y]: [Option<Expr>; 2]| (both(BinOp::Min, &x, &y), both(BinOp::Max, &x, &y));
    let is_ordinary = b.is_finite() && b.is_positive() && b.nan.is_none();
    if !is_ordinary || !a.is_finite() {
        let Some(divisor) = b.min.as_ref().filter(|_| b.is_point() && a.is_finite()) else {
            return Floats::everything();
        };
        // A finite value over an infinity is zero; over a zero, of whichever sign, it is an infinity, or a NaN.
        let (min, max) = extremes([over(&a.min, &b.min), over(&a.max, &b.min)]);
        let (ty, nan) = (divisor.ty().scalar().unwrap_or(ScalarType::F32), is_zero_or_nan(divisor));
        let end = |e: Option<Expr>, infinity| {
            e.map(|e| build::select(nan.clone(), build::constant(Scalar::float(ty, infinity)), e))
        };
        let (min, max) = (end(min, f64::NEG_INFINITY), end(max, f64::INFINITY));
        return Floats { min, max, nan: either_nan(&a.nan, &Some(nan)), range: UNKNOWN };
    }
    let corners = [a.range.0 / b.range.0, a.range.0 / b.range.1, a.range.1 / b.range.0, a.range.1 / b.range.1];
    let range =
        (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max));
    let (min, max) = match () {
        () if b.is_point() => (over(&a.min, &b.min), over(&a.max, &b.min)),
        () if a.range.0 >= 0.0 => (over(&a.min, &b.max), over(&a.max, &b.min)),
        () => (
            both(BinOp::Min, &over(&a.min, &b.min), &over(&a.min, &b.max)),
            both(BinOp::Max, &over(&a.max, &b.min), &over(&a.max, &b.max)),
        ),
    };
    Floats { min, max, nan: a.nan.clone(), range }
}

/// The condition that a float is a zero or a NaN.
fn is_zero_or_nan(e: &Expr) -> Expr {
    let zero = || build::constant(Scalar::zero(e.ty().scalar().unwrap_or(ScalarType::F32)));
    build::not(build::or(build::lt(e.clone(), zero()), build::gt(e.clone(), zero())))
}

/// The range of values after they were rounded to type `ty`: small types overflow and lose small values early.
fn rounded((low, high): (f64, f64), ty: ScalarType) -> (f64, f64) {
    let (most, least) = match ty {
        ScalarType::F16 => (65504.0, 1e-7),
        _ => return (low, high),
    };
    let low = if low < -most { f64::NEG_INFINITY } else { low };
    let high = if high > most { f64::INFINITY } else { high };
    (if low > 0.0 && low < least { 0.0 } else { low }, if high < 0.0 && high > -least { 0.0 } else { high })
}

/// Bounds a minimum or maximum of floats. If one operand is a NaN, the other one is the result, whichever end it is at.
fn extreme(op: BinOp, a: &Floats, b: &Floats) -> Floats {
    let smaller = op == BinOp::Min;
    // The end on the side of `op`, where one operand is enough, and the other one.
    let (near_a, near_b) = if smaller { (&a.max, &b.max) } else { (&a.min, &b.min) };
    let (far_a, far_b) = if smaller { (&a.min, &b.min) } else { (&a.max, &b.max) };
    let other = if smaller { BinOp::Max } else { BinOp::Min };
    let (a_nan, b_nan) = (a.nan.is_some(), b.nan.is_some());
    let near = match (a_nan, b_nan) {
        (false, false) => either(op, near_a, near_b),
        (true, false) => near_b.clone(),
        (false, true) => near_a.clone(),
        (true, true) => both(other, near_a, near_b),
    };
    let far = both(op, far_a, far_b);
    let near_range = |x: f64, y: f64| match (a_nan, b_nan, smaller) {
        (false, false, true) | (true, true, false) => x.min(y),
        (false, false, false) | (true, true, true) => x.max(y),
        (true, false, _) => y,
        (false, true, _) => x,
    };
    let nan = both_nan(&a.nan, &b.nan, build::and);
    match smaller {
        true => {
            Floats { min: far, max: near, nan, range: (a.range.0.min(b.range.0), near_range(a.range.1, b.range.1)) }
        }
        false => {
            Floats { min: near, max: far, nan, range: (near_range(a.range.0, b.range.0), a.range.1.max(b.range.1)) }
        }
    }
}

/// Returns true if `e` has floats as elements.
pub(super) fn is_float(e: &Expr) -> bool {
    matches!(e.ty().elem, Elem::Data(ty) if ty.is_float())
}

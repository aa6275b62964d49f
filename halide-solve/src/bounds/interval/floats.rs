//! Bounds of floats: ends, where a NaN may be, and constants around them.

use crate::tuning::FINITE;
use halide_core::ops::{BinOp, UnOp};
use halide_core::value::Scalar;
use halide_ir::{Expr, build};

/// All values from `min` to `max`, which are float expressions; `None` is unbounded.
#[derive(Clone)]
pub(super) struct Floats {
    pub(super) min: Option<Expr>,
    pub(super) max: Option<Expr>,
    /// The condition under which one may be a NaN besides; it does not vary, and `None` is never.
    pub(super) nan: Option<Expr>,
    /// Constants that all others are between, if only to know their sign, and whether they are finite.
    pub(super) range: (f64, f64),
}

/// Any value, of any sign.
pub(super) const UNKNOWN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Floats {
    pub(super) fn everything() -> Floats {
        Floats { min: None, max: None, nan: Some(build::boolean(true)), range: UNKNOWN }
    }
    pub(super) fn constant(v: Scalar) -> Floats {
        let (e, value) = (Some(build::constant(v)), v.as_f64());
        if v.is_nan() {
            return Floats::everything();
        }
        Floats { min: e.clone(), max: e, nan: None, range: (value, value) }
    }
    pub(super) fn is_point(&self) -> bool {
        self.min.is_some() && self.min == self.max
    }
    pub(super) fn is_finite(&self) -> bool {
        self.range.0 >= -FINITE && self.range.1 <= FINITE
    }
    pub(super) fn is_zero(&self) -> bool {
        self.range == (0.0, 0.0)
    }
    pub(super) fn is_positive(&self) -> bool {
        self.range.0 > 1.0 / FINITE
    }
    pub(super) fn is_negative(&self) -> bool {
        self.range.1 < -1.0 / FINITE
    }
    /// Returns true if a product with any other value, also with an infinity, is a number.
    pub(super) fn is_finite_and_not_zero(&self) -> bool {
        self.is_finite() && (self.is_positive() || self.is_negative())
    }
    pub(super) fn negated(&self) -> Floats {
        self.map(|e| build::unary(UnOp::Neg, e), |v| -v).flipped()
    }
    /// The smallest that holds both.
    pub(super) fn union(&self, other: &Floats) -> Floats {
        Floats {
            min: both(BinOp::Min, &self.min, &other.min),
            max: both(BinOp::Max, &self.max, &other.max),
            nan: either_nan(&self.nan, &other.nan),
            range: (self.range.0.min(other.range.0), self.range.1.max(other.range.1)),
        }
    }
    /// Applies an operator that never falls to both ends.
    pub(super) fn map(&self, of: impl Fn(Expr) -> Expr, of_range: impl Fn(f64) -> f64) -> Floats {
        let end = |e: &Option<Expr>| e.clone().map(&of);
        Floats {
            min: end(&self.min),
            max: end(&self.max),
            nan: self.nan.clone(),
            range: (of_range(self.range.0), of_range(self.range.1)),
        }
    }
    /// The same with its ends swapped, after an operator that never grows.
    pub(super) fn flipped(self) -> Floats {
        Floats { min: self.max, max: self.min, nan: self.nan, range: (self.range.1, self.range.0) }
    }
}

/// Both ends must be there.
pub(super) fn both(op: BinOp, a: &Option<Expr>, b: &Option<Expr>) -> Option<Expr> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    Some(if a == b { a.clone() } else { build::binary(op, a.clone(), b.clone()) })
}

/// The condition under which one of two values may be a NaN.
pub(super) fn either_nan(a: &Option<Expr>, b: &Option<Expr>) -> Option<Expr> {
    both_nan(a, b, build::or).or_else(|| a.clone().or_else(|| b.clone()))
}

pub(super) fn both_nan(a: &Option<Expr>, b: &Option<Expr>, join: impl Fn(Expr, Expr) -> Expr) -> Option<Expr> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    Some(if a == b { a.clone() } else { join(a.clone(), b.clone()) })
}

/// `nan`, or anywhere unless `never`.
pub(super) fn nan_unless(never: bool, nan: Option<Expr>) -> Option<Expr> {
    if never { nan } else { Some(build::boolean(true)) }
}

/// One end is enough.
pub(super) fn either(op: BinOp, a: &Option<Expr>, b: &Option<Expr>) -> Option<Expr> {
    both(op, a, b).or_else(|| a.clone().or_else(|| b.clone()))
}

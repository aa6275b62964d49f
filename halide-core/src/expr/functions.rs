//! Named functions of expressions, as functions and (for comparisons and casts) as methods.

use super::into::IntoExpr;
use super::make::{self, binary, unary};
use crate::arena::{Expr, Kind};
use crate::error::Location;
use crate::ops::{BinOp, MathFn, UnOp};
use crate::types::ScalarType;
use crate::value::Element;

macro_rules! two_operands {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(a: impl IntoExpr, b: impl IntoExpr) -> Expr {
            binary(BinOp::$op, a.expr(), b.expr(), Location::caller())
        }
    )*};
}

two_operands! {
    /// The smaller; a NaN loses.
    min Min;
    /// The larger; a NaN loses.
    max Max;
    /// `|a - b|` exactly; signed integers give the unsigned type of their width.
    absd Absd;
    /// Equal.
    eq Eq;
    /// Not equal.
    ne Ne;
    /// Less.
    lt Lt;
    /// Less or equal.
    le Le;
    /// Greater.
    gt Gt;
    /// Greater or equal.
    ge Ge;
    /// Integer quotient rounded to zero; x / 0 = 0.
    div_round_to_zero DivToZero;
    /// Remainder of the quotient rounded to zero; x % 0 = 0.
    mod_round_to_zero ModToZero;
}

macro_rules! one_operand {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(a: impl IntoExpr) -> Expr {
            unary(UnOp::$op, a.expr(), Location::caller())
        }
    )*};
}

one_operand! {
    /// `|a|`; a signed integer gives the unsigned type of its width.
    abs Abs;
    /// Round down.
    floor Floor;
    /// Round up.
    ceil Ceil;
    /// Round to nearest, ties to even.
    round Round;
    /// Round towards zero.
    trunc Trunc;
    /// IEEE square root.
    sqrt Sqrt;
    /// Is it a NaN.
    is_nan IsNan;
    /// Is it an infinity.
    is_inf IsInf;
    /// Is it neither NaN nor infinite.
    is_finite IsFinite;
    /// Number of one bits.
    popcount Popcount;
    /// Number of leading zero bits.
    clz Clz;
    /// Number of trailing zero bits.
    ctz Ctz;
}

macro_rules! math_functions {
    ($($name:ident $f:ident ($($arg:ident),+);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of floats; integers become f32 first.")]
        /// The same bits on every engine.
        #[track_caller]
        pub fn $name($($arg: impl IntoExpr),+) -> Expr {
            make::math(MathFn::$f, &[$($arg.expr()),+], Location::caller())
        }
    )*};
}

math_functions! {
    exp Exp(a);
    log Log(a);
    pow Pow(a, b);
    sin Sin(a);
    cos Cos(a);
    tan Tan(a);
    asin Asin(a);
    acos Acos(a);
    atan Atan(a);
    atan2 Atan2(a, b);
    sinh Sinh(a);
    cosh Cosh(a);
    tanh Tanh(a);
    asinh Asinh(a);
    acosh Acosh(a);
    atanh Atanh(a);
    hypot Hypot(a, b);
    fma Fma(a, b, c);
    erf Erf(a);
    fast_exp FastExp(a);
    fast_log FastLog(a);
    fast_pow FastPow(a, b);
    fast_sin FastSin(a);
    fast_cos FastCos(a);
    fast_inverse FastInverse(a);
    fast_inverse_sqrt FastInverseSqrt(a);
}

/// `a - floor(a)`.
#[track_caller]
pub fn fract(a: impl IntoExpr) -> Expr {
    let (a, at) = (a.expr(), Location::caller());
    binary(BinOp::Sub, a, unary(UnOp::Floor, a, at), at)
}

/// `a` where `condition` holds, else `b`; both are evaluated.
#[track_caller]
pub fn select(condition: impl IntoExpr, a: impl IntoExpr, b: impl IntoExpr) -> Expr {
    make::select(condition.expr(), a.expr(), b.expr(), Location::caller())
}

/// The value of the first pair whose condition holds, else `otherwise`; all are evaluated.
#[track_caller]
pub fn select_first<C: IntoExpr, V: IntoExpr>(pairs: impl AsRef<[(C, V)]>, otherwise: impl IntoExpr) -> Expr {
    let mut all = Vec::new();
    for (condition, value) in pairs.as_ref() {
        all.push((condition.expr(), value.expr()));
    }
    make::select_first(&all, otherwise.expr(), Location::caller())
}

/// `min(max(a, low), high)`: also a promise to bounds inference, where `a` is a coordinate.
#[track_caller]
pub fn clamp(a: impl IntoExpr, low: impl IntoExpr, high: impl IntoExpr) -> Expr {
    let at = Location::caller();
    binary(BinOp::Min, binary(BinOp::Max, a.expr(), low.expr(), at), high.expr(), at)
}

/// Conversion to the Rust type `T`: integers wrap; float to integer truncates, saturates, NaN gives 0.
#[track_caller]
pub fn cast<T: Element>(a: impl IntoExpr) -> Expr {
    make::convert(a.expr(), T::TYPE, Location::caller(), Kind::Cast)
}

/// Conversion to `ty`, as [`cast`].
#[track_caller]
pub fn cast_to(ty: ScalarType, a: impl IntoExpr) -> Expr {
    make::convert(a.expr(), ty, Location::caller(), Kind::Cast)
}

/// Conversion that clamps to `T`; NaN gives 0.
#[track_caller]
pub fn saturating_cast<T: Element>(a: impl IntoExpr) -> Expr {
    make::convert(a.expr(), T::TYPE, Location::caller(), Kind::SaturatingCast)
}

/// The same bits as `T`, which must have the operand's width.
#[track_caller]
pub fn reinterpret<T: Element>(a: impl IntoExpr) -> Expr {
    make::convert(a.expr(), T::TYPE, Location::caller(), Kind::Reinterpret)
}

/// `a`; says that in the steady state of a loop the enclosing min, max, clamp or select takes this side.
#[track_caller]
pub fn likely(a: impl IntoExpr) -> Expr {
    make::likely(a.expr(), Location::caller())
}

/// As [`likely`], where the loop that runs over what `a` depends on is innermost; elsewhere it says nothing.
#[track_caller]
pub fn likely_if_innermost(a: impl IntoExpr) -> Expr {
    make::marked(a.expr(), "likely_if_innermost", Kind::LikelyIfInnermost, Location::caller())
}

/// `a`, whose float operations stay as they are written whatever the schedule allows: products and sums are not
/// contracted by `float(contract)`, and a sum that is strict has its order, so `float(relaxed)` does not change it.
/// That holds for what is written in `a`, not for the definitions of Funcs that it calls.
#[track_caller]
pub fn strict_float(a: impl IntoExpr) -> Expr {
    make::marked(a.expr(), "strict_float", Kind::Strict, Location::caller())
}

/// A tuple value.
#[track_caller]
pub fn tuple(values: impl IntoIterator<Item: IntoExpr>) -> Expr {
    let at = Location::caller();
    make::tuple(values.into_iter().map(IntoExpr::expr).collect(), at)
}

/// Comparisons and conversions as methods of everything that can stand in an expression.
pub trait ExprMethods: IntoExpr {
    /// Equal.
    #[track_caller]
    fn eq(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::Eq, self.expr(), b.expr(), Location::caller())
    }
    /// Not equal.
    #[track_caller]
    fn ne(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::Ne, self.expr(), b.expr(), Location::caller())
    }
    /// Less.
    #[track_caller]
    fn lt(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::Lt, self.expr(), b.expr(), Location::caller())
    }
    /// Less or equal.
    #[track_caller]
    fn le(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::Le, self.expr(), b.expr(), Location::caller())
    }
    /// Greater.
    #[track_caller]
    fn gt(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::Gt, self.expr(), b.expr(), Location::caller())
    }
    /// Greater or equal.
    #[track_caller]
    fn ge(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::Ge, self.expr(), b.expr(), Location::caller())
    }
    /// True if both hold.
    #[track_caller]
    fn and(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::BitAnd, self.expr(), b.expr(), Location::caller())
    }
    /// At least one holds.
    #[track_caller]
    fn or(self, b: impl IntoExpr) -> Expr {
        binary(BinOp::BitOr, self.expr(), b.expr(), Location::caller())
    }
    /// Conversion to `ty`, as [`cast`].
    #[track_caller]
    fn cast(self, ty: ScalarType) -> Expr {
        make::convert(self.expr(), ty, Location::caller(), Kind::Cast)
    }
    /// Conversion that clamps to `ty`, as [`saturating_cast`].
    #[track_caller]
    fn saturating_cast(self, ty: ScalarType) -> Expr {
        make::convert(self.expr(), ty, Location::caller(), Kind::SaturatingCast)
    }
    /// The same bits as `ty`, as [`reinterpret`].
    #[track_caller]
    fn reinterpret(self, ty: ScalarType) -> Expr {
        make::convert(self.expr(), ty, Location::caller(), Kind::Reinterpret)
    }
}

impl<T: IntoExpr> ExprMethods for T {}

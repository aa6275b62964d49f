//! Named functions of expressions, as functions and (for comparisons and casts) as methods.

use super::{Expr, IntoExpr, as_type, binary, make, unary};
use crate::arena::{self, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::types::ScalarType;
use crate::value::{Element, Scalar};

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
        #[doc = concat!("`", stringify!($name), "` of floats; integers become f32 first. The same bits on every engine.")]
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

/// The value of the first pair whose condition holds, else `otherwise`.
#[track_caller]
pub fn select_first<C: IntoExpr, V: IntoExpr>(pairs: impl AsRef<[(C, V)]>, otherwise: impl IntoExpr) -> Expr {
    let at = Location::caller();
    let mut result = otherwise.expr();
    for (condition, value) in pairs.as_ref().iter().rev() {
        result = make::select(condition.expr(), value.expr(), result, at);
    }
    result
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

/// A tuple value.
#[track_caller]
pub fn tuple(values: impl IntoIterator<Item: IntoExpr>) -> Expr {
    let at = Location::caller();
    make::tuple(values.into_iter().map(IntoExpr::expr).collect(), at)
}

/// From `a` at weight 0 to `b` at weight 1. Floats: `a * (1 - w) + b * w`. Integers are rounded exactly (half up) and
/// take a float weight in 0..=1 or an unsigned integer weight whose largest value means 1.
#[track_caller]
pub fn lerp(a: impl IntoExpr, b: impl IntoExpr, weight: impl IntoExpr) -> Expr {
    let at = Location::caller();
    let (a, b, w) = (a.expr(), b.expr(), weight.expr());
    let both = binary(BinOp::Add, a, b, at);
    let (Some(ty), Some(wty)) = (both.ty(), w.ty()) else { return arena::poisoned(at, &[both, w]) };
    let (a, b) = (as_type(a, ty, at), as_type(b, ty, at));
    if ty.is_float() && wty.is_float() {
        let one = binary(BinOp::Sub, 1.expr(), w, at);
        return binary(BinOp::Add, binary(BinOp::Mul, a, one, at), binary(BinOp::Mul, b, w, at), at);
    }
    if !ty.is_int() || !(wty.is_float() || wty.is_unsigned_int()) || ty.bits() > 32 || wty.bits() > 32 {
        let wants = "floats, or integers of at most 32 bits with a float or unsigned weight";
        return arena::poison(AlgorithmErrorKind::WrongOperand { operator: "lerp".into(), ty, wants }, at);
    }
    integer_lerp(a, b, w, ty, wty, at)
}

/// `floor((a * (W - w) + b * w + W / 2) / W)`, where `w / W` is the weight. For an integer weight, `W` is its largest
/// value; a float weight is first rounded to multiples of 2^-24, so that everything fits i64 exactly.
fn integer_lerp(a: Expr, b: Expr, w: Expr, ty: ScalarType, wty: ScalarType, at: Location) -> Expr {
    let wide = |e| arena::add(Kind::Cast(e), Ty::One(ScalarType::I64), at);
    let number = |v: i128| arena::add(Kind::Const(Scalar::int(ScalarType::I64, v)), Ty::One(ScalarType::I64), at);
    let (whole, w) = if wty.is_float() {
        let scale = 1i128 << 24;
        let exact = arena::add(Kind::Cast(w), Ty::One(ScalarType::F64), at);
        let scaled = binary(BinOp::Mul, exact, (scale as f64).expr(), at);
        let limited = binary(BinOp::Min, binary(BinOp::Max, scaled, 0.0.expr(), at), (scale as f64).expr(), at);
        (scale, wide(unary(UnOp::Round, limited, at)))
    } else {
        (wty.int_max().expect("an integer type"), wide(as_type(w, wty, at)))
    };
    // a * (W - w) + b * w = a * W + (b - a) * w; with 32-bit values and weights both products stay inside i64.
    let (a, b) = (wide(a), wide(b));
    let moved = binary(BinOp::Mul, binary(BinOp::Sub, b, a, at), w, at);
    let half = binary(BinOp::Add, moved, number(whole / 2), at);
    let step = binary(BinOp::Div, half, number(whole), at);
    arena::add(Kind::Cast(binary(BinOp::Add, a, step, at)), Ty::One(ty), at)
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
    /// Both hold.
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

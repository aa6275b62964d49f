//! Linear interpolation, exactly rounded on integers.

use super::into::IntoExpr;
use super::make::{as_type, binary, is_literal, scalars, select as select_at, unary};
use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::ops::{BinOp, UnOp};
use crate::types::ScalarType::{self, *};
use crate::value::Scalar;

/// Interpolates linearly from `a` at weight 0 to `b` at weight 1.
///
/// Floats: `a * (1 - w) + b * w`. Integers of up to 32 bits: the exact value `a + (b - a) * w`, rounded to the nearest
/// integer, ties up. The weight is a float, clamped to 0..=1 for integers (NaN is 0), or an unsigned integer of up to
/// 32 bits whose largest value means 1. A literal weight is a float, or an unsigned integer of the width of `a` and
/// `b`.
#[track_caller]
pub fn lerp(a: impl IntoExpr, b: impl IntoExpr, weight: impl IntoExpr) -> Expr {
    let at = Location::caller();
    lerp_or_poison(a.expr(), b.expr(), weight.expr(), at).unwrap_or_else(|poison| poison)
}

fn lerp_or_poison(a: Expr, b: Expr, w: Expr, at: Location) -> Result<Expr, Expr> {
    let both = binary(BinOp::Add, a, b, at);
    let [ty, _] = scalars([both, w], "lerp", at)?;
    let w = literal_weight(w, ty, at);
    let [wty] = scalars([w], "lerp", at)?;
    let wrong = |ty, wants| Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator: "lerp", ty, wants }, at));
    if !(wty.is_float() || wty.is_unsigned_int() && wty.bits() <= 32) {
        return wrong(wty, "a float or unsigned weight of at most 32 bits");
    }
    let (a, b) = (as_type(a, ty, at), as_type(b, ty, at));
    match (ty, wty) {
        _ if ty.is_float() => Ok(between_floats(a, b, w, ty, wty, at)),
        (I64 | U64 | Bool, _) => wrong(ty, "floats, or integers of at most 32 bits"),
        (_, F64) => wrong(wty, "a weight of at most 32 bits between integers"),
        _ if wty.is_unsigned_int() => Ok(by_whole_weight(a, b, w, ty, wty, at)),
        _ if ty.bits() <= 16 => Ok(by_float_in_f64(a, b, w, ty, at)),
        _ => Ok(by_float_bits(a, b, w, ty, at)),
    }
}

/// A literal weight in the type of the operands, or the unsigned or float type that goes with them.
fn literal_weight(w: Expr, ty: ScalarType, at: Location) -> Expr {
    match w.ty() {
        Some(wty) if is_literal(w) => match (ty.is_float(), wty.is_float()) {
            (true, _) => as_type(w, ty, at),
            (false, true) => as_type(w, F32, at),
            (false, false) => as_type(w, ScalarType::unsigned(ty.bits()), at),
        },
        _ => w,
    }
}

fn between_floats(a: Expr, b: Expr, w: Expr, ty: ScalarType, wty: ScalarType, at: Location) -> Expr {
    let w = match wty.int_max() {
        Some(whole) => binary(BinOp::Div, as_type(w, ty, at), constant(Scalar::int(ty, whole), at), at),
        None => w,
    };
    let rest = binary(BinOp::Sub, 1.expr(), w, at);
    binary(BinOp::Add, binary(BinOp::Mul, a, rest, at), binary(BinOp::Mul, b, w, at), at)
}

/// `w / W` for the largest `W`: `a` moved towards `b` by `(|b - a| * w + W / 2) / W`, in a width where nothing wraps.
/// `W` is odd, so there are no ties.
fn by_whole_weight(a: Expr, b: Expr, w: Expr, ty: ScalarType, wty: ScalarType, at: Location) -> Expr {
    let wide = ScalarType::unsigned((ty.bits() + wty.bits()).next_power_of_two());
    let whole = wty.int_max().expect("an integer type");
    let distance = cast(binary(BinOp::Absd, a, b, at), wide, at);
    let product = binary(BinOp::Mul, distance, cast(as_type(w, wty, at), wide, at), at);
    let rounded = binary(BinOp::Add, product, constant(Scalar::int(wide, whole / 2), at), at);
    let step = cast(binary(BinOp::Div, rounded, constant(Scalar::int(wide, whole), at), at), ty, at);
    let up = binary(BinOp::Lt, a, b, at);
    select_at(up, binary(BinOp::Add, a, step, at), binary(BinOp::Sub, a, step, at), at)
}

/// `a + floor((b - a) * w + 1/2)`. The product of 17 and 24 bits is exact in f64. So is the sum where the product is
/// 1/4 or more away from 0; elsewhere the sum lies between 1/4 and 3/4, so its floor is 0 however it was rounded.
fn by_float_in_f64(a: Expr, b: Expr, w: Expr, ty: ScalarType, at: Location) -> Expr {
    let w = cast(clamped(w, at), F64, at);
    let distance = cast(binary(BinOp::Sub, cast(b, I32, at), cast(a, I32, at), at), F64, at);
    let moved = binary(BinOp::Add, binary(BinOp::Mul, distance, w, at), 0.5.expr(), at);
    let step = cast(unary(UnOp::Floor, moved, at), I32, at);
    cast(binary(BinOp::Add, cast(a, I32, at), step, at), ty, at)
}

/// Interpolates 33-bit distances exactly, where [`by_float_in_f64`] would round: the weight is a 24-bit integer `m`
/// times `2^-s`, so `(b - a) * m` is exact in an i64 and the rest is a shift.
fn by_float_bits(a: Expr, b: Expr, w: Expr, ty: ScalarType, at: Location) -> Expr {
    let number = |v: i64| constant(Scalar::int(I64, v as i128), at);
    let bits = arena::add(Kind::Reinterpret(cast(clamped(w, at), F32, at)), Ty::One(U32), at);
    let bits = cast(bits, I64, at);
    let exponent = binary(BinOp::Shr, bits, number(23), at);
    let fraction = binary(BinOp::BitAnd, bits, number((1 << 23) - 1), at);
    // Subnormal weights are below 2^-126: they move nothing, like all below 2^-34, so their fraction may be anything.
    let mantissa = binary(BinOp::BitOr, fraction, number(1 << 23), at);
    // w = m * 2^(exponent - 150); the shift is 23 or more, as w <= 1. A product of 57 bits is less than half of 2^60.
    let shift = binary(BinOp::Min, binary(BinOp::Sub, number(150), exponent, at), number(60), at);
    let distance = binary(BinOp::Sub, cast(b, I64, at), cast(a, I64, at), at);
    let product = binary(BinOp::Mul, distance, mantissa, at);
    let half = binary(BinOp::Shl, number(1), binary(BinOp::Sub, shift, number(1), at), at);
    let step = binary(BinOp::Shr, binary(BinOp::Add, product, half, at), shift, at);
    cast(binary(BinOp::Add, cast(a, I64, at), step, at), ty, at)
}

/// A float weight within 0..=1; a NaN is 0.
fn clamped(w: Expr, at: Location) -> Expr {
    binary(BinOp::Min, binary(BinOp::Max, w, 0.0.expr(), at), 1.0.expr(), at)
}

fn cast(e: Expr, ty: ScalarType, at: Location) -> Expr {
    as_type(e, ty, at)
}

fn constant(value: Scalar, at: Location) -> Expr {
    arena::add(Kind::Const(value), Ty::One(value.ty()), at)
}

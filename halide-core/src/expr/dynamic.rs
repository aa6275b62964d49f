//! Expressions whose operator or type is a value: for programs that make algorithms. Users write the functions and
//! operators.

use super::{Expr, make};
use crate::arena::{self, Kind, Ty};
use crate::error::Location;
use crate::ops::{BinOp, MathFn, UnOp};
use crate::types::ScalarType;
use crate::value::Scalar;

/// Makes a constant that keeps its type, other than a literal, which takes the type of the other operand.
#[track_caller]
pub fn constant(value: Scalar) -> Expr {
    arena::add(Kind::Const(value), Ty::One(value.ty()), Location::caller())
}

/// Says that nothing is stored, as [`undef`](super::undef), of elements of type `ty`.
#[track_caller]
pub fn undef_of(ty: ScalarType) -> Expr {
    arena::add(Kind::Undef, Ty::One(ty), Location::caller())
}

/// Applies an operator of one operand.
#[track_caller]
pub fn unary(op: UnOp, a: Expr) -> Expr {
    make::unary(op, a, Location::caller())
}

/// Applies an operator of two operands, brought to one type.
#[track_caller]
pub fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    make::binary(op, a, b, Location::caller())
}

/// Applies a function of floats to the first of `args`, as many as [`MathFn::arity`] says.
#[track_caller]
pub fn math(function: MathFn, args: [Expr; 3]) -> Expr {
    make::math(function, &args[..function.arity()], Location::caller())
}

/// Converts to `ty` and clamps to its values, as [`saturating_cast`](super::saturating_cast).
#[track_caller]
pub fn saturating_cast_to(ty: ScalarType, a: Expr) -> Expr {
    make::convert(a, ty, Location::caller(), Kind::SaturatingCast)
}

//! Random numbers, as pure functions of where they stand.
//!
//! A call gives the same value for the same coordinates, whatever the engine, schedule or number of threads; another
//! one at other coordinates (the pure variables and reduction variables of the definition), in another Func (by its
//! name), at another place of the same definition, and for another `seed`, an integer that may be a parameter.

use super::into::IntoExpr;
use super::make::{as_type, binary, scalars};
use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::ops::BinOp;
use crate::types::ScalarType::{F32, I32, U32};

/// Any `u32`, all equally likely.
#[track_caller]
pub fn random_u32(seed: impl IntoExpr) -> Expr {
    bits("random_u32", seed.expr(), Location::caller()).unwrap_or_else(|poison| poison)
}

/// Any `i32`, all equally likely.
#[track_caller]
pub fn random_i32(seed: impl IntoExpr) -> Expr {
    let at = Location::caller();
    bits("random_i32", seed.expr(), at).map_or_else(|poison| poison, |bits| as_type(bits, I32, at))
}

/// A multiple of 2^-24 from 0 up to but not including 1, all equally likely.
#[track_caller]
pub fn random_f32(seed: impl IntoExpr) -> Expr {
    let at = Location::caller();
    let made = bits("random_f32", seed.expr(), at).map(|bits| {
        let whole = as_type(binary(BinOp::Shr, bits, 8.expr(), at), F32, at);
        binary(BinOp::Mul, whole, (1.0 / (1 << 24) as f32).expr(), at)
    });
    made.unwrap_or_else(|poison| poison)
}

fn bits(operator: &'static str, seed: Expr, at: Location) -> Result<Expr, Expr> {
    let [ty] = scalars([seed], operator, at)?;
    if !ty.is_int() {
        return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty, wants: "an integer seed" }, at));
    }
    Ok(arena::add(Kind::Random(as_type(as_type(seed, ty, at), U32, at)), Ty::One(U32), at))
}

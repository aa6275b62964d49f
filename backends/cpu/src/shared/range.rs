//! Ranges of expressions, as far as they are known: enough to leave out the fix-ups of conversions whose operand was
//! clamped, widened or reduced just before.

use super::lane::data;
use crate::tuning::RANGE_DEPTH;
use halide_backend::Interval;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Expr, ExprKind, Intrinsic};

/// Bounds of an integer or Index expression.
pub(crate) fn int_range(e: &Expr) -> Interval {
    ints(e, RANGE_DEPTH)
}

/// Bounds of a float expression; `None` if it may be a NaN or nothing is known.
pub(crate) fn float_range(e: &Expr) -> Option<(f64, f64)> {
    floats(e, RANGE_DEPTH)
}

fn ints(e: &Expr, depth: u32) -> Interval {
    if data(e.ty().elem).is_float() {
        return Interval::new(i128::MIN, i128::MAX);
    }
    let whole = Interval::of_type(data(e.ty().elem));
    if depth == 0 {
        return whole;
    }
    let of = |e: &Expr| ints(e, depth - 1);
    let known = match e.kind() {
        ExprKind::Const(v) => Some(Interval::point(v.as_i128())),
        ExprKind::Int(v) => Some(Interval::point(i128::from(*v))),
        ExprKind::Broadcast(a) | ExprKind::Likely(a) => Some(of(a)),
        ExprKind::Select(_, a, b) => Some(of(a).hull(of(b))),
        ExprKind::Cast(a) if !data(a.ty().elem).is_float() => Some(of(a)).filter(|r| r.within(whole)),
        ExprKind::SaturatingCast(a) if !data(a.ty().elem).is_float() => Some(of(a).clamp(whole)),
        // A float that is not zero is true, also one that truncates to zero.
        ExprKind::Cast(_) if data(e.ty().elem) == ScalarType::Bool => None,
        ExprKind::Cast(a) | ExprKind::SaturatingCast(a) => floats(a, depth - 1).map(|(lo, hi)| {
            // As saturating conversions do; i128 holds every f64 that is not clamped anyway.
            Interval::new(lo as i128, hi as i128).clamp(whole)
        }),
        ExprKind::Binary(op, a, b) if !data(a.ty().elem).is_float() => Interval::binary(*op, of(a), of(b)),
        ExprKind::Intrinsic(Intrinsic::HalvingAdd | Intrinsic::RoundingHalvingAdd, args) if args.len() == 2 => {
            Some(of(&args[0]).hull(of(&args[1])))
        }
        ExprKind::Intrinsic(Intrinsic::WideningMul, args) if args.len() == 2 => {
            Some(of(&args[0]).product(of(&args[1])))
        }
        _ => None,
    };
    known.filter(|r| r.within(whole)).unwrap_or(whole)
}

fn floats(e: &Expr, depth: u32) -> Option<(f64, f64)> {
    let ty = data(e.ty().elem);
    if depth == 0 || !ty.is_float() {
        return None;
    }
    let of = |e: &Expr| floats(e, depth - 1);
    match e.kind() {
        ExprKind::Const(v) => Some((v.as_f64(), v.as_f64())).filter(|_| !v.is_nan()),
        ExprKind::Broadcast(a) | ExprKind::Likely(a) => of(a),
        ExprKind::Select(_, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            Some((a.0.min(b.0), a.1.max(b.1)))
        }
        ExprKind::Cast(a) if !data(a.ty().elem).is_float() => {
            let Interval { low, high } = ints(a, depth - 1);
            let rounded = |v: i128| halide_core::value::Scalar::int(ty, v).as_f64();
            Some((rounded(low), rounded(high)))
        }
        // A NaN loses against the other operand.
        ExprKind::Binary(BinOp::Min, a, b) => match (of(a), of(b)) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.min(b.1))),
            (Some(r), None) | (None, Some(r)) => Some((f64::NEG_INFINITY, r.1)),
            (None, None) => None,
        },
        ExprKind::Binary(BinOp::Max, a, b) => match (of(a), of(b)) {
            (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.max(b.1))),
            (Some(r), None) | (None, Some(r)) => Some((r.0, f64::INFINITY)),
            (None, None) => None,
        },
        ExprKind::Unary(op, a) => {
            let (lo, hi) = of(a)?;
            match op {
                UnOp::Floor => Some((lo.floor(), hi.floor())),
                UnOp::Ceil => Some((lo.ceil(), hi.ceil())),
                UnOp::Round => Some((lo.round_ties_even(), hi.round_ties_even())),
                UnOp::Trunc => Some((lo.trunc(), hi.trunc())),
                UnOp::Neg => Some((-hi, -lo)),
                UnOp::Abs if lo >= 0.0 => Some((lo, hi)),
                UnOp::Abs => Some((0.0, hi.max(-lo))),
                _ => None,
            }
        }
        _ => None,
    }
}

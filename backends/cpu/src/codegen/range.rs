//! Ranges of expressions, as far as they are known: enough to leave out the fix-ups of conversions whose operand was
//! clamped, widened or reduced just before.

use super::value::data;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Expr, ExprKind, Intrinsic};

/// The depth to which an expression is looked at.
const DEPTH: u32 = 6;

/// Bounds of an integer or Index expression.
pub(crate) fn int_range(e: &Expr) -> (i128, i128) {
    ints(e, DEPTH)
}

/// Bounds of a float expression; `None` if it may be a NaN or nothing is known.
pub(crate) fn float_range(e: &Expr) -> Option<(f64, f64)> {
    floats(e, DEPTH)
}

/// Bounds of an integer type.
pub(crate) fn type_range(ty: ScalarType) -> (i128, i128) {
    (ty.int_min().unwrap_or(i128::MIN), ty.int_max().unwrap_or(i128::MAX))
}

/// Returns true if the first range is within the second.
pub(crate) fn within(inner: (i128, i128), outer: (i128, i128)) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

fn ints(e: &Expr, depth: u32) -> (i128, i128) {
    let whole = type_range(data(e.ty().elem));
    if depth == 0 || data(e.ty().elem).is_float() {
        return whole;
    }
    let of = |e: &Expr| ints(e, depth - 1);
    let known = match e.kind() {
        ExprKind::Const(v) => Some((v.as_i128(), v.as_i128())),
        ExprKind::Int(v) => Some((i128::from(*v), i128::from(*v))),
        ExprKind::Broadcast(a) | ExprKind::Likely(a) => Some(of(a)),
        ExprKind::Select(_, a, b) => Some(union(of(a), of(b))),
        ExprKind::Cast(a) if !data(a.ty().elem).is_float() => Some(of(a)).filter(|r| within(*r, whole)),
        ExprKind::SaturatingCast(a) if !data(a.ty().elem).is_float() => {
            let r = of(a);
            Some((r.0.clamp(whole.0, whole.1), r.1.clamp(whole.0, whole.1)))
        }
        ExprKind::Cast(a) | ExprKind::SaturatingCast(a) => floats(a, depth - 1).map(|(lo, hi)| {
            // As saturating conversions do; i128 holds every f64 that is not clamped anyway.
            ((lo as i128).clamp(whole.0, whole.1), (hi as i128).clamp(whole.0, whole.1))
        }),
        ExprKind::Binary(op, a, b) if !data(a.ty().elem).is_float() => int_binary(*op, of(a), of(b)),
        ExprKind::Intrinsic(Intrinsic::HalvingAdd | Intrinsic::RoundingHalvingAdd, args) if args.len() == 2 => {
            Some(union(of(&args[0]), of(&args[1])))
        }
        ExprKind::Intrinsic(Intrinsic::WideningMul, args) if args.len() == 2 => {
            int_binary(BinOp::Mul, of(&args[0]), of(&args[1]))
        }
        _ => None,
    };
    known.filter(|r| within(*r, whole)).unwrap_or(whole)
}

/// The range of an exact result: the caller drops it where it could wrap.
fn int_binary(op: BinOp, (al, ah): (i128, i128), (bl, bh): (i128, i128)) -> Option<(i128, i128)> {
    let products = || [al.checked_mul(bl), al.checked_mul(bh), ah.checked_mul(bl), ah.checked_mul(bh)];
    match op {
        BinOp::Add => Some((al.checked_add(bl)?, ah.checked_add(bh)?)),
        BinOp::Sub => Some((al.checked_sub(bh)?, ah.checked_sub(bl)?)),
        BinOp::Mul => {
            let all: Option<Vec<i128>> = products().into_iter().collect();
            let all = all?;
            Some((*all.iter().min()?, *all.iter().max()?))
        }
        BinOp::Min => Some((al.min(bl), ah.min(bh))),
        BinOp::Max => Some((al.max(bl), ah.max(bh))),
        BinOp::Div if bl == bh && bl > 0 => Some((al.div_euclid(bl), ah.div_euclid(bl))),
        BinOp::DivToZero if bl == bh && bl > 0 => Some((al / bl, ah / bl)),
        BinOp::Mod if bl == bh && bl > 0 => Some((0, bl - 1)),
        BinOp::BitAnd if al >= 0 && bl >= 0 => Some((0, ah.min(bh))),
        BinOp::BitAnd if bl >= 0 => Some((0, bh)),
        BinOp::BitAnd if al >= 0 => Some((0, ah)),
        BinOp::Shr if bl == bh && (0..64).contains(&bl) => Some((al >> bl, ah >> bl)),
        BinOp::Absd => Some((0, (ah - bl).max(bh - al))),
        _ => None,
    }
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
            let (lo, hi) = ints(a, depth - 1);
            let rounded = |v: i128| halide_core::value::Scalar::int(ty, v).as_f64();
            Some((rounded(lo), rounded(hi)))
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

fn union(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    (a.0.min(b.0), a.1.max(b.1))
}

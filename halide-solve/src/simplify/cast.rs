//! Conversions that other conversions or known ranges make superfluous.

use super::facts::Facts;
use super::range::Range;
use halide_core::ops::UnOp;
use halide_core::types::ScalarType::{self, *};
use halide_ir::{Elem, Expr, ExprKind, build};

/// A simpler conversion, if `e` is one.
pub(super) fn simplify_cast(e: &Expr, facts: &Facts) -> Option<Expr> {
    match e.kind() {
        ExprKind::Cast(a) => {
            let ExprKind::Cast(source) = a.kind() else { return None };
            let through = a.ty().scalar()?;
            skips(source, through, e.ty().elem, facts).then(|| build::cast(e.ty().elem, source.clone()))
        }
        ExprKind::SaturatingCast(a) => {
            let (from, to) = (a.ty().scalar()?, e.ty().scalar()?);
            let saturates_anyway = from.is_float() && to != Bool || to.is_float();
            let fits = to != Bool && facts.range_of(a).within(Range::of_type(to));
            (saturates_anyway || fits).then(|| build::cast_data(to, a.clone()))
        }
        ExprKind::Reinterpret(a) => {
            let (from, to) = (a.ty().scalar()?, e.ty().scalar()?);
            match a.kind() {
                _ if from.is_int() && to.is_int() => Some(build::cast_data(to, a.clone())),
                ExprKind::Reinterpret(inner) => Some(build::reinterpret(to, inner.clone())),
                _ => None,
            }
        }
        // Integers are round already.
        ExprKind::Unary(UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc, a) => {
            let ExprKind::Cast(source) = a.kind() else { return None };
            source.ty().scalar().is_none_or(|t| !t.is_float()).then(|| a.clone())
        }
        ExprKind::Unary(UnOp::Abs, a) => {
            let ty = e.ty().scalar().filter(|t| t.is_int())?;
            facts.range_of(a).at_least(0).then(|| build::cast_data(ty, a.clone()))
        }
        _ => None,
    }
}

/// Returns true if converting `source` to `to` by way of `through` is the same as directly.
fn skips(source: &Expr, through: ScalarType, to: Elem, facts: &Facts) -> bool {
    let from = source.ty().scalar();
    if from.is_some_and(|t| t.is_float()) {
        // A float that holds every value of a narrower one changes nothing.
        return from.is_some_and(|f| holds_all(through, f)) && matches!(to, Elem::Data(_));
    }
    let range = facts.range_of(source);
    match (through, to) {
        (Bool, _) => false,
        // Only integers become coordinates.
        (_, Elem::Index) if from == Some(Bool) => false,
        // An integer that holds every value of the source changes nothing, unless the next conversion is by value of
        // the type: a coordinate becomes data by way of 64 bits.
        (t, _) if t.is_int() && range.within(Range::of_type(t)) => true,
        // Wrapping twice is wrapping once to the narrower.
        (t, Elem::Data(u)) if t.is_int() && u.is_int() => u.bits() <= t.bits(),
        (t, Elem::Data(u)) if t.is_float() && range.within(exact_integers(t)) => {
            u.is_float() || u.is_int() && range.within(Range::of_type(u))
        }
        _ => false,
    }
}

/// Returns true if every value of float type `b` is one of float type `a`.
fn holds_all(a: ScalarType, b: ScalarType) -> bool {
    match (a, b) {
        _ if a == b => true,
        (F64, _) => b.is_float(),
        (F32, F16 | BF16) => true,
        _ => false,
    }
}

/// A range of integers of which each is a value of float type `ty`.
fn exact_integers(ty: ScalarType) -> Range {
    let bits = match ty {
        F16 => 11,
        BF16 => 8,
        F32 => 24,
        _ => 53,
    };
    Range::new(Some(-(1 << bits)), Some(1 << bits))
}

//! Instruction selection of narrow arithmetic: finds cheaper forms of integer arithmetic on vectors.
//!
//! Before: `Stage::Shaped`. After: the same; every value is the same, of the same type.
//!
//! Portable code widens before it adds, so that nothing overflows. A machine has instructions for what is meant, and
//! twice as many lanes of half the width:
//!
//! - averages, `(wide(a) + wide(b) + 1) / 2`, with and without rounding; absolute differences;
//! - sums and differences that are clamped to their type; clamping conversions;
//! - the high half of a product; products of fractions, rounded; products in twice the width;
//! - arithmetic in a wide type of values that are narrow, whose result is made narrow again or compared (`narrow`);
//! - conversions back of what was only made wider;
//! - indices that data decides (`index`).
//!
//! Only vectors are rewritten: scalars are as wide as a register anyway.
//!
//! Example:
//! ```text
//! out#b2[ramp(0, 1, 8)] = u8x8((u16x8(in#b0[ramp(0, 1, 8)]) + u16x8(in#b0[ramp(1, 1, 8)]) + x8(1u16)) / x8(2u16))
//! ```
//! becomes
//! ```text
//! out#b2[ramp(0, 1, 8)] = rounding_halving_add(in#b0[ramp(0, 1, 8)], in#b0[ramp(1, 1, 8)])
//! ```

mod index;
mod narrow;

use crate::lower::walk;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::visit::{self, Memo};
use halide_ir::{Expr, ExprKind, Intrinsic, Program, Stmt, build};
use halide_solve::simplify::Facts;

/// Replaces integer idioms by intrinsics and narrow arithmetic. `facts` holds what is known of arguments.
pub fn find_intrinsics(program: Program, facts: &Facts) -> Program {
    walk::map_body(program, |body, _| statement(&mut facts.clone(), body))
}

fn statement(facts: &mut Facts, s: Stmt) -> Stmt {
    walk::map_stmt_under(s, facts, |facts| facts, |facts, e| expression(e, facts), statement)
}

fn expression(e: &Expr, facts: &Facts) -> Expr {
    let narrow = Memo::new().rewrite(e, |n, done| {
        let n = visit::map_children(n, done);
        if n.lanes() == 1 { n } else { idiom(&n, facts).unwrap_or(n) }
    });
    // Last, since the others know products as products.
    Memo::new().rewrite(&narrow, |n, done| {
        let n = visit::map_children(n, done);
        if n.lanes() == 1 { n } else { widening_product(&n).unwrap_or(n) }
    })
}

/// A cheaper form of a vector node.
fn idiom(e: &Expr, facts: &Facts) -> Option<Expr> {
    let ty = e.ty().scalar()?;
    match e.kind() {
        ExprKind::Load { buf, index, mask } if index.lanes() > 1 => {
            index::in_32_bits(index, facts).map(|index| build::load(*buf, ty, index, mask.clone()))
        }
        ExprKind::Binary(BinOp::Div, a, b) if build::as_const(b)?.as_i128() == 2 => average(a, ty),
        ExprKind::Binary(BinOp::Shr, a, b) => {
            let by = build::as_const(b)?.as_i128();
            if by == 1 { average(a, ty) } else { high_product(a, by, ty) }
        }
        ExprKind::Binary(op, a, b) if op.is_comparison() => narrow::comparison(*op, a, b, facts),
        ExprKind::Unary(UnOp::Abs, a) => absolute_difference(a, ty),
        ExprKind::SaturatingCast(a) => {
            clamped_sum(a, ty).or_else(|| rounded_product(a, ty)).or_else(|| narrow::saturating_cast(a, ty, facts))
        }
        // What was widened only to be narrowed again.
        ExprKind::Cast(a) if ty.is_int() && widened(a).is_some() => {
            widened(a).map(|(inner, _)| build::cast_data(ty, inner.clone()))
        }
        ExprKind::Cast(a) if ty.is_int() => {
            let clamping = || clamping_cast(a, ty, facts).map(|e| idiom(&e, facts).unwrap_or(e));
            let rounded = || rounded_product(a, ty).filter(|_| facts.range_of(a).at_most(i128::from(i16::MAX)));
            clamping().or_else(rounded).or_else(|| narrow::cast(a, ty, facts))
        }
        _ => None,
    }
}

/// The operand of a conversion to a wider type that keeps the value, and its type.
fn widened(e: &Expr) -> Option<(&Expr, ScalarType)> {
    let ExprKind::Cast(a) = e.kind() else { return None };
    let (from, to) = (a.ty().scalar()?, e.ty().scalar()?);
    (from.is_int() && to.is_int() && holds_all(to, from) && to.bits() > from.bits()).then_some((a, from))
}

/// Returns true if every value of `from` is one of `to`.
fn holds_all(to: ScalarType, from: ScalarType) -> bool {
    from.int_min() >= to.int_min() && from.int_max() <= to.int_max()
}

/// `e` or, of a constant, what it is in `ty`, if it is one value of that.
fn as_narrow(e: &Expr, ty: ScalarType) -> Option<Expr> {
    match (widened(e), build::as_const(e)) {
        (Some((a, from)), _) if from == ty => Some(a.clone()),
        (None, Some(v)) if ty.int_min()? <= v.as_i128() && v.as_i128() <= ty.int_max()? => {
            Some(build::cast_data(ty, e.clone()))
        }
        _ => None,
    }
}

/// Two expressions of which at least one is widened, as narrow ones of the type that is widened.
fn both_narrow(a: &Expr, b: &Expr) -> Option<(Expr, Expr, ScalarType)> {
    let ty = widened(a).or_else(|| widened(b))?.1;
    Some((as_narrow(a, ty)?, as_narrow(b, ty)?, ty))
}

/// Half of a sum of two widened values, or of that and 1.
fn average(sum: &Expr, ty: ScalarType) -> Option<Expr> {
    let ExprKind::Binary(BinOp::Add, a, b) = sum.kind() else { return None };
    let one = |e: &Expr| build::as_const(e).is_some_and(|v| v.as_i128() == 1);
    let rounded = |x: &Expr, y: &Expr, z: &Expr| -> Option<Expr> {
        let (x, y, _) = both_narrow(x, y).filter(|_| one(z))?;
        Some(build::intrinsic(Intrinsic::RoundingHalvingAdd, vec![x, y]))
    };
    let sum_of = |e: &Expr| match e.kind() {
        ExprKind::Binary(BinOp::Add, x, y) => Some((x.clone(), y.clone())),
        _ => None,
    };
    let found = if let Some((x, y)) = sum_of(a) {
        // ((x + y) + b): any of the three may be the 1.
        rounded(&x, &y, b).or_else(|| rounded(&x, b, &y)).or_else(|| rounded(&y, b, &x))
    } else if let Some((x, y)) = sum_of(b) {
        rounded(&x, &y, a).or_else(|| rounded(a, &x, &y)).or_else(|| rounded(a, &y, &x))
    } else {
        let (x, y, _) = both_narrow(a, b)?;
        Some(build::intrinsic(Intrinsic::HalvingAdd, vec![x, y]))
    };
    found.map(|e| build::cast_data(ty, e))
}

/// The high half of the product of two values widened to at least twice their width.
fn high_product(product: &Expr, by: i128, ty: ScalarType) -> Option<Expr> {
    let ExprKind::Binary(BinOp::Mul, a, b) = product.kind() else { return None };
    let (x, y, from) = both_narrow(a, b)?;
    let exact =
        ty.bits() > 2 * from.bits() || (ty.bits() == 2 * from.bits() && ty.is_signed_int() == from.is_signed_int());
    if !exact || by != i128::from(from.bits()) {
        return None;
    }
    Some(build::cast_data(ty, build::intrinsic(Intrinsic::MulHigh, vec![x, y])))
}

/// The product of two widened values, rounded at bit 15: `(p >> 15) + ((p >> 14) & 1)`.
fn rounded_product(sum: &Expr, ty: ScalarType) -> Option<Expr> {
    let ExprKind::Binary(BinOp::Add, a, b) = sum.kind() else { return None };
    let with = |e: &Expr, op: BinOp, by: i128| match e.kind() {
        ExprKind::Binary(o, x, y) if *o == op && build::as_const(y).is_some_and(|v| v.as_i128() == by) => {
            Some(x.clone())
        }
        _ => None,
    };
    let rounded = |high: &Expr, bit: &Expr| {
        let product = with(high, BinOp::Shr, 15)?;
        let same = with(&with(bit, BinOp::BitAnd, 1)?, BinOp::Shr, 14)?;
        (same == product).then_some(product)
    };
    let product = rounded(a, b).or_else(|| rounded(b, a))?;
    let ExprKind::Binary(BinOp::Mul, a, b) = product.kind() else { return None };
    let (x, y, _) = both_narrow(a, b).filter(|(.., from)| *from == ScalarType::I16 && ty == *from)?;
    Some(build::intrinsic(Intrinsic::MulRounded, vec![x, y]))
}

/// The absolute value of a difference of widened values.
fn absolute_difference(difference: &Expr, ty: ScalarType) -> Option<Expr> {
    let ExprKind::Binary(BinOp::Sub, a, b) = difference.kind() else { return None };
    let (x, y, _) = both_narrow(a, b).filter(|_| difference.ty().scalar().is_some_and(ScalarType::is_signed_int))?;
    Some(build::cast_data(ty, build::binary(BinOp::Absd, x, y)))
}

/// A sum or difference of widened values, clamped to their type.
fn clamped_sum(sum: &Expr, ty: ScalarType) -> Option<Expr> {
    let ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) = sum.kind() else { return None };
    let (x, y, from) = both_narrow(a, b)?;
    // An unsigned difference would have wrapped before it was clamped.
    if from != ty || (*op == BinOp::Sub && !sum.ty().scalar()?.is_signed_int()) {
        return None;
    }
    let op = if *op == BinOp::Add { Intrinsic::SaturatingAdd } else { Intrinsic::SaturatingSub };
    Some(build::intrinsic(op, vec![x, y]))
}

/// A conversion to `ty` of a value that was clamped to just that, on the sides on which it could be outside.
fn clamping_cast(e: &Expr, ty: ScalarType, facts: &Facts) -> Option<Expr> {
    let from = e.ty().scalar().filter(|t| t.is_int() && t.bits() > ty.bits())?;
    let (least, most) = (ty.int_min()?, ty.int_max()?);
    let mut value = e.clone();
    let (mut below, mut above) = (false, false);
    while let ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) = value.kind() {
        let (side, limit) = if *op == BinOp::Min { (&mut above, most) } else { (&mut below, least) };
        if *side || build::as_const(b).is_none_or(|v| v.as_i128() != limit) {
            break;
        }
        *side = true;
        value = a.clone();
    }
    let range = facts.range_of(&value);
    let fits = (below || range.at_least(least) || from.int_min()? >= least) && (above || range.at_most(most));
    ((below || above) && fits).then(|| build::saturating_cast(ty, value))
}

/// A product in twice the width of its operands.
fn widening_product(e: &Expr) -> Option<Expr> {
    let ExprKind::Binary(BinOp::Mul, a, b) = e.kind() else { return None };
    let ty = e.ty().scalar().filter(|t| t.is_int())?;
    let (x, y, _) = both_narrow(a, b).filter(|(.., from)| 2 * from.bits() == ty.bits())?;
    Some(build::cast_data(ty, build::intrinsic(Intrinsic::WideningMul, vec![x, y])))
}

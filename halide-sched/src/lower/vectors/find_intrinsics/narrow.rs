//! Arithmetic of a wide type in a narrower one.
//!
//! The low bits of sums, differences, products, bitwise operations and shifts to the left depend on the low bits of the
//! operands only. For other operators the operands must be values of the narrow type.

use crate::tuning::MOST_NARROW_DEPTH;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::hash::Map;
use halide_ir::{Expr, ExprKind, build};
use halide_solve::simplify::{Facts, Range};

/// The conversion `e` to `ty` by narrow arithmetic.
pub(super) fn conversion(e: &Expr, ty: ScalarType, facts: &Facts) -> Option<Expr> {
    match e.kind() {
        ExprKind::SaturatingCast(a) => saturating_cast(a, ty, facts),
        ExprKind::Cast(a) if ty.is_int() => cast(a, ty, facts),
        _ => None,
    }
}

/// The conversion of the wide integer `e` to the narrower `ty` by narrow arithmetic, if that takes no more conversions.
fn cast(e: &Expr, ty: ScalarType, facts: &Facts) -> Option<Expr> {
    let from = e.ty().scalar().filter(|t| t.is_int())?;
    if from.bits() <= ty.bits() || !is_operation(e) {
        return None;
    }
    // Bytes have no products, quotients and shifts of their own, so those are computed in 16 bits.
    let sixteen = [ScalarType::U16, ScalarType::I16].into_iter().filter(|t| t.bits() < from.bits() && ty.bits() <= 16);
    let own = std::iter::once(ty).filter(|t| t.bits() >= 16 || !needs_sixteen(e, 0));
    own.chain(sixteen).find_map(|narrow| low_bits(e, narrow, 1, facts)).map(|e| build::cast_data(ty, e))
}

/// The clamping conversion to `ty` of a wide integer that is a value of a 16-bit type.
fn saturating_cast(e: &Expr, ty: ScalarType, facts: &Facts) -> Option<Expr> {
    e.ty().scalar().filter(|t| t.is_int() && t.bits() > 16)?;
    if ty.bits() > 16 || !is_operation(e) {
        return None;
    }
    let fitting = [ScalarType::U16, ScalarType::I16].into_iter().filter(|t| fits(e, *t, facts));
    fitting.into_iter().find_map(|t| low_bits(e, t, 0, facts)).map(|e| build::saturating_cast(ty, e))
}

/// A comparison of wide integers that are values of a 16-bit type.
pub(super) fn comparison(op: BinOp, a: &Expr, b: &Expr, facts: &Facts) -> Option<Expr> {
    a.ty().scalar().filter(|t| t.is_int() && t.bits() > 16)?;
    [ScalarType::U16, ScalarType::I16]
        .into_iter()
        .filter(|ty| fits(a, *ty, facts) && fits(b, *ty, facts))
        .find_map(|ty| Some(build::binary(op, low_bits(a, ty, 0, facts)?, low_bits(b, ty, 0, facts)?)))
}

/// Returns true if every lane of `e` is a value of `ty`.
fn fits(e: &Expr, ty: ScalarType, facts: &Facts) -> bool {
    facts.range_of(e).within(Range::of_type(ty))
}

fn is_operation(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Select(..))
}

/// Returns true if `e` multiplies, divides or shifts, or is too deep to be searched.
fn needs_sixteen(e: &Expr, depth: u32) -> bool {
    match e.kind() {
        _ if depth > MOST_NARROW_DEPTH => true,
        ExprKind::Binary(BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Shl | BinOp::Shr, ..) => true,
        ExprKind::Binary(_, a, b) | ExprKind::Select(_, a, b) => {
            needs_sixteen(a, depth + 1) || needs_sixteen(b, depth + 1)
        }
        ExprKind::Unary(_, a) => needs_sixteen(a, depth + 1),
        _ => false,
    }
}

/// An expression of type `ty` whose value is the low bits of `e`, with at most `casts` conversions from wide types.
fn low_bits(e: &Expr, ty: ScalarType, casts: u32, facts: &Facts) -> Option<Expr> {
    let mut narrow = Narrow { ty, casts, facts, done: Map::default() };
    narrow.low(e, 0)
}

struct Narrow<'a> {
    ty: ScalarType,
    /// The number of further conversions from a wide type that may be made.
    casts: u32,
    facts: &'a Facts,
    done: Map<Expr, Option<Expr>>,
}

impl Narrow<'_> {
    fn low(&mut self, e: &Expr, depth: u32) -> Option<Expr> {
        if let Some(known) = self.done.get(e) {
            return known.clone();
        }
        let made = if depth > MOST_NARROW_DEPTH { None } else { self.node(e, depth + 1) };
        self.done.insert(e.clone(), made.clone());
        made
    }

    fn node(&mut self, e: &Expr, depth: u32) -> Option<Expr> {
        let from = e.ty().scalar().filter(|t| t.is_int())?;
        match e.kind() {
            _ if build::as_const(e).is_some() => Some(build::cast_data(self.ty, e.clone())),
            ExprKind::Cast(a) if a.ty().scalar().is_some_and(|t| t.is_int() || t == ScalarType::Bool) => {
                let inner = a.ty().scalar()?;
                let free = inner.bits() <= self.ty.bits();
                (free || self.spend()).then(|| build::cast_data(self.ty, a.clone()))
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, depth),
            ExprKind::Unary(op @ (UnOp::Neg | UnOp::Not), a) => Some(build::unary(*op, self.low(a, depth)?)),
            ExprKind::Select(c, a, b) => Some(build::select(c.clone(), self.low(a, depth)?, self.low(b, depth)?)),
            _ if from.bits() > self.ty.bits() => self.spend().then(|| build::cast_data(self.ty, e.clone())),
            _ => None,
        }
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, depth: u32) -> Option<Expr> {
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => {
                Some(build::binary(op, self.low(a, depth)?, self.low(b, depth)?))
            }
            BinOp::Shl | BinOp::Shr => {
                let by = build::as_const(b)?.as_i128();
                if !(0..i128::from(self.ty.bits())).contains(&by) || (op == BinOp::Shr && !self.fits(a)) {
                    return None;
                }
                let amount = build::cast_data(ScalarType::signed(self.ty.bits()), b.clone());
                Some(build::binary(op, self.low(a, depth)?, amount))
            }
            BinOp::Min | BinOp::Max if self.fits(a) && self.fits(b) => {
                Some(build::binary(op, self.low(a, depth)?, self.low(b, depth)?))
            }
            BinOp::Div | BinOp::Mod if self.fits(a) && self.fits(b) && build::as_const(b).is_some() => {
                // The least value divided by -1 would leave the type.
                if build::as_const(b)?.as_i128() < 0 {
                    return None;
                }
                Some(build::binary(op, self.low(a, depth)?, self.low(b, depth)?))
            }
            _ => None,
        }
    }

    fn fits(&self, e: &Expr) -> bool {
        fits(e, self.ty, self.facts)
    }

    fn spend(&mut self) -> bool {
        let some = self.casts > 0;
        self.casts = self.casts.saturating_sub(1);
        some
    }
}

//! Lanes of up to 16 bits that 32-bit lanes were widened from.

use super::super::kernel::Emit;
use crate::shared::range::int_range;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_ir::visit::for_each_node;
use halide_ir::{Expr, ExprKind, Intrinsic, Sym, build};

/// Lanes of up to 16 bits.
#[derive(Clone)]
pub(in super::super) enum Small {
    /// The same in all lanes; it fits into i16.
    Constant(i64),
    /// Lanes of type I8, U8 or I16.
    Lanes(Expr),
}

/// A term of a sum that is a product of narrow lanes.
pub(super) struct Product {
    pub(super) term: Expr,
    pub(super) sides: [Small; 2],
}

impl Emit<'_> {
    /// Remembers what a name stands for, if a sum may want to know.
    pub(in super::super) fn note_small(&mut self, symbol: Sym, value: &Expr) {
        let kind = matches!(
            value.kind(),
            ExprKind::Cast(_)
                | ExprKind::Binary(BinOp::Mul, ..)
                | ExprKind::Intrinsic(Intrinsic::WideningMul, _)
                | ExprKind::Broadcast(_)
                | ExprKind::Shuffle(..)
        );
        let loaded = |e: &Expr| matches!(e.kind(), ExprKind::Load { mask: None, .. }) && is_small(e);
        if kind && is_word(value) || loaded(value) {
            let mut reads = Vec::new();
            for_each_node(value, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    reads.push(*buf);
                }
            });
            self.small_names.insert(symbol, (value.clone(), reads));
        }
    }

    /// The operands of an expression of 32-bit lanes that is an exact product.
    pub(super) fn product(&self, e: &Expr) -> Option<[Small; 2]> {
        match e.kind() {
            ExprKind::Binary(BinOp::Mul, a, b) => Some([self.small(a)?, self.small(b)?]),
            ExprKind::Intrinsic(Intrinsic::WideningMul, args) => {
                let [a, b] = &args[..] else { return None };
                Some([self.fitting(a)?, self.fitting(b)?])
            }
            // Bytes, whose product has room in 16 bits.
            ExprKind::Cast(inner) => match inner.kind() {
                ExprKind::Intrinsic(Intrinsic::WideningMul, args) if args.iter().all(is_byte) => {
                    let [a, b] = &args[..] else { return None };
                    Some([self.fitting(a)?, self.fitting(b)?])
                }
                _ => None,
            },
            ExprKind::Shuffle(vectors, picks) => {
                let [one] = &vectors[..] else { return None };
                let sides = match one.kind() {
                    ExprKind::Sym(s) => self.product(&self.small_names.get(s)?.0)?,
                    _ => self.product(one)?,
                };
                Some(sides.map(|side| match side {
                    Small::Lanes(e) => Small::Lanes(build::shuffle(vec![e], picks.to_vec())),
                    constant => constant,
                }))
            }
            _ => None,
        }
    }
    /// Returns the narrow lanes that an expression of 32-bit lanes was widened from.
    fn small(&self, e: &Expr) -> Option<Small> {
        match e.kind() {
            ExprKind::Const(v) => {
                let v = i64::try_from(v.as_i128()).ok()?;
                i16::try_from(v).is_ok().then_some(Small::Constant(v))
            }
            ExprKind::Broadcast(one) => Some(match self.small(one)? {
                Small::Lanes(one) => Small::Lanes(build::broadcast(one, e.lanes())),
                constant => constant,
            }),
            ExprKind::Cast(inner) => self.fitting(inner),
            ExprKind::Sym(s) => self.small(&self.small_names.get(s)?.0),
            ExprKind::Shuffle(vectors, picks) => {
                let [one] = &vectors[..] else { return None };
                Some(match self.small(one)? {
                    Small::Lanes(one) => Small::Lanes(build::shuffle(vec![one], picks.to_vec())),
                    constant => constant,
                })
            }
            _ => None,
        }
    }
    /// Integers that 16 bits hold, as the smallest type that they were made of.
    fn fitting(&self, e: &Expr) -> Option<Small> {
        let ty = e.ty().scalar().filter(|t| t.is_int() && *t != Bool && t.bits() <= 16)?;
        match e.kind() {
            ExprKind::Broadcast(one) if build::as_const(one).is_some() => return self.small(e),
            ExprKind::Cast(inner) if inner.ty().scalar().is_some_and(|from| from != ty && holds(ty, from)) => {
                return self.fitting(inner);
            }
            ExprKind::Broadcast(one) => {
                if let ExprKind::Cast(inner) = one.kind()
                    && inner.ty().scalar().is_some_and(|from| from != ty && holds(ty, from))
                {
                    return self.fitting(&build::broadcast(inner.clone(), e.lanes()));
                }
            }
            _ => {}
        }
        match ty {
            I8 | U8 | I16 => Some(Small::Lanes(e.clone())),
            _ => (int_range(e).high <= i128::from(i16::MAX)).then(|| Small::Lanes(build::cast_data(I16, e.clone()))),
        }
    }
}

/// Returns true if an expression is of integers of 32 bits.
pub(super) fn is_word(e: &Expr) -> bool {
    matches!(e.ty().scalar(), Some(I32 | U32))
}
/// Returns true if an expression is of integers of 8 or 16 bits.
fn is_small(e: &Expr) -> bool {
    matches!(e.ty().scalar(), Some(I8 | U8 | I16 | U16))
}
fn is_byte(e: &Expr) -> bool {
    matches!(e.ty().scalar(), Some(I8 | U8))
}
fn holds(to: ScalarType, from: ScalarType) -> bool {
    from.is_int() && from != Bool && from.int_min() >= to.int_min() && from.int_max() <= to.int_max()
}

//! An index as a sum of terms, so that constants become displacements and lanes that follow each other are seen.

use crate::tuning::INDEX_TERMS;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::hash::Map;
use halide_ir::{Expr, ExprKind, Sym, build};

/// An index of one or more lanes: lane `i` is
/// `constant + i * step + sum(terms) + i * sum(steps) + sum(lane i of vectors)`, each entry times its factor.
#[derive(Default, Debug)]
pub(crate) struct Linear {
    pub(crate) constant: i64,
    pub(crate) step: i64,
    /// Scalars.
    pub(crate) terms: Vec<(Expr, i64)>,
    /// Scalars: distances of neighbouring lanes.
    pub(crate) steps: Vec<(Expr, i64)>,
    /// Vectors that are nothing simpler.
    pub(crate) vectors: Vec<(Expr, i64)>,
}

/// Let-bound sums whose loop-invariant terms join the hoisted base address.
pub(crate) type Sums = Map<Sym, Expr>;

impl Linear {
    /// `index` as a sum.
    pub(crate) fn of_index(index: &Expr, sums: &Sums) -> Linear {
        let mut sum = Linear::default();
        sum.add(index, 1, sums);
        sum
    }
    /// Returns true if every lane is a constant distance from the one before.
    pub(crate) fn is_affine(&self) -> bool {
        self.steps.is_empty() && self.vectors.is_empty()
    }
    /// Adds `e * factor`. Products that leave i64 cannot occur in a right program (indices are checked), so they wrap.
    fn add(&mut self, e: &Expr, factor: i64, sums: &Sums) {
        match e.kind() {
            ExprKind::Int(v) => self.constant = self.constant.wrapping_add(v.wrapping_mul(factor)),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.add(a, factor, sums),
            ExprKind::Binary(BinOp::Add, a, b) => {
                self.add(a, factor, sums);
                self.add(b, factor, sums);
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                self.add(a, factor, sums);
                self.add(b, factor.wrapping_neg(), sums);
            }
            ExprKind::Unary(UnOp::Neg, a) => self.add(a, factor.wrapping_neg(), sums),
            ExprKind::Binary(BinOp::Mul, a, b) if build::as_int(b).is_some() => {
                self.add(a, factor.wrapping_mul(build::as_int(b).unwrap_or(0)), sums);
            }
            ExprKind::Binary(BinOp::Mul, a, b) if build::as_int(a).is_some() => {
                self.add(b, factor.wrapping_mul(build::as_int(a).unwrap_or(0)), sums);
            }
            ExprKind::Ramp { base, stride } => {
                self.add(base, factor, sums);
                match build::as_int(stride) {
                    Some(s) => self.step = self.step.wrapping_add(s.wrapping_mul(factor)),
                    None => put(&mut self.steps, stride, factor),
                }
            }
            ExprKind::Sym(s) if sums.contains_key(s) && self.terms.len() < INDEX_TERMS => {
                self.add(&sums[s], factor, sums)
            }
            _ if e.lanes() > 1 => put(&mut self.vectors, e, factor),
            _ => put(&mut self.terms, e, factor),
        }
    }
}

fn put(list: &mut Vec<(Expr, i64)>, e: &Expr, factor: i64) {
    match list.iter_mut().find(|(known, _)| known == e) {
        Some((_, f)) => *f = f.wrapping_add(factor),
        None => list.push((e.clone(), factor)),
    }
}

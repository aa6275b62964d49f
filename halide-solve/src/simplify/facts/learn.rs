//! Consequences of what is learned.

use super::{Facts, Undo};
use crate::simplify::abstract_value::Known;
use crate::simplify::linear::{Linear, Term, Terms};
use crate::simplify::range::{Congruence, Range, gcd};
use crate::tuning::CONSEQUENCES;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::build;
use halide_ir::{Expr, ExprKind};

impl Facts {
    /// `sum` (with its constant) lies in `range`, and what follows from that holds too.
    pub(super) fn learn_claim(&mut self, sum: &Linear, range: Range) {
        self.learn_sum(sum, range, CONSEQUENCES);
        self.claim(sum, range);
    }
    /// `sum` (with its constant) lies in `range`. Learns it, and up to `depth` levels of what follows from it.
    fn learn_sum(&mut self, sum: &Linear, range: Range, depth: u32) {
        let Some((terms, factor)) = primitive(&sum.terms) else { return };
        let range = divide_inward(range - Range::point(sum.constant as i128), factor);
        match &terms[..] {
            [] => {}
            [(atom, _)] => {
                let atom = atom.clone();
                self.note_atom(atom.clone(), Known { range, congruence: Congruence::ALL });
                if let (ExprKind::Binary(BinOp::Mod, n, d), Some(r)) = (atom.kind(), range.as_point())
                    && let (Some(d), Ok(r)) = (build::as_int(d), i64::try_from(r))
                    && d != 0
                {
                    self.learn_congruence(&Linear::of(n), Congruence::new(d, r));
                }
            }
            _ => {
                let old = self.sums.get(&terms).copied();
                let new = old.map_or(range, |old| range.intersect(old));
                if old.is_none() {
                    for (atom, _) in &terms {
                        self.occurs.entry(atom.clone()).or_default().push(terms.clone());
                    }
                }
                if new.as_point().is_some() {
                    self.pinned |= terms.iter().fold(0, |all, (atom, _)| all | atom.support());
                }
                self.sums.insert(terms.clone(), new);
                self.undo.push(Undo::Sum(terms.clone(), old));
            }
        }
        if depth > 0 {
            self.learn_consequences(&Linear { terms, constant: 0 }, range, depth - 1);
        }
    }
    /// From an upper bound of `max(a, b) + r` follow those of `a + r` and `b + r`; likewise from below with `min`.
    fn learn_consequences(&mut self, sum: &Linear, range: Range, depth: u32) {
        for (atom, c) in &sum.terms {
            let (op, a, b) = match atom.kind() {
                ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => (*op, a, b),
                ExprKind::Likely(a) => (BinOp::Eq, a, a),
                _ => continue,
            };
            let bounded = match op {
                BinOp::Eq => range,
                _ if (op == BinOp::Max) == (*c > 0) => Range::new(None, range.max()),
                _ => Range::new(range.min(), None),
            };
            if bounded == Range::ALL {
                continue;
            }
            let rest = sum.without(atom);
            for arm in [a, b] {
                if let Some(sum) = rest.plus_scaled(&Linear::of(arm), *c) {
                    self.learn_sum(&sum, bounded, depth);
                }
            }
            return;
        }
    }
    pub(super) fn learn_congruence(&mut self, sum: &Linear, congruence: Congruence) {
        if let [(atom, c @ (1 | -1))] = sum.terms[..].as_ref() {
            let shifted = congruence.plus(Congruence::point(sum.constant).scale(-1)).scale(*c);
            self.note_atom(atom.clone(), Known { range: Range::ALL, congruence: shifted });
        }
    }
    pub(super) fn learn_truth(&mut self, cond: &Expr, holds: bool) {
        // Comparisons and what is made of them are never settled.
        if !matches!(cond.kind(), ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Likely(_)) {
            self.pinned |= cond.support();
        }
        self.note_truth(cond.clone(), holds);
        match cond.kind() {
            // Either form may be asked for.
            ExprKind::Binary(BinOp::Ne, a, b) => self.note_truth(build::eq(a.clone(), b.clone()), !holds),
            ExprKind::Binary(BinOp::Eq, a, b) => self.note_truth(build::ne(a.clone(), b.clone()), !holds),
            _ => {}
        }
        match cond.kind() {
            ExprKind::Unary(UnOp::Not, a) => self.learn_truth(a, !holds),
            ExprKind::Likely(a) => self.learn_truth(a, holds),
            ExprKind::Binary(BinOp::BitAnd, a, b) if holds => {
                self.learn_truth(a, true);
                self.learn_truth(b, true);
            }
            ExprKind::Binary(BinOp::BitOr, a, b) if !holds => {
                self.learn_truth(a, false);
                self.learn_truth(b, false);
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() && a.ty().scalar().is_none_or(|t| t.is_int()) => {
                self.learn_comparison(*op, a, b, holds)
            }
            _ => {}
        }
    }
    fn note_truth(&mut self, cond: Expr, holds: bool) {
        let old = self.truths.insert(cond.clone(), holds);
        self.undo.push(Undo::Truth(cond, old));
    }
    fn learn_comparison(&mut self, op: BinOp, a: &Expr, b: &Expr, holds: bool) {
        if a.lanes() > 1 {
            return;
        }
        let difference = if a.ty().is_index() {
            Linear::of(a).minus(&Linear::of(b))
        } else {
            // Data is learned of where one side is a constant.
            let value = build::as_const(b).and_then(|v| i64::try_from(v.as_i128()).ok());
            value.and_then(|v| Linear::atom(a.clone()).offset(v.checked_neg()?))
        };
        let Some(difference) = difference else { return };
        let known = self.sum_range(&difference);
        let range = match (op, holds) {
            (BinOp::Lt, true) | (BinOp::Ge, false) => Range::new(None, Some(-1)),
            (BinOp::Le, true) | (BinOp::Gt, false) => Range::new(None, Some(0)),
            (BinOp::Gt, true) | (BinOp::Le, false) => Range::new(Some(1), None),
            (BinOp::Ge, true) | (BinOp::Lt, false) => Range::new(Some(0), None),
            (BinOp::Eq, true) | (BinOp::Ne, false) => Range::point(0),
            _ if known.at_least(0) => Range::new(Some(1), None),
            _ if known.at_most(0) => Range::new(None, Some(-1)),
            _ => return,
        };
        self.learn_claim(&difference, range);
    }
}

/// The terms divided by their content, the first positive, and what to multiply them by to get `terms` back.
pub(super) fn primitive(terms: &[Term]) -> Option<(Terms, i64)> {
    let content = terms.iter().fold(0, |g, (_, c)| gcd(g, *c));
    let factor = match terms.first() {
        Some((_, c)) if *c < 0 => content.checked_neg()?,
        Some(_) => content,
        None => return Some((Terms::new(), 1)),
    };
    let unit: Option<Terms> = terms.iter().map(|(a, c)| Some((a.clone(), c.checked_div(factor)?))).collect();
    Some((unit?, factor))
}

/// The integers whose product with `factor` lies in `range`.
fn divide_inward(range: Range, factor: i64) -> Range {
    let range = if factor < 0 { -range } else { range };
    let factor = factor.unsigned_abs().max(1) as i128;
    let up = |v: i128| -(-v).div_euclid(factor);
    Range::new(range.min().map(up), range.max().map(|v| v.div_euclid(factor)))
}

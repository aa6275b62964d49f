//! Coordinates as sums of multiples of loop variables.

use super::builder::Builder;
use super::domain::Domain;
use crate::ids::ExprId;
use crate::ops::{BinOp, UnOp};
use crate::pipeline::Kind;

/// The sum of multiples of variables, of a rest that uses none or uses them otherwise, and of a constant.
#[derive(Clone, Debug, Default)]
pub(super) struct Linear {
    /// Variables by their position in the domain, each once, with factors that are not zero.
    pub(super) terms: Vec<(usize, i64)>,
    /// Everything else, with factors.
    pub(super) rest: Vec<(ExprId, i64)>,
    pub(super) constant: i64,
}

impl Linear {
    /// Takes a coordinate apart.
    pub(super) fn new(b: &Builder, domain: &Domain, root: ExprId) -> Linear {
        let mut sum = Linear::default();
        let mut todo = vec![(root, 1i64)];
        while let Some((e, factor)) = todo.pop() {
            if let Some(value) = b.int_value(e) {
                sum.constant = sum.constant.saturating_add(value.saturating_mul(factor));
                continue;
            }
            if let Some(var) = domain.position(e) {
                sum.add(var, factor);
                continue;
            }
            match b.data.exprs[e].kind {
                Kind::Binary(BinOp::Add, p, q) => todo.extend([(p, factor), (q, factor)]),
                Kind::Binary(BinOp::Sub, p, q) => todo.extend([(p, factor), (q, -factor)]),
                Kind::Unary(UnOp::Neg, a) => todo.push((a, -factor)),
                Kind::Likely(a) | Kind::LikelyIfInnermost(a) => todo.push((a, factor)),
                Kind::Binary(BinOp::Mul, p, q) => {
                    let scaled = |p, q| b.int_value(q).and_then(|c| Some((p, factor.checked_mul(c)?)));
                    match scaled(p, q).or_else(|| scaled(q, p)) {
                        Some((a, factor)) if i32::try_from(factor).is_ok() => todo.push((a, factor)),
                        _ => sum.rest.push((e, factor)),
                    }
                }
                _ => sum.rest.push((e, factor)),
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        sum
    }

    fn add(&mut self, var: usize, factor: i64) {
        match self.terms.iter_mut().find(|(v, _)| *v == var) {
            Some((_, known)) => *known = known.saturating_add(factor),
            None => self.terms.push((var, factor)),
        }
    }

    /// The sum without its multiple of `var`, as an expression of the given variables.
    pub(super) fn without(&self, b: &mut Builder, var: usize, vars: &[ExprId]) -> ExprId {
        let mut sum = b.int(self.constant);
        for &(v, factor) in self.terms.iter().filter(|(v, _)| *v != var) {
            let term = b.scale(vars[v], factor);
            sum = b.add(sum, term);
        }
        for &(e, factor) in &self.rest {
            let term = b.scale(e, factor);
            sum = b.add(sum, term);
        }
        sum
    }
}

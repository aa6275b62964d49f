//! Conditions that hold where an access stands: those of the branches around it.
//!
//! Storage that is there only under a condition has as many elements as it needs, or none. An access under the same
//! condition is compared with the former.

use crate::access::{Definition, Definitions};
use halide_core::ops::{BinOp, UnOp};
use halide_ir::visit::{any_node, deep};
use halide_ir::{Expr, ExprKind, build};

/// The conditions of the branches that are open, each with the value that it has there.
#[derive(Default)]
pub(super) struct Certain {
    known: Vec<(Expr, bool)>,
}

impl Certain {
    /// The number of conditions.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
    /// Forgets all but the first `len` conditions.
    pub(super) fn forget(&mut self, len: usize) {
        self.known.truncate(len);
    }
    /// Takes for granted that `cond` is `value`.
    pub(super) fn assume(&mut self, cond: &Expr, value: bool, defs: &Definitions) {
        let (cond, value) = leaf(cond, value, defs);
        match cond.kind() {
            ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr, a, b) if is_conjunction(&cond, value) => {
                deep(|| self.assume(a, value, defs));
                deep(|| self.assume(b, value, defs));
            }
            _ => self.known.push((cond, value)),
        }
    }
    /// Returns true if `cond` is certain to be `value`. `proves` decides comparisons that no branch made.
    pub(super) fn holds(
        &self,
        cond: &Expr,
        value: bool,
        defs: &Definitions,
        proves: &mut dyn FnMut(&Expr, bool) -> bool,
    ) -> bool {
        let (cond, value) = leaf(cond, value, defs);
        match cond.kind() {
            ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr, a, b) if cond.ty().is_bool() => {
                let mut part = |e: &Expr| deep(|| self.holds(e, value, defs, proves));
                match is_conjunction(&cond, value) {
                    true => part(a) && part(b),
                    false => part(a) || part(b) || self.known.contains(&(cond.clone(), value)),
                }
            }
            _ => {
                build::as_bool(&cond) == Some(value)
                    || self.known.contains(&(cond.clone(), value))
                    || proves(&cond, value)
            }
        }
    }
}

/// Returns true if `cond` is `value` only if both of its operands are.
fn is_conjunction(cond: &Expr, value: bool) -> bool {
    cond.ty().is_bool() && matches!(cond.kind(), ExprKind::Binary(op, ..) if (*op == BinOp::BitAnd) == value)
}

/// `cond` without names and negations, in one spelling of its comparison.
fn leaf(cond: &Expr, value: bool, defs: &Definitions) -> (Expr, bool) {
    match cond.kind() {
        ExprKind::Likely(a) => leaf(a, value, defs),
        ExprKind::Unary(UnOp::Not, a) => leaf(a, !value, defs),
        ExprKind::Sym(s) => match defs.get(*s) {
            // What is in memory may be another value under another name.
            Some(Definition::Let(named)) if !reads(named) => leaf(named, value, defs),
            _ => (cond.clone(), value),
        },
        ExprKind::Binary(BinOp::Ne, a, b) => (build::eq(a.clone(), b.clone()), !value),
        ExprKind::Binary(BinOp::Gt, a, b) => (build::lt(b.clone(), a.clone()), value),
        ExprKind::Binary(BinOp::Ge, a, b) => (build::le(b.clone(), a.clone()), value),
        _ => (cond.clone(), value),
    }
}

fn reads(e: &Expr) -> bool {
    any_node(e, |n| matches!(n.kind(), ExprKind::Load { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::{Sym, Type};

    fn flag(n: u32) -> Expr {
        build::typed_sym(Sym::Temp(n), Type::BOOL)
    }

    #[test]
    fn branches_make_conditions_certain() {
        let (a, b, c) = (flag(0), flag(1), flag(2));
        let mut defs = Definitions::default();
        defs.bind(Sym::Temp(2), Definition::Let(build::not(a.clone())));
        let mut certain = Certain::default();
        certain.assume(&build::and(a.clone(), build::not(b.clone())), true, &defs);
        let holds = |certain: &Certain, e: &Expr, value| certain.holds(e, value, &defs, &mut |_, _| false);
        assert!(holds(&certain, &a, true) && holds(&certain, &b, false) && holds(&certain, &c, false));
        assert!(holds(&certain, &build::or(b.clone(), a.clone()), true));
        assert!(!holds(&certain, &build::and(b.clone(), a.clone()), true));
        certain.forget(0);
        certain.assume(&build::or(a.clone(), b.clone()), true, &defs);
        assert!(!holds(&certain, &a, true) && holds(&certain, &build::or(a, b), true));
    }

    #[test]
    fn comparisons_of_either_spelling_are_one() {
        let value = |n: u32| build::typed_sym(Sym::Temp(n), Type::INDEX);
        let (a, b, defs) = (value(0), value(1), Definitions::default());
        let mut certain = Certain::default();
        certain.assume(&build::gt(a.clone(), b.clone()), true, &defs);
        assert!(certain.holds(&build::lt(b.clone(), a.clone()), true, &defs, &mut |_, _| false));
        assert!(!certain.holds(&build::le(b, a), true, &defs, &mut |_, _| false));
    }
}

//! Remainders of sums whose terms depend on each other.
//!
//! Term by term, nothing is known of `x - x % 2`, what a minimum becomes that is aligned to 2. But `x % 2` is `x`
//! modulo 2, so that the whole is `x - x`, 0 modulo 2. And where a sum has a choice among its terms, `y + select(c, 3 -
//! y % 2, -y % 2)`, each arm is looked at together with what stands beside it.

use super::facts::Facts;
use super::linear::Linear;
use super::range::{Congruence, gcd};
use crate::tuning::CONGRUENCE_CHOICES;
use halide_core::ops::BinOp;
use halide_ir::build::as_int;
use halide_ir::{Expr, ExprKind};

impl Facts {
    /// Returns the congruence of a sum.
    pub(super) fn sum_congruence(&self, sum: &Linear) -> Congruence {
        self.joined_congruence(sum, CONGRUENCE_CHOICES)
    }

    fn joined_congruence(&self, sum: &Linear, choices: u32) -> Congruence {
        let apart = self.congruence_by_terms(sum);
        let together = without_remainders(sum).map(|(sum, modulus)| modulo(self.congruence_by_terms(&sum), modulus));
        let known = together.map_or(apart, |together| apart.intersect(together));
        if known.modulus() != 1 || choices == 0 {
            return known;
        }
        self.congruence_by_choice(sum, choices - 1).map_or(known, |chosen| known.intersect(chosen))
    }
    fn congruence_by_terms(&self, sum: &Linear) -> Congruence {
        let parts = sum.terms.iter().map(|(atom, c)| self.known(atom).congruence.scale(*c));
        parts.fold(Congruence::point(sum.constant), Congruence::plus)
    }
    /// Returns the congruence that holds whichever arm of the first choice among the terms is taken.
    fn congruence_by_choice(&self, sum: &Linear, choices: u32) -> Option<Congruence> {
        let (choice, c) = sum.terms.iter().find(|(atom, _)| matches!(atom.kind(), ExprKind::Select(..)))?;
        let ExprKind::Select(_, a, b) = choice.kind() else { return None };
        let rest = sum.without(choice);
        let with = |arm: &Expr| Some(self.joined_congruence(&rest.plus_scaled(&Linear::of(arm), *c)?, choices));
        let first = with(a)?;
        if first.modulus() == 1 { None } else { Some(first.union(with(b)?)) }
    }
}

/// `sum` with every `x % d` as `x`, and modulo what this is the same; `None` if there is no remainder in it.
fn without_remainders(sum: &Linear) -> Option<(Linear, i64)> {
    if !sum.terms.iter().any(|(atom, _)| remainder(atom).is_some()) {
        return None;
    }
    let mut modulus = 0;
    let mut all = Linear::constant(sum.constant);
    for (atom, c) in &sum.terms {
        let part = match remainder(atom) {
            Some((x, d)) => {
                modulus = gcd(modulus, c.checked_mul(d)?);
                Linear::of(x)
            }
            None => Linear::atom(atom.clone()),
        };
        all = all.plus_scaled(&part, *c)?;
    }
    (modulus != 0).then_some((all, modulus))
}

/// `x` and `d` of `x % d`.
fn remainder(atom: &Expr) -> Option<(&Expr, i64)> {
    let ExprKind::Binary(BinOp::Mod, x, d) = atom.kind() else { return None };
    Some((x, as_int(d).filter(|d| *d != 0)?))
}

fn modulo(known: Congruence, modulus: i64) -> Congruence {
    Congruence::new(gcd(known.modulus(), modulus), known.remainder())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::LoopId;
    use halide_ir::build::{add, eq, int, mul, offset, rem, select, sub};

    fn x() -> Expr {
        halide_ir::build::loop_var(LoopId(0))
    }
    fn y() -> Expr {
        halide_ir::build::loop_var(LoopId(1))
    }

    #[test]
    fn aligned_minima_are_multiples() {
        let facts = Facts::new();
        let down = |e: Expr, d: i64| sub(e.clone(), rem(e, int(d)));
        assert_eq!(facts.congruence(&down(x(), 2)).modulo(2), Some(0));
        assert_eq!(facts.congruence(&offset(down(offset(x(), 7), 12), 5)).modulo(12), Some(5));
        assert_eq!(facts.congruence(&mul(down(x(), 4), int(3))).modulo(12), Some(0));
        assert_eq!(facts.congruence(&sub(x(), rem(y(), int(2)))).modulus(), 1);
    }

    #[test]
    fn arms_are_seen_with_what_is_beside_them() {
        let facts = Facts::new();
        let odd = |e: Expr| rem(offset(e, 1), int(2));
        let arms = select(eq(y(), int(0)), sub(int(-3), odd(x())), sub(int(1), odd(x())));
        assert_eq!(facts.congruence(&add(x(), arms)).modulo(2), Some(0));
        let mixed = select(eq(y(), int(0)), sub(int(-2), odd(x())), sub(int(1), odd(x())));
        assert_eq!(facts.congruence(&add(x(), mixed)).modulus(), 1);
    }
}

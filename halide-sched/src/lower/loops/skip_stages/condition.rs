//! Conditions as unions of conjunctions of literals, in which it is cheap to see what always holds.

use crate::tuning::MOST_CONDITION_TERMS;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::{Expr, ExprKind, build};

/// A union of conjunctions. A conjunction lists literals: a condition, and whether it holds or does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Condition(Vec<Vec<Literal>>);

type Literal = (Expr, bool);

impl Condition {
    /// The condition that always holds.
    pub(super) fn always() -> Condition {
        Condition(vec![Vec::new()])
    }
    /// The condition that never holds.
    pub(super) fn never() -> Condition {
        Condition(Vec::new())
    }
    /// Returns true if the condition is known to hold always.
    pub(super) fn is_always(&self) -> bool {
        self.0.iter().any(Vec::is_empty)
    }
    /// Returns true if the condition never holds.
    pub(super) fn is_never(&self) -> bool {
        self.0.is_empty()
    }
    /// A condition that holds wherever `cond` is `value`. `atom` gives the form of a part in which it takes part; parts
    /// without one may be anything.
    pub(super) fn of(cond: &Expr, value: bool, atom: &dyn Fn(&Expr) -> Option<Expr>) -> Condition {
        if let Some(known) = build::as_bool(cond) {
            return if known == value { Condition::always() } else { Condition::never() };
        }
        match cond.kind() {
            ExprKind::Likely(a) => Condition::of(a, value, atom),
            ExprKind::Unary(UnOp::Not, a) => Condition::of(a, !value, atom),
            ExprKind::Binary(op @ (BinOp::BitAnd | BinOp::BitOr), a, b) if cond.ty().is_bool() => {
                let (a, b) = (Condition::of(a, value, atom), Condition::of(b, value, atom));
                if (*op == BinOp::BitAnd) == value { a.and(&b) } else { a.or(&b) }
            }
            _ => atom(cond).map_or_else(Condition::always, |form| {
                let (form, flips) = canonical(&form);
                Condition(vec![vec![(form, value != flips)]])
            }),
        }
    }
    /// A condition that holds where either does.
    pub(super) fn or(mut self, other: &Condition) -> Condition {
        other.0.iter().for_each(|term| add(&mut self.0, term.clone()));
        if self.0.len() > MOST_CONDITION_TERMS || is_tautology(&self.0) {
            return Condition::always();
        }
        self
    }
    /// A condition that holds where both do.
    pub(super) fn and(&self, other: &Condition) -> Condition {
        let mut terms = Vec::new();
        for (a, b) in self.0.iter().flat_map(|a| other.0.iter().map(move |b| (a, b))) {
            if !b.iter().any(|(atom, value)| a.contains(&(atom.clone(), !value))) {
                let new = b.iter().filter(|l| !a.contains(l));
                add(&mut terms, a.iter().chain(new).cloned().collect());
            }
        }
        // Each of the two is weaker than both.
        if terms.len() > MOST_CONDITION_TERMS { self.clone() } else { Condition(terms) }
    }
    /// The condition as an expression.
    pub(super) fn expr(&self) -> Expr {
        let literal = |(atom, value): &Literal| if *value { atom.clone() } else { build::not(atom.clone()) };
        let term = |t: &Vec<Literal>| t.iter().map(literal).reduce(build::and).unwrap_or(build::boolean(true));
        self.0.iter().map(term).reduce(build::or).unwrap_or(build::boolean(false))
    }
}

/// One spelling of comparisons that say the same; the second result is true if it says the opposite.
fn canonical(e: &Expr) -> (Expr, bool) {
    let ExprKind::Binary(op, a, b) = e.kind() else { return (e.clone(), false) };
    let (a, b) = (a.clone(), b.clone());
    // Not a number is neither less than anything nor not less.
    let ordered = a.ty().scalar().is_none_or(|ty| !ty.is_float());
    match op {
        BinOp::Ne => (build::eq(a, b), true),
        BinOp::Gt => (build::lt(b, a), false),
        BinOp::Ge if ordered => (build::lt(a, b), true),
        BinOp::Le if ordered => (build::lt(b, a), true),
        BinOp::Ge => (build::le(b, a), false),
        _ => (e.clone(), false),
    }
}

/// Adds a conjunction to a union, without those that another one implies.
fn add(terms: &mut Vec<Vec<Literal>>, mut new: Vec<Literal>) {
    let within = |a: &Vec<Literal>, b: &Vec<Literal>| a.iter().all(|l| b.contains(l));
    loop {
        if terms.iter().any(|old| within(old, &new)) {
            return;
        }
        terms.retain(|old| !within(&new, old));
        // Two that differ in the value of one literal are one without it.
        let other = terms.iter().enumerate().find_map(|(i, old)| {
            let differs = new.iter().position(|(atom, value)| old.contains(&(atom.clone(), !value)))?;
            let rest = |l: &&Literal| l.0 != new[differs].0;
            let same = old.len() == new.len() && new.iter().filter(rest).all(|l| old.contains(l));
            same.then_some((i, differs))
        });
        let Some((i, differs)) = other else { break };
        terms.remove(i);
        new.remove(differs);
    }
    terms.push(new);
}

/// Returns true if a union of conjunctions holds whatever the values of their atoms are.
fn is_tautology(terms: &[Vec<Literal>]) -> bool {
    if terms.iter().any(Vec::is_empty) {
        return true;
    }
    let Some((atom, _)) = terms.first().and_then(|t| t.first()) else { return false };
    [true, false].into_iter().all(|value| {
        let left = terms.iter().filter(|t| !t.contains(&(atom.clone(), !value)));
        let rest = |t: &Vec<Literal>| t.iter().filter(|l| l.0 != *atom).cloned().collect();
        is_tautology(&left.map(rest).collect::<Vec<_>>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::types::ScalarType::F32;
    use halide_ir::{Sym, Type};

    fn atom(e: &Expr) -> Option<Expr> {
        Some(e.clone())
    }

    fn flag(n: u32) -> Expr {
        build::typed_sym(Sym::Temp(n), Type::BOOL)
    }

    fn of(e: &Expr) -> Condition {
        Condition::of(e, true, &atom)
    }

    #[test]
    fn a_condition_or_its_opposite_is_always() {
        let (a, b, c) = (flag(0), flag(1), flag(2));
        let not = |e: &Expr| build::not(e.clone());
        assert!(of(&a).or(&of(&not(&a))).is_always());
        let both = build::and(a.clone(), b.clone());
        assert!(of(&both).or(&of(&not(&both))).is_always());
        assert!(!of(&both).or(&of(&not(&a))).is_always());
        let three = [both, build::and(not(&a), c.clone()), build::and(not(&b), a.clone())];
        let any = three.iter().map(of).fold(Condition::never(), |all, c| all.or(&c));
        assert!(!any.is_always());
        assert!(any.or(&of(&not(&c))).is_always());
    }

    #[test]
    fn what_implies_another_adds_nothing() {
        let (a, b) = (flag(0), flag(1));
        let both = of(&build::and(a.clone(), b.clone()));
        assert_eq!(both.clone().or(&of(&a)), of(&a));
        assert_eq!(of(&a).or(&both), of(&a));
        assert_eq!(of(&a).and(&both), both);
        assert!(of(&a).and(&of(&build::not(a.clone()))).is_never());
        assert!(Condition::never().and(&of(&a)).is_never());
        assert_eq!(Condition::always().and(&of(&b)), of(&b));
    }

    #[test]
    fn comparisons_have_one_spelling_but_for_floats() {
        let value = |n: u32, ty| build::typed_sym(Sym::Temp(n), ty);
        let (a, b) = (value(0, Type::INDEX), value(1, Type::INDEX));
        assert!(of(&build::lt(a.clone(), b.clone())).or(&of(&build::ge(a.clone(), b.clone()))).is_always());
        assert!(of(&build::gt(a.clone(), b.clone())).or(&of(&build::le(a.clone(), b.clone()))).is_always());
        assert!(of(&build::eq(a.clone(), b.clone())).or(&of(&build::ne(a, b))).is_always());
        let (a, b) = (value(2, Type::data(F32)), value(3, Type::data(F32)));
        assert!(!of(&build::lt(a.clone(), b.clone())).or(&of(&build::ge(a.clone(), b.clone()))).is_always());
        assert!(of(&build::eq(a.clone(), b.clone())).or(&of(&build::ne(a, b))).is_always());
    }

    #[test]
    fn what_is_not_known_is_anything() {
        let none = |_: &Expr| None;
        assert!(Condition::of(&flag(0), true, &none).is_always());
        assert!(Condition::of(&flag(0), false, &none).is_always());
        let known = |e: &Expr| (*e == flag(1)).then(|| e.clone());
        let both = build::and(flag(0), flag(1));
        assert_eq!(Condition::of(&both, true, &known), of(&flag(1)));
        assert!(Condition::of(&both, false, &known).is_always());
    }
}

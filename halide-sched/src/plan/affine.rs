//! Index expressions of an algorithm as sums of multiples of variables.

use super::expressions::reachable;
use halide_core::ids::{ExprId, RDomId, VarId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::{Kind, PipelineData};
use std::collections::BTreeMap;

/// The symbols that affine forms are sums of multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// A pure variable.
    Var(VarId),
    /// A dimension of a reduction domain.
    RVar(RDomId, u8),
    /// An expression that is constant for the whole run.
    Uniform(ExprId),
}

impl Atom {
    /// The atom of a node that is a variable.
    pub(super) fn variable(kind: &Kind) -> Atom {
        match kind {
            Kind::RVar { rdom, dim } => Atom::RVar(*rdom, *dim),
            Kind::Var(v) => Atom::Var(*v),
            _ => unreachable!("the variables of a definition are variables"),
        }
    }

    fn is_uniform(self) -> bool {
        matches!(self, Atom::Uniform(_))
    }
}

/// `sum of coefficient * atom + offset`; no coefficient is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Affine {
    pub(super) terms: BTreeMap<Atom, i128>,
    pub(super) offset: i128,
}

/// The constant value of an index expression, if it has one.
pub(super) fn constant(pipeline: &PipelineData, e: ExprId) -> Option<i64> {
    let form = affine(pipeline, e)?;
    if form.terms.is_empty() { i64::try_from(form.offset).ok() } else { None }
}

/// The affine form of an index expression; `None` if it has none.
pub(super) fn affine(pipeline: &PipelineData, e: ExprId) -> Option<Affine> {
    let mut forms: BTreeMap<ExprId, Option<Affine>> = BTreeMap::new();
    for node in reachable(pipeline, &[e]) {
        let kind = &pipeline.exprs[node].kind;
        let form = node_form(node, kind, |child| forms[&child].clone());
        forms.insert(node, form);
    }
    forms.remove(&e).flatten()
}

fn node_form(e: ExprId, kind: &Kind, of: impl Fn(ExprId) -> Option<Affine>) -> Option<Affine> {
    let number = |offset| Some(Affine { terms: BTreeMap::new(), offset });
    let atom = |atom| Some(Affine { terms: BTreeMap::from([(atom, 1)]), offset: 0 });
    match kind {
        Kind::Const(c) if !c.ty().is_float() => number(c.as_i128()),
        Kind::Var(_) | Kind::RVar { .. } => atom(Atom::variable(kind)),
        Kind::Param(_) | Kind::ImageDim { .. } => atom(Atom::Uniform(e)),
        Kind::Likely(a) | Kind::LikelyIfInnermost(a) | Kind::Note { value: a, .. } => of(*a),
        Kind::Unary(UnOp::Neg, a) => of(*a)?.scaled(-1),
        Kind::Binary(BinOp::Add, a, b) => of(*a)?.plus(of(*b)?),
        Kind::Binary(BinOp::Sub, a, b) => of(*a)?.plus(of(*b)?.scaled(-1)?),
        Kind::Binary(op, a, b) => {
            let (a, b) = (of(*a)?, of(*b)?);
            let numbers = a.is_number() && b.is_number();
            match op {
                BinOp::Mul if a.is_number() => b.scaled(a.offset),
                BinOp::Mul if b.is_number() => a.scaled(b.offset),
                BinOp::Div | BinOp::Mod if numbers && b.offset == 0 => number(0),
                BinOp::Div if numbers => number(a.offset.checked_div_euclid(b.offset)?),
                BinOp::Mod if numbers => number(a.offset.checked_rem_euclid(b.offset)?),
                BinOp::Min if numbers => number(a.offset.min(b.offset)),
                BinOp::Max if numbers => number(a.offset.max(b.offset)),
                BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Min | BinOp::Max if a.is_uniform() && b.is_uniform() => {
                    atom(Atom::Uniform(e))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

impl Affine {
    pub(super) fn of(atom: Atom) -> Affine {
        Affine { terms: BTreeMap::from([(atom, 1)]), offset: 0 }
    }

    /// `self - other - less`.
    pub(super) fn minus(&self, other: &Affine, less: i128) -> Option<Affine> {
        let mut difference = self.clone().plus(other.clone().scaled(-1)?)?;
        difference.offset = difference.offset.checked_sub(less)?;
        Some(difference)
    }

    /// The form where variables have the values `known`; `None` if one of them has no affine value.
    pub(super) fn with(&self, known: &BTreeMap<Atom, Option<Affine>>) -> Option<Affine> {
        let mut sum = Affine { terms: BTreeMap::new(), offset: self.offset };
        for (atom, factor) in &self.terms {
            let value = known.get(atom).cloned().unwrap_or_else(|| Some(Affine::of(*atom)))?;
            sum = sum.plus(value.scaled(*factor)?)?;
        }
        Some(sum)
    }

    fn is_number(&self) -> bool {
        self.terms.is_empty()
    }

    fn is_uniform(&self) -> bool {
        self.terms.keys().all(|a| a.is_uniform())
    }

    fn scaled(mut self, by: i128) -> Option<Affine> {
        self.offset = self.offset.checked_mul(by)?;
        for c in self.terms.values_mut() {
            *c = c.checked_mul(by)?;
        }
        self.terms.retain(|_, c| *c != 0);
        Some(self)
    }

    pub(super) fn plus(mut self, other: Affine) -> Option<Affine> {
        self.offset = self.offset.checked_add(other.offset)?;
        for (atom, c) in other.terms {
            let sum = self.terms.entry(atom).or_insert(0);
            *sum = sum.checked_add(c)?;
        }
        self.terms.retain(|_, c| *c != 0);
        Some(self)
    }
}

//! Finds the operation by which an update combines old and new values.

use super::pattern::{self, Law, Pattern, Term};
use crate::plan::expressions::{children, expressions, reachable};
use halide_core::ids::{ExprId, FuncId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{Kind, PipelineData, StageDef};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::collections::{BTreeMap, BTreeSet};

/// The way in which an update folds the values of its iterations into an element.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    /// The operation that combines partial results; `None` if an element is only set, which leaves nothing to combine.
    pub(crate) parts: Option<Parts>,
    /// Associativity: the iterations may be folded in parts that follow each other.
    pub(crate) associative: Law,
    /// Order independence: the iterations may come in any order, in parts or not.
    pub(crate) any_order: Law,
}

/// Per element of a tuple: what puts two partial results together, and where one begins.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) merge: Vec<Term>,
    pub(crate) identity: Vec<Scalar>,
    /// The new values, where the update says each by one expression.
    pub(crate) news: Vec<Option<ExprId>>,
    /// True if the identity leaves every element as it is, not only those that a fold from it makes.
    pub(crate) neutral: bool,
}

/// Returns the fold of an update, if it is known to be one: the places of its stores do not depend on what the Func
/// holds, and each value is the same in all iterations, or combines old values of the same point with new ones by a
/// known operation.
pub(crate) fn fold(pipeline: &PipelineData, func: FuncId, stage: &StageDef) -> Option<Fold> {
    if pipeline.sites(stage) > 1 {
        return None;
    }
    let old = Old::of(pipeline, func, stage, None);
    let predicate = stage.rdom.and_then(|r| pipeline.rdoms[r].predicate);
    if stage.args.iter().copied().chain(predicate).any(|e| old.reads(e)) {
        return None;
    }
    let mut merge = vec![None; stage.values.len()];
    let mut identity = vec![None; stage.values.len()];
    let (mut news, mut neutral) = (vec![None; stage.values.len()], true);
    let mut fold = Fold { parts: None, associative: Law::Exactly, any_order: Law::Exactly };
    for group in old.groups() {
        if let [one] = group[..]
            && !old.reads(stage.values[one])
            && !has_rvar(pipeline, stage.values[one])
        {
            continue;
        }
        let (found, new) = old.pattern(&group)?;
        neutral &= found.neutral;
        group.iter().zip(new).for_each(|(&element, new)| news[element] = new);
        fold.associative = fold.associative.min(found.associative);
        fold.any_order = fold.any_order.min(found.commutative).min(found.associative);
        for ((&element, term), start) in group.iter().zip(&found.merge).zip(&found.identity) {
            merge[element] = Some(term.renumbered(&group));
            identity[element] = Some(*start);
        }
    }
    let all = merge.into_iter().collect::<Option<Vec<Term>>>().zip(identity.into_iter().collect());
    fold.parts = all.map(|(merge, identity)| Parts { merge, identity, news, neutral });
    Some(fold)
}

/// The law of the operator by which an update of single values combines the element at `before` with new values, which
/// may read the element that it stores to.
pub(crate) fn operator_along(
    pipeline: &PipelineData,
    func: FuncId,
    stage: &StageDef,
    before: &[ExprId],
) -> Option<Law> {
    let &[value] = &stage.values[..] else { return None };
    let step = StageDef { args: before.to_vec(), ..stage.clone() };
    let old = Old::of(pipeline, func, &step, Some(&stage.args));
    Some(old.chain(0, value, pipeline.exprs[value].ty)?.associative)
}

fn has_rvar(pipeline: &PipelineData, value: ExprId) -> bool {
    let varies = |e: ExprId| matches!(&pipeline.exprs[e].kind, Kind::RVar { .. });
    reachable(pipeline, &[value]).into_iter().any(varies)
}

/// The expressions of a definition that read the Func that it defines.
pub(super) struct Old<'p> {
    pipeline: &'p PipelineData,
    func: FuncId,
    stage: &'p StageDef,
    readers: BTreeSet<ExprId>,
}

impl<'p> Old<'p> {
    /// Reads at `free` are no reads of what is old.
    pub(super) fn of(
        pipeline: &'p PipelineData,
        func: FuncId,
        stage: &'p StageDef,
        free: Option<&[ExprId]>,
    ) -> Old<'p> {
        let mut readers = BTreeSet::new();
        for e in reachable(pipeline, &expressions(pipeline, stage)) {
            let kind = &pipeline.exprs[e].kind;
            let is_read = matches!(kind, Kind::Call { func: f, args, .. } if *f == func && Some(&args[..]) != free);
            if is_read || children(kind).iter().any(|c| readers.contains(c)) {
                readers.insert(e);
            }
        }
        Old { pipeline, func, stage, readers }
    }

    pub(super) fn reads(&self, e: ExprId) -> bool {
        self.readers.contains(&e)
    }

    fn kind(&self, e: ExprId) -> &'p Kind {
        &self.pipeline.exprs[e].kind
    }

    fn types(&self, group: &[usize]) -> Vec<ScalarType> {
        group.iter().map(|&i| self.pipeline.exprs[self.stage.values[i]].ty).collect()
    }

    /// The elements, together where one's new value depends on the other's old one; each group in order.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut of: Vec<usize> = (0..self.stage.values.len()).collect();
        for (i, &value) in self.stage.values.iter().enumerate() {
            for e in reachable(self.pipeline, &[value]) {
                if let Kind::Call { func, element, .. } = self.kind(e)
                    && *func == self.func
                {
                    let (a, b) = (of[i], of[usize::from(*element)]);
                    of.iter_mut().filter(|g| **g == a).for_each(|g| *g = b);
                }
            }
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        of.iter().enumerate().for_each(|(i, g)| groups.entry(*g).or_default().push(i));
        groups.into_values().collect()
    }

    /// The operation by which a group of elements changes, and what is new of each, where that is one expression.
    fn pattern(&self, group: &[usize]) -> Option<(Pattern, Vec<Option<ExprId>>)> {
        let types = self.types(group);
        if let [element] = group[..] {
            let value = self.stage.values[element];
            if self.is_old(value, element) {
                return Some((pattern::unchanged(types[0]), vec![None]));
            }
            if let Some(found) = self.chain(element, value, types[0]) {
                return Some((found, vec![self.beside_old(element, value)]));
            }
        }
        pattern::patterns(&types).into_iter().find_map(|p| self.matches(&p, group).map(|news| (p, news)))
    }

    /// The other operand of an operator that has the old value as one, but for differences.
    fn beside_old(&self, element: usize, value: ExprId) -> Option<ExprId> {
        match *self.kind(value) {
            Kind::Binary(BinOp::Sub, ..) => None,
            Kind::Binary(_, a, b) if self.is_old(a, element) => Some(b),
            Kind::Binary(_, a, b) if self.is_old(b, element) => Some(a),
            _ => None,
        }
    }

    /// Returns true if `func` is the Func that is defined.
    pub(super) fn is_of(&self, func: FuncId) -> bool {
        func == self.func
    }

    /// Returns true if `e` is the old value of element number `element` at the point that the definition stores to.
    pub(super) fn is_old(&self, e: ExprId, element: usize) -> bool {
        let Kind::Call { func, element: read, args } = self.kind(e) else { return false };
        *func == self.func && usize::from(*read) == element && *args == self.stage.args
    }

    /// Down a chain of operators of one family to the old value, with nothing beside it that reads the Func.
    fn chain(&self, element: usize, value: ExprId, ty: ScalarType) -> Option<Pattern> {
        let Kind::Binary(op, ..) = self.kind(value) else { return None };
        let whole = family(*op)?;
        let mut found = pattern::operator(whole, ty)?;
        let (mut at, mut links, mut on_the_right) = (value, 0, false);
        while !self.is_old(at, element) {
            let Kind::Binary(op, a, b) = self.kind(at) else { return None };
            if family(*op) != Some(whole) {
                return None;
            }
            (at, on_the_right) = match (self.reads(*a), self.reads(*b)) {
                (true, false) => (*a, on_the_right),
                (false, true) if *op != BinOp::Sub => (*b, true),
                _ => return None,
            };
            links += 1;
        }
        if ty.is_float() && on_the_right && matches!(whole, BinOp::Min | BinOp::Max) {
            // Of two zeros the operand on the right counts.
            found.merge = vec![Term::Binary(whole, Box::new(Term::New(0)), Box::new(Term::Old(0)))];
            if links > 1 {
                found.associative = Law::ButForRounding;
            }
        }
        Some(found)
    }

    /// The new value of each element, if the group changes by `pattern`.
    fn matches(&self, pattern: &Pattern, group: &[usize]) -> Option<Vec<Option<ExprId>>> {
        let mut news = vec![None; group.len()];
        let mut equations = pattern.step.iter().zip(group);
        let fits = equations.all(|(term, &element)| self.is(term, self.stage.values[element], group, &mut news));
        fits.then_some(news)
    }

    /// Returns true if `e` has the form of `term`; `news` are the new values known so far.
    fn is(&self, term: &Term, e: ExprId, group: &[usize], news: &mut Vec<Option<ExprId>>) -> bool {
        let kind = self.kind(e);
        match term {
            Term::Old(i) => self.is_old(e, group[*i]),
            Term::New(i) if self.reads(e) => {
                debug_assert!(*i < group.len());
                false
            }
            Term::New(i) => *news[*i].get_or_insert(e) == e,
            Term::Const(c) => *kind == Kind::Const(*c),
            Term::Unary(op, a) => matches!(kind, Kind::Unary(o, x) if o == op && self.is(a, *x, group, news)),
            Term::Select(c, a, b) => match kind {
                Kind::Select(x, y, z) => {
                    self.is(c, *x, group, news) && self.is(a, *y, group, news) && self.is(b, *z, group, news)
                }
                _ => false,
            },
            Term::SaturatingCast(ty, a) => {
                let same = self.pipeline.exprs[e].ty == *ty;
                same && matches!(kind, Kind::SaturatingCast(x) if self.is(a, *x, group, news))
            }
            Term::Cast(ty, a) if self.pipeline.exprs[e].ty == *ty => match kind {
                Kind::Cast(x) => {
                    // The operand has the element's type, which says that the cast widens it.
                    let from = self.pipeline.exprs[*x].ty;
                    self.types(group).contains(&from) && self.is(a, *x, group, news)
                }
                // A constant is widened where it is written.
                Kind::Const(c) => {
                    let fits = self.types(group)[0].int_max().is_some_and(|max| (0..=max).contains(&c.as_i128()));
                    fits && matches!(**a, Term::New(_)) && self.is(a, e, group, news)
                }
                _ => false,
            },
            Term::Cast(..) => false,
            Term::Binary(op, a, b) => self.is_binary(*op, a, b, e, group, news),
        }
    }

    fn is_binary(
        &self,
        op: BinOp,
        a: &Term,
        b: &Term,
        e: ExprId,
        group: &[usize],
        news: &mut Vec<Option<ExprId>>,
    ) -> bool {
        let Kind::Binary(found, x, y) = self.kind(e) else { return false };
        let before = news.clone();
        if *found == op && self.is(a, *x, group, news) && self.is(b, *y, group, news) {
            return true;
        }
        *news = before;
        let swapped = mirrored(op, self.pipeline.exprs[*x].ty).is_some_and(|op| op == *found);
        swapped && self.is(a, *y, group, news) && self.is(b, *x, group, news)
    }
}

/// The operator that does the same with its operands exchanged.
fn mirrored(op: BinOp, ty: ScalarType) -> Option<BinOp> {
    use BinOp::*;
    match op {
        Add | Mul | BitAnd | BitOr | BitXor | Eq | Ne => Some(op),
        Min | Max if !ty.is_float() => Some(op),
        Lt => Some(Gt),
        Gt => Some(Lt),
        Le => Some(Ge),
        Ge => Some(Le),
        _ => None,
    }
}

/// The associative and commutative operation that chains of `op` amount to.
fn family(op: BinOp) -> Option<BinOp> {
    match op {
        BinOp::Add | BinOp::Sub => Some(BinOp::Add),
        BinOp::Mul | BinOp::Min | BinOp::Max | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => Some(op),
        _ => None,
    }
}

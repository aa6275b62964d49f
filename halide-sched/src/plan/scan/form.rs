//! The form of an update that can be scanned in chunks.

use crate::plan::affine::{Affine, Atom, affine, constant};
use crate::plan::diagnostics::ScanReason;
use crate::plan::expressions::reachable;
use crate::plan::graph::Graph;
use crate::plan::recurrence::{Line, Recurrence, line};
use halide_core::ids::{ExprId, FuncId, RDomId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{FuncDef, Kind, PipelineData, StageDef};
use halide_core::types::ScalarType;
use std::collections::BTreeMap;

/// A scan of which it is known that it can be done in parts.
pub(crate) struct Scan {
    pub(super) func: FuncId,
    pub(super) recurrence: Recurrence,
    /// The coordinate of element `t` of the scan is `base + t`, or `base - t` if the scan goes down.
    pub(super) base: ExprId,
    /// The value of the variable of the scan in front of its first.
    pub(super) before_first: ExprId,
    /// The other coordinates that follow a reduction variable.
    pub(super) others: BTreeMap<usize, Other>,
    /// Values of the elements before the scan, in terms of the Func's own variables.
    pub(super) begins: Vec<ExprId>,
    /// The update with what elements hold before it in the place of the one that it stores to.
    pub(super) step: StageDef,
}

/// A coordinate that follows another reduction variable than that of the scan.
pub(super) struct Other {
    pub(super) rvar: usize,
    /// The first value of the variable.
    pub(super) min: ExprId,
    /// The coordinate is `start` and the variable, or less the variable.
    pub(super) start: ExprId,
    pub(super) falls: bool,
}

impl Scan {
    /// Checks the form of update `stage` of `func`, which is a recurrence.
    pub(crate) fn new(
        graph: &mut Graph,
        func: FuncId,
        stage: usize,
        recurrence: Recurrence,
    ) -> Result<Scan, ScanReason> {
        let def = graph.data().funcs[func].clone();
        let Some((update, [first, earlier @ ..])) = def.stages.split_last().filter(|_| stage + 1 == def.stages.len())
        else {
            return Err(ScanReason::Updates);
        };
        if graph.data().rdoms[recurrence.rdom].predicate.is_some() {
            return Err(ScanReason::Condition);
        }
        let mut others = BTreeMap::new();
        for (dim, &at) in update.args.iter().enumerate().filter(|(dim, _)| *dim != recurrence.dim) {
            if graph.data().exprs[at].kind == Kind::Var(def.args[dim]) {
                continue;
            }
            let form = affine(graph.data(), at).and_then(|form| line(&form, recurrence.rdom));
            let (rvar, Line { start, falls }) = form.ok_or(ScanReason::Coordinates)?;
            let min = first_value(graph, recurrence.rdom, rvar);
            let sums = sum(graph, Some(min)).zip(sum(graph, Some(start)));
            let (min, start) = sums.ok_or(ScanReason::Large)?;
            others.insert(dim, Other { rvar, min, start, falls });
        }
        let mut followed: Vec<usize> = others.values().map(|other| other.rvar).chain([recurrence.rvar]).collect();
        followed.sort_unstable();
        if followed != (0..graph.data().rdoms[recurrence.rdom].dims.len()).collect::<Vec<usize>>() {
            return Err(ScanReason::Coordinates);
        }
        let min = first_value(graph, recurrence.rdom, recurrence.rvar);
        let one = Affine { terms: BTreeMap::new(), offset: 1 };
        let before_first = min.minus(&one, 0);
        let Line { start, falls } = &recurrence.line;
        let base = match falls {
            false => before_first.clone().and_then(|before| before.plus(start.clone())),
            true => before_first.as_ref().and_then(|before| start.minus(before, 0)),
        };
        let sums = sum(graph, base).zip(sum(graph, before_first));
        let (base, before_first) = sums.ok_or(ScanReason::Large)?;
        let mut begins = first.values.clone();
        for one in earlier {
            begins = with_element(graph, &def, recurrence.dim, one, begins).ok_or(ScanReason::Updates)?;
        }
        // What the element that is stored to holds before.
        let mut made = BTreeMap::new();
        for (&var, &at) in def.args.iter().zip(&update.args) {
            made.insert(graph.node(Kind::Var(var), ScalarType::I32), at);
        }
        let starts: Vec<ExprId> = begins.iter().map(|&e| graph.with(e, &mut made)).collect();
        let mut made = BTreeMap::new();
        for ((element, &start), &ty) in starts.iter().enumerate().zip(&def.types) {
            let own = Kind::Call { func, element: element as u8, args: update.args.clone() };
            made.insert(graph.node(own, ty), start);
        }
        let values = update.values.iter().map(|&e| graph.with(e, &mut made)).collect();
        let step = StageDef { args: recurrence.before.clone(), values, rdom: update.rdom, at: update.at };
        let scan = Scan { func, recurrence, base, before_first, others, begins, step };
        if keeps(graph.data(), &scan.step.values) || scan.first(graph).is_none() {
            return Err(ScanReason::Kept);
        }
        Ok(scan)
    }

    /// The update as a fold of what is new into the element before, whose coordinates its arguments are.
    pub(crate) fn step(&self) -> &StageDef {
        &self.step
    }

    /// Values of the element in front of the scan, if no part of them is what an output held before.
    pub(super) fn first(&self, graph: &mut Graph) -> Option<Vec<ExprId>> {
        let var = graph.data().funcs[self.func].args[self.recurrence.dim];
        let mut made = BTreeMap::from([(graph.node(Kind::Var(var), ScalarType::I32), self.base)]);
        let mut values = Vec::new();
        for &e in &self.begins {
            let mut e = graph.with(e, &mut made);
            while let Kind::Select(c, then, otherwise) = graph.data().exprs[e].kind {
                match truth(graph.data(), c) {
                    Some(holds) => e = if holds { then } else { otherwise },
                    None => break,
                }
            }
            values.push(e);
        }
        (!keeps(graph.data(), &values)).then_some(values)
    }

    /// The number of the reduction variable that the scan goes along.
    pub(crate) fn rvar(&self) -> usize {
        self.recurrence.rvar
    }
}

/// The first value of a variable of a domain.
fn first_value(graph: &Graph, rdom: RDomId, rvar: usize) -> Affine {
    let min = graph.data().rdoms[rdom].dims[rvar].min;
    affine(graph.data(), min).unwrap_or_else(|| Affine::of(Atom::Uniform(min)))
}

/// Values of elements behind an update of one element along dimension `dim`; `None` if it is another one.
fn with_element(
    graph: &mut Graph,
    def: &FuncDef,
    dim: usize,
    update: &StageDef,
    before: Vec<ExprId>,
) -> Option<Vec<ExprId>> {
    let func = graph.data().funcs.enumerate().find(|(_, f)| f.name == def.name).map(|(id, _)| id)?;
    let reads = |e: ExprId| matches!(graph.data().exprs[e].kind, Kind::Call { func: f, .. } if f == func);
    let is_own = |at: usize| graph.data().exprs[update.args[at]].kind == Kind::Var(def.args[at]);
    let at = affine(graph.data(), update.args[dim])?;
    let is_one = at.terms.keys().all(|atom| matches!(atom, Atom::Uniform(_)));
    let others = (0..update.args.len()).filter(|at| *at != dim).all(is_own);
    let blind = !reachable(graph.data(), &update.values).into_iter().any(reads);
    if update.rdom.is_some() || graph.data().sites(update) > 1 || !is_one || !others || !blind {
        return None;
    }
    let x = graph.node(Kind::Var(def.args[dim]), ScalarType::I32);
    let here = graph.node(Kind::Binary(BinOp::Eq, x, update.args[dim]), ScalarType::Bool);
    let select = |((&new, old), &ty): ((&ExprId, ExprId), &ScalarType)| graph.node(Kind::Select(here, new, old), ty);
    Some(update.values.iter().zip(before).zip(&def.types).map(select).collect())
}

/// Returns true if a part of `values` is what an output held before.
fn keeps(pipeline: &PipelineData, values: &[ExprId]) -> bool {
    reachable(pipeline, values).into_iter().any(|e| matches!(pipeline.exprs[e].kind, Kind::Before { .. }))
}

/// Returns true or false where it is certain that two indices are equal or not.
fn truth(pipeline: &PipelineData, condition: ExprId) -> Option<bool> {
    let Kind::Binary(BinOp::Eq, a, b) = pipeline.exprs[condition].kind else { return None };
    let difference = affine(pipeline, a)?.minus(&affine(pipeline, b)?, 0)?;
    difference.terms.is_empty().then_some(difference.offset == 0)
}

/// A sum of what is constant for the run; `None` if a number of it needs more than 32 bits.
fn sum(graph: &mut Graph, form: Option<Affine>) -> Option<ExprId> {
    let form = form?;
    let mut number = |n: i128| i32::try_from(n).ok().map(|n| graph.int(i64::from(n)));
    let offset = number(form.offset)?;
    let factors = form.terms.values().map(|factor| number(*factor)).collect::<Option<Vec<ExprId>>>()?;
    let mut sum = None;
    for (atom, factor) in form.terms.keys().zip(factors) {
        let Atom::Uniform(e) = *atom else { return None };
        let term = if constant(graph.data(), factor) == Some(1) { e } else { graph.index(BinOp::Mul, e, factor) };
        sum = Some(sum.map_or(term, |sum| graph.index(BinOp::Add, sum, term)));
    }
    Some(sum.map_or(offset, |sum| graph.index(BinOp::Add, sum, offset)))
}

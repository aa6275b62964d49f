//! The properties of a definition that decide which loops are legal: which iterations can never touch the same element,
//! and whether the order of a reduction matters.

use super::access::{Accesses, Range};
use super::affine::{Affine, Atom, affine, constant};
use super::dependence::{Access, Space};
use super::diagnostics::{OrderReason, StepReason};
use super::distinct::places;
use super::expressions::{expressions, reachable};
use super::monoid::{self, Law};
use super::recurrence::recurrence;
use crate::plan::types::VarOrigin;
use halide_core::ids::{ExprId, FuncId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{Kind, Pipeline, PipelineData, StageDef};
use halide_core::print;
use std::collections::BTreeSet;

/// The size of the largest element that kernels change in one step.
const STEP_BITS: u32 = 32;

/// The facts of one definition.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// True if it is an update.
    pub(super) is_update: bool,
    /// True if a point must not be computed twice: what is stored depends on what the element held.
    pub(super) once: bool,
    /// Its variables: pure dimensions in order, then reduction variables in order.
    pub(super) roots: Vec<Root>,
    /// The elements of the Func that its iterations touch.
    pub(super) accesses: Accesses,
    /// The same with all that is linear in it.
    pub(super) space: Space,
    /// True if the only element of the Func that an iteration reads is the one that it stores to, and its coordinates
    /// and predicate read none.
    pub(super) changes_one_element: bool,
    /// True if its domain has a condition.
    pub(super) has_predicate: bool,
    /// The reason that a GPU cannot change an element of this type in one step, if it cannot.
    pub(super) no_gpu_step: Option<StepReason>,
    /// The variable along which it is a scan of single values by an operator, and how that associates.
    pub(super) scan: Option<(usize, Law)>,
    /// `Ok` if its iterations may run in any order; else the reason that they may not.
    pub(super) order: Result<(), OrderReason>,
}

/// A variable of a definition.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) name: String,
    /// The name that the frozen pipeline has for a reduction variable: `r$1.x`, where a stage says `r.x`.
    pub(super) frozen: Option<String>,
    pub(super) origin: VarOrigin,
    /// Two iterations with different values of it never touch the same element of the Func.
    pub(super) independent: bool,
    /// The number of its values, if the algorithm makes that a constant.
    pub(super) extent: Option<i64>,
}

/// The facts of definition `stage` of `func`.
pub(super) fn facts(pipeline: &Pipeline, func: FuncId, stage: usize) -> Facts {
    let s = &pipeline.funcs[func].stages[stage];
    let roots = variables(pipeline, func, stage);
    let nodes: Vec<Kind> = roots.iter().map(|(_, _, kind, _)| kind.clone()).collect();
    let accesses = accesses(pipeline, func, s, &nodes);
    let apart = accesses.told_apart(&BTreeSet::new());
    let roots: Vec<Root> = roots
        .into_iter()
        .enumerate()
        .map(|(i, (name, origin, _, extent))| {
            let frozen = match origin {
                VarOrigin::Reduction { rdom, dim } => Some(pipeline.rdoms[rdom].dims[dim].name.clone()),
                _ => None,
            };
            Root { name, frozen, origin, independent: apart[i].is_ok(), extent }
        })
        .collect();
    let order = if stage == 0 { Ok(()) } else { order(pipeline, func, s) };
    let predicate = s.rdom.and_then(|r| pipeline.rdoms[r].predicate);
    let where_to: Vec<ExprId> = s.args.iter().copied().chain(predicate).collect();
    let changes_one_element = pipeline.sites(s) == 1
        && reads_of(pipeline, func, &where_to).is_empty()
        && self_reads(pipeline, func, s).iter().all(|args| *args == s.args);
    let no_gpu_step = match pipeline.funcs[func].types.as_slice() {
        [ty] if ty.bits() > STEP_BITS => Some(StepReason::Wide(*ty)),
        [_] => None,
        types => Some(StepReason::Tuple(types.len())),
    };
    let space = space(pipeline, func, s, &nodes);
    let is_kept = |e: ExprId| matches!(pipeline.exprs[e].kind, Kind::Before { .. });
    let once = stage > 0 || reachable(pipeline, &expressions(pipeline, s)).into_iter().any(is_kept);
    let scan = scan(pipeline, func, s, &roots);
    let has_predicate = predicate.is_some();
    Facts {
        is_update: stage > 0,
        once,
        roots,
        accesses,
        space,
        changes_one_element,
        has_predicate,
        no_gpu_step,
        scan,
        order,
    }
}

/// The names that users say for the variables of a definition.
pub(super) struct SaidNames {
    /// The names of its pure dimensions.
    pub(super) pure: Vec<String>,
    /// The names of the variables of its reduction domain, innermost first.
    pub(super) reduction: Vec<String>,
}

/// The names of the variables of definition `stage` of `func`.
pub(super) fn said_names(pipeline: &PipelineData, func: FuncId, stage: usize) -> SaidNames {
    let all = variables(pipeline, func, stage);
    let (pure, reduction) = all.into_iter().partition::<Vec<_>, _>(|(_, o, ..)| matches!(o, VarOrigin::Pure { .. }));
    let names = |list: Vec<Variable>| list.into_iter().map(|(name, ..)| name).collect();
    SaidNames { pure: names(pure), reduction: names(reduction) }
}

/// A variable of a definition: its name, what it is, the node that is it, its extent if that is a constant.
type Variable = (String, VarOrigin, Kind, Option<i64>);

/// The variables of a definition: pure dimensions in order, then reduction variables in order.
fn variables(pipeline: &PipelineData, func: FuncId, stage: usize) -> Vec<Variable> {
    let def = &pipeline.funcs[func];
    let s = &def.stages[stage];
    let mut roots = Vec::new();
    for (dim, &var) in def.args.iter().enumerate() {
        if stage == 0 || pipeline.exprs[s.args[dim]].kind == Kind::Var(var) {
            roots.push((pipeline.vars[var].clone(), VarOrigin::Pure { dim }, Kind::Var(var), None));
        }
    }
    if let Some(rdom) = s.rdom {
        for (dim, rvar) in pipeline.rdoms[rdom].dims.iter().enumerate() {
            let kind = Kind::RVar { rdom, dim: dim as u8 };
            let extent = constant(pipeline, rvar.extent);
            let name = unused_name(&rvar.said, &roots);
            roots.push((name, VarOrigin::Reduction { rdom, dim }, kind, extent));
        }
    }
    roots
}

/// `name`, or something like it where another variable of the stage has it.
fn unused_name<A, B, C>(name: &str, taken: &[(String, A, B, C)]) -> String {
    let mut unused = name.to_string();
    while taken.iter().any(|(n, ..)| *n == unused) {
        unused.push_str("$r");
    }
    unused
}

/// The elements that an update with the variables `roots` stores to and loads.
fn accesses(pipeline: &Pipeline, func: FuncId, stage: &StageDef, roots: &[Kind]) -> Accesses {
    let range = |root: &Kind| match root {
        Kind::RVar { rdom, dim } => {
            let rvar = &pipeline.rdoms[*rdom].dims[usize::from(*dim)];
            Range { min: constant(pipeline, rvar.min), extent: constant(pipeline, rvar.extent) }
        }
        _ => Range::default(),
    };
    let loads = self_reads(pipeline, func, stage);
    let mut forms = places(pipeline, std::iter::once(&stage.args[..]).chain(loads).collect()).into_iter();
    let store = forms.next().unwrap_or_default();
    let variables = roots.iter().map(|kind| (Atom::variable(kind), range(kind))).collect();
    Accesses::new(variables, store, forms.collect())
}

/// The elements that an update with the variables `roots` touches, and all linear conditions on these.
fn space(pipeline: &Pipeline, func: FuncId, stage: &StageDef, roots: &[Kind]) -> Space {
    let range = |root: &Kind| match root {
        Kind::RVar { rdom, dim } => Some(&pipeline.rdoms[*rdom].dims[usize::from(*dim)]),
        _ => None,
    };
    let mut conditions = Vec::new();
    let mut mins = Vec::new();
    for root in roots {
        let min = range(root).and_then(|r| affine(pipeline, r.min));
        let extent = range(root).and_then(|r| affine(pipeline, r.extent));
        let this = Affine::of(Atom::variable(root));
        conditions.extend(min.as_ref().and_then(|min| this.minus(min, 0)));
        let end = min.clone().zip(extent).and_then(|(min, extent)| min.plus(extent));
        conditions.extend(end.and_then(|end| end.minus(&this, 1)));
        mins.push(min);
    }
    // A predicate that reads the Func does so wherever it does not hold, too.
    let predicate = stage.rdom.and_then(|r| pipeline.rdoms[r].predicate);
    if let Some(predicate) = predicate.filter(|&p| reads_of(pipeline, func, &[p]).is_empty()) {
        predicate_conditions(pipeline, predicate, &mut conditions);
    }
    // Dimension 0 of a domain is innermost; pure variables are the same wherever two iterations meet.
    let order = (0..roots.len()).rev().filter(|&i| range(&roots[i]).is_some()).collect();
    let loads = self_reads(pipeline, func, stage);
    let all: Vec<&[ExprId]> = std::iter::once(&stage.args[..]).chain(loads).collect();
    let text = |args: &&[ExprId]| {
        let texts: Vec<String> = args.iter().map(|&a| print::expr(pipeline, a)).collect();
        format!("{}({})", pipeline.funcs[func].name, texts.join(", "))
    };
    let texts: Vec<String> = all.iter().map(text).collect();
    let forms = places(pipeline, all).into_iter();
    let accesses = texts.into_iter().zip(forms).map(|(text, at)| Access { text, at }).collect();
    let variables = roots.iter().map(Atom::variable).collect();
    Space { variables, order, mins, conditions, accesses, at: stage.at }
}

/// Sums that are at least 0 where the predicate holds: what comparisons of coordinates say.
fn predicate_conditions(pipeline: &Pipeline, predicate: ExprId, conditions: &mut Vec<Affine>) {
    let index = pipeline.index_table();
    let mut todo = vec![predicate];
    while let Some(e) = todo.pop() {
        let Kind::Binary(op, a, b) = &pipeline.exprs[e].kind else { continue };
        if *op == BinOp::BitAnd {
            todo.extend([*a, *b]);
        }
        if !op.is_comparison() || !index.is_comparison(*a, *b) {
            continue;
        }
        let (Some(a), Some(b)) = (affine(pipeline, *a), affine(pipeline, *b)) else { continue };
        match op {
            BinOp::Lt => conditions.extend(b.minus(&a, 1)),
            BinOp::Le => conditions.extend(b.minus(&a, 0)),
            BinOp::Gt => conditions.extend(a.minus(&b, 1)),
            BinOp::Ge => conditions.extend(a.minus(&b, 0)),
            BinOp::Eq => conditions.extend([a.minus(&b, 0), b.minus(&a, 0)].into_iter().flatten()),
            _ => {}
        }
    }
}

/// The coordinates of every read of the Func in its own definition.
fn self_reads<'p>(pipeline: &'p Pipeline, func: FuncId, stage: &StageDef) -> Vec<&'p [ExprId]> {
    reads_of(pipeline, func, &expressions(pipeline, stage))
}

/// The coordinates of every read of `func` in `from`.
fn reads_of<'p>(pipeline: &'p Pipeline, func: FuncId, from: &[ExprId]) -> Vec<&'p [ExprId]> {
    let all = reachable(pipeline, from);
    let read = |e: ExprId| match &pipeline.exprs[e].kind {
        Kind::Call { func: f, args, .. } if *f == func => Some(args.as_slice()),
        _ => None,
    };
    all.into_iter().filter_map(read).collect()
}

/// The number of the variable along which an update is a scan of single values by an operator, and how that associates.
fn scan(pipeline: &Pipeline, func: FuncId, stage: &StageDef, roots: &[Root]) -> Option<(usize, Law)> {
    let found = recurrence(pipeline, func, stage)?;
    if pipeline.rdoms[stage.rdom?].predicate.is_some() {
        return None;
    }
    let law = monoid::operator_along(pipeline, func, stage, found.before())?;
    let follows = |root: &Root| matches!(root.origin, VarOrigin::Reduction { dim, .. } if dim == found.rvar());
    Some((roots.iter().position(follows)?, law))
}

/// Returns `Ok` if an update gives the same result in every order of its iterations.
pub fn order(pipeline: &Pipeline, func: FuncId, stage: &StageDef) -> Result<(), OrderReason> {
    match monoid::fold(pipeline, func, stage) {
        Some(fold) => any_order(&fold, OrderReason::InOrder),
        None => Err(OrderReason::NotCommutative),
    }
}

/// Returns `Ok` if the steps of a fold may come in any order; `not` is the error if the fold does not commute.
pub(super) fn any_order(fold: &monoid::Fold, not: OrderReason) -> Result<(), OrderReason> {
    match fold.any_order {
        Law::Exactly => Ok(()),
        Law::ButForRounding => Err(OrderReason::Floats),
        Law::No => Err(not),
    }
}

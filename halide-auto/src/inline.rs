//! Funcs that are substituted where they are used: computing them there costs no more than storing and loading them.

use crate::tuning::MOST_PASSED_ON;
use halide_core::ids::{ExprId, FuncId, IdVec};
use halide_core::pipeline::{Kind, Pipeline, StageDef};
use std::collections::{BTreeMap, BTreeSet};

/// Operations of a point that are as dear as storing it.
const OF_STORE: f64 = 2.0;

/// Operations that are as dear as loading a point.
const OF_LOAD: f64 = 1.0;

/// Operations that are as dear as a transcendental function.
const OF_MATH: u64 = 20;

/// Returns true for each Func that is substituted where it is used. `points` has how many points of each are computed
/// if all are stored.
pub(crate) fn inlined(pipeline: &Pipeline, points: &BTreeMap<FuncId, f64>) -> IdVec<FuncId, bool> {
    let mut inlined: IdVec<FuncId, bool> = pipeline.funcs.iter().map(|_| false).collect();
    // How often each is evaluated if it is not stored.
    let mut evaluations: BTreeMap<FuncId, f64> = BTreeMap::new();
    // Consumers come first, so that what they pass on is known.
    for &id in pipeline.order.iter().rev() {
        let func = &pipeline.funcs[id];
        let (stored, used) = (points.get(&id).copied().unwrap_or(1.0), evaluations.get(&id).copied().unwrap_or(0.0));
        let work: u64 = func.stages[0].values.iter().map(|value| operations(pipeline, *value)).sum();
        let reads = reached(pipeline, &func.stages[0]).into_iter().filter(|e| is_read(pipeline, *e)).count();
        let work = work as f64 + reads as f64 * OF_LOAD;
        inlined[id] = may_inline(pipeline, id) && work * used <= (work + OF_STORE) * stored + OF_LOAD * used;
        let times = if inlined[id] { used } else { stored };
        for stage in &func.stages {
            for e in reached(pipeline, stage) {
                match pipeline.exprs[e].kind {
                    Kind::Call { func, .. } if func != id => *evaluations.entry(func).or_default() += times,
                    _ => {}
                }
            }
        }
    }
    inlined
}

/// The Funcs that one definition reads, once and at its own point, whose values are no wider: to store those is no
/// worse than to store these, as long as all is not more code than compilers are good for.
pub(crate) fn passed_on(pipeline: &Pipeline) -> BTreeSet<FuncId> {
    let bytes = |func: FuncId| pipeline.funcs[func].types.iter().map(|ty| ty.bytes()).sum::<usize>();
    // The only read of each that has one: the reader, if it reads so.
    let mut reads: BTreeMap<FuncId, Option<FuncId>> = BTreeMap::new();
    for &id in &pipeline.order {
        let def = &pipeline.funcs[id];
        for stage in &def.stages {
            for e in reached(pipeline, stage) {
                let Kind::Call { func, args, .. } = &pipeline.exprs[e].kind else { continue };
                let is_var = |(arg, var): (&ExprId, _)| pipeline.exprs[*arg].kind == Kind::Var(var);
                let at_point = args.len() == def.args.len() && args.iter().zip(def.args.iter().copied()).all(is_var);
                let only = Some(id).filter(|_| at_point && stage.rdom.is_none() && bytes(id) <= bytes(*func));
                reads.entry(*func).and_modify(|read| *read = None).or_insert(only);
            }
        }
    }
    let mut passed = BTreeSet::new();
    let mut inner: BTreeMap<FuncId, u64> = BTreeMap::new();
    for &id in &pipeline.order {
        let values = &pipeline.funcs[id].stages[0].values;
        let own: u64 = values.iter().map(|value| operations(pipeline, *value)).sum();
        let all = own.saturating_add(inner.get(&id).copied().unwrap_or(0));
        let Some(Some(reader)) = reads.get(&id).copied() else { continue };
        if may_inline(pipeline, id) && all <= MOST_PASSED_ON {
            passed.insert(id);
            let sum = inner.entry(reader).or_default();
            *sum = sum.saturating_add(all);
        }
    }
    passed
}

/// Returns true if a Func may be substituted: it is not an output, has no updates, and nothing is said or tested where
/// it is computed.
pub(crate) fn may_inline(pipeline: &Pipeline, id: FuncId) -> bool {
    let func = &pipeline.funcs[id];
    func.is_pure() && !pipeline.outputs.contains(&id) && !has_effects(pipeline, &func.stages[0])
}

/// The expressions that a definition evaluates, and those of the bounds of its domain, each once.
pub(crate) fn reached(pipeline: &Pipeline, stage: &StageDef) -> BTreeSet<ExprId> {
    let domain = stage.rdom.map(|r| &pipeline.rdoms[r]);
    let bounds = domain.into_iter().flat_map(|r| &r.dims).flat_map(|dim| [dim.min, dim.extent]);
    let roots = stage.args.iter().chain(&stage.values).copied().chain(domain.and_then(|r| r.predicate)).chain(bounds);
    halide_sched::plan::reachable(pipeline, &roots.collect::<Vec<ExprId>>())
}

fn is_read(pipeline: &Pipeline, e: ExprId) -> bool {
    matches!(pipeline.exprs[e].kind, Kind::Call { .. } | Kind::Image { .. })
}

fn has_effects(pipeline: &Pipeline, stage: &StageDef) -> bool {
    let has_effect = |e: ExprId| matches!(pipeline.exprs[e].kind, Kind::Note { .. } | Kind::Before { .. });
    reached(pipeline, stage).into_iter().any(has_effect)
}

/// Operations on data that a value costs. Coordinates cost nothing, nor do conditions that hold in the steady state of
/// a loop.
fn operations(pipeline: &Pipeline, value: ExprId) -> u64 {
    let (mut seen, mut todo, mut sum) = (BTreeSet::new(), vec![value], 0u64);
    while let Some(e) = todo.pop() {
        if !seen.insert(e) {
            continue;
        }
        let kind = &pipeline.exprs[e].kind;
        match kind {
            Kind::Call { .. } | Kind::Image { .. } => {}
            Kind::Select(condition, a, b) if is_likely(pipeline, *condition) => todo.extend([*a, *b]),
            Kind::Math(_, args) => {
                sum = sum.saturating_add(OF_MATH);
                todo.extend(args);
            }
            Kind::Likely(_) | Kind::LikelyIfInnermost(_) | Kind::Strict(_) | Kind::Reinterpret(_) => {
                todo.extend(kind.children());
            }
            _ => {
                let operands = kind.children();
                sum = sum.saturating_add(u64::from(!operands.is_empty()));
                todo.extend(operands);
            }
        }
    }
    sum
}

fn is_likely(pipeline: &Pipeline, condition: ExprId) -> bool {
    let all = halide_sched::plan::reachable(pipeline, &[condition]);
    all.into_iter().any(|e| matches!(pipeline.exprs[e].kind, Kind::Likely(_) | Kind::LikelyIfInnermost(_)))
}

//! Loops of one definition: which one is vectorized, which one runs on several threads, and in which order they nest.

use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use halide_core::types::ScalarType;
use halide_ir::target::Target;
use halide_sched::plan::{Possible, VarOrigin, possible};
use halide_sched::schedule::Amount;

/// Tasks of a loop for each thread: few make threads wait for the last one, and many cost their starts.
const TASKS: i64 = 16;

/// The least iterations for which a loop is vectorized.
const FEW: i64 = 4;

/// The least iterations for which a loop is cut in strips.
const LEAST_STRIPED: i64 = 16;

/// The loops of a definition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// The variable along which vectors lie, with their lanes.
    pub(crate) vector: Option<(String, Amount)>,
    /// The variable whose iterations are spread over threads, with the iterations of a task.
    pub(crate) parallel: Option<(String, i64)>,
    /// The variable that is cut in strips, with true if several threads may take them.
    pub(crate) strips: Option<(String, bool)>,
    /// Its variables as they nest by default, innermost first.
    pub(crate) order: Vec<String>,
}

impl Shape {
    /// The order of loops with one of them outside of all others; `None` if it is so by default.
    pub(crate) fn with_outermost(&self, var: &str) -> Option<Vec<String>> {
        let mut order = self.order.clone();
        order.retain(|name| name != var);
        order.push(var.to_string());
        (order != self.order).then_some(order)
    }

    /// Names for the two parts of a loop that no loop of the definition has.
    pub(crate) fn parts(&self, var: &str) -> (String, String) {
        let unused = |suffix: &str| {
            let mut name = format!("{var}{suffix}");
            while self.order.contains(&name) {
                name += suffix;
            }
            name
        };
        (unused("o"), unused("i"))
    }
}

/// The extents of a definition at the estimates.
pub(crate) struct Extents<'a> {
    /// Extents of the Func's dimensions.
    pub(crate) dims: &'a [i64],
    /// The extent that is assumed of reduction variables where the algorithm does not fix it.
    pub(crate) reduction: i64,
}

impl Shape {
    /// Chooses the loops of definition `stage` of `func`.
    pub(crate) fn new(
        pipeline: &Pipeline,
        (func, stage): (FuncId, usize),
        extents: &Extents<'_>,
        target: &Target,
    ) -> Shape {
        let Possible { vars, .. } = possible(pipeline, func, stage);
        let extent = |n: usize| match vars[n].origin {
            VarOrigin::Pure { dim } => vars[n].extent.or(extents.dims.get(dim).copied()).unwrap_or(1),
            _ => vars[n].extent.unwrap_or(extents.reduction),
        };
        let is_pure = |n: &usize| matches!(vars[*n].origin, VarOrigin::Pure { .. });
        let apart: Vec<usize> = (0..vars.len()).filter(|n| vars[*n].tells_apart).collect();
        let lanes = natural_lanes(&pipeline.funcs[func].types, target);
        // Neighbours in memory are those of dimension 0: others are taken where there are but a few of these.
        let vector = apart.iter().copied().filter(is_pure).find(|n| extent(*n) >= FEW);
        let parallel = parallel(&apart, &extent, vector, i64::from(target.threads));
        let amount = |n: usize| match extent(n) < lanes {
            true => Amount::Const(1 << extent(n).ilog2()),
            false => Amount::Natural,
        };
        // The outermost one that is long: channels, say, are few.
        let strips = apart.iter().rev().copied().find(|n| Some(*n) != vector && extent(*n) >= LEAST_STRIPED);
        let reductions = (0..vars.len()).filter(|n| !is_pure(n));
        let order = reductions.chain((0..vars.len()).filter(is_pure));
        Shape {
            vector: vector.map(|n| (vars[n].name.clone(), amount(n))),
            parallel: parallel.map(|(n, chunk)| (vars[n].name.clone(), chunk)),
            strips: strips.map(|n| (vars[n].name.clone(), target.threads > 1)),
            order: order.map(|n| vars[n].name.clone()).collect(),
        }
    }
}

/// The outermost variable with enough iterations for all threads, or the one with the most, and the iterations of a
/// task. The loop along which vectors lie is taken only if it is long.
fn parallel(
    apart: &[usize],
    extent: &dyn Fn(usize) -> i64,
    vector: Option<usize>,
    threads: i64,
) -> Option<(usize, i64)> {
    const LONG: i64 = 1 << 14;
    if threads < 2 {
        return None;
    }
    let candidates: Vec<usize> = apart.iter().copied().filter(|n| Some(*n) != vector || extent(*n) >= LONG).collect();
    let enough = candidates.iter().rev().copied().find(|n| extent(*n) >= 2 * threads);
    let chosen = enough.or(candidates.into_iter().max_by_key(|n| extent(*n)).filter(|n| extent(*n) > 1))?;
    Some((chosen, (extent(chosen) / (threads * TASKS)).max(1)))
}

/// Elements of a Func that one vector register holds.
fn natural_lanes(types: &[ScalarType], target: &Target) -> i64 {
    types.iter().map(|ty| target.natural_lanes(*ty)).min().unwrap_or(1)
}

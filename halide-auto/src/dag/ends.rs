//! Updates whose loops end where data say so.

use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_core::pipeline::{Kind, Pipeline};
use halide_sched::nest::SETTLED_ITERATIONS;
use halide_sched::plan::reachable;

/// Returns the most values that all variables of the domain of update `n` are taken to have together: the extents
/// alone bound them, unless a part of the predicate reads the element that the update stores and none of the variables.
/// Once that part is false, it stays so.
pub(super) fn most_iterations(pipeline: &Pipeline, func: FuncId, n: usize) -> i64 {
    let stage = &pipeline.funcs[func].stages[n];
    let mut parts: Vec<_> = stage.rdom.and_then(|rdom| pipeline.rdoms[rdom].predicate).into_iter().collect();
    while let Some(part) = parts.pop() {
        if let Kind::Binary(BinOp::BitAnd, a, b) = pipeline.exprs[part].kind {
            parts.extend([a, b]);
            continue;
        }
        let reached = reachable(pipeline, &[part]);
        let any = |is: &dyn Fn(&Kind) -> bool| reached.iter().any(|e| is(&pipeline.exprs[*e].kind));
        let reads_own =
            any(&|kind| matches!(kind, Kind::Call { func: f, args, .. } if *f == func && *args == stage.args));
        if reads_own && !any(&|kind| matches!(kind, Kind::RVar { .. })) {
            return SETTLED_ITERATIONS;
        }
    }
    i64::MAX
}

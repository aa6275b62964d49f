//! The first choices, from which a search goes on.

use crate::dag::{Box as Spans, Dag, extent};
use crate::state::{Choice, Place, Shape, State};
use halide_core::ids::FuncId;
use halide_ir::target::Target;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The least iterations for which a loop is vectorized.
const FEW: i64 = 4;

impl Shape {
    /// Loops in their default order, with vectors along the first dimension that is not just a few elements wide.
    pub(crate) fn first(dag: &Dag<'_>, of: (FuncId, usize), region: &[(i64, i64)], target: &Target) -> Shape {
        let (func, vars) = (&dag.funcs[of.0], &dag.funcs[of.0].stages[of.1].vars);
        let domain = dag.domain(of, region);
        let is_pure = |n: &usize| vars[*n].dim.is_some();
        let along = (0..vars.len()).find(|n| is_pure(n) && vars[*n].tells_apart && extent(domain[*n]) >= FEW);
        let natural = (i64::from(target.vector_bits) / 8 / func.widths.0.max(1)).max(1);
        let lanes = |n: usize| natural.min(1 << extent(domain[n]).ilog2());
        let reductions = (0..vars.len()).filter(|n| !is_pure(n));
        Shape {
            vector: along.map(|n| (n, lanes(n))).filter(|(_, lanes)| *lanes > 1),
            order: reductions.chain((0..vars.len()).filter(is_pure)).collect(),
            tile: vec![0; vars.len()],
            regs: vec![1; vars.len()],
            fixed: 0,
            shared: 1,
        }
    }
}

impl State {
    /// Every Func at the root, with its first loops, but for those that are substituted.
    pub(crate) fn first(
        dag: &Dag<'_>,
        roots: &BTreeMap<FuncId, Spans>,
        is_inlined: &dyn Fn(FuncId) -> bool,
        target: &Target,
    ) -> State {
        let choice = |id: FuncId| {
            let region = roots.get(&id).cloned().unwrap_or_else(|| dag.funcs[id].assumed.clone());
            let shape = |stage| Shape::first(dag, (id, stage), &region, target);
            let shapes = (0..dag.funcs[id].stages.len()).map(shape).collect();
            Rc::new(Choice { place: if is_inlined(id) { Place::Inline } else { Place::Root }, shapes })
        };
        State { choices: dag.pipeline.funcs.ids().map(choice).collect() }
    }
}

//! Operations of definitions with those of the Funcs that are substituted in them.

use crate::dag::{Dag, StageNode, Work};
use halide_core::ids::FuncId;
use halide_ir::visit::deep;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The operations of a definition with those of the Funcs that are substituted in it.
pub(crate) fn with_inlined(
    dag: &Dag<'_>,
    stage: &StageNode,
    is_inlined: &dyn Fn(FuncId) -> bool,
    memo: &mut BTreeMap<FuncId, Rc<Work>>,
) -> Work {
    let mut work = stage.work.clone();
    for call in stage.calls.iter().filter(|call| is_inlined(call.func)) {
        let inner = match memo.get(&call.func) {
            Some(known) => known.clone(),
            None => {
                // As deep as a chain of Funcs is long.
                let own = deep(|| with_inlined(dag, &dag.funcs[call.func].stages[0], is_inlined, memo));
                memo.entry(call.func).or_insert(Rc::new(own)).clone()
            }
        };
        for ((mask, bytes), weight) in inner.iter() {
            let of_dim = |(d, outer): (usize, &u32)| if mask >> d & 1 == 1 { *outer } else { 0 };
            let outer = call.masks.iter().enumerate().map(of_dim).fold(0, |all, mask| all | mask);
            *work.entry((outer, *bytes)).or_default() += weight;
        }
    }
    work
}

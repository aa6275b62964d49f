//! Groups of Funcs that share loops, with their predicted times.

use crate::cost::{Cost, Parts, Pricer};
use crate::dag::Dag;
use crate::search::Candidate;
use crate::state::State;
use halide_core::ids::{FuncId, IdVec};
use std::collections::BTreeMap;

/// A Func outside of all loops with those that are computed in its loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The name of the Func outside of all loops.
    pub root: String,
    /// The names of the others, producers first.
    pub members: Vec<String>,
    /// The points that are computed of each Func, by name. A point that is computed twice counts twice.
    pub points: BTreeMap<String, f64>,
    /// The predicted time in nanoseconds.
    pub predicted_ns: f64,
    /// The parts of that time.
    pub parts: Parts,
}

/// The groups of a state by the names of their Funcs.
pub(crate) fn groups_of(candidate: &Candidate, pricer: &mut Pricer<'_>) -> Vec<Group> {
    let (state, dag) = (&candidate.state, pricer.dag);
    groups_by(dag, state, &candidate.groups, &mut |of| {
        let cost = pricer.root_cost(state, of);
        let parts = pricer.parts(state, of, &cost);
        (cost, parts)
    })
}

/// The groups of a state of which each has a time; `price` tells the cost of a definition outside of all loops, and the
/// parts of its time.
pub(crate) fn groups_by(
    dag: &Dag<'_>,
    state: &State,
    groups: &IdVec<FuncId, Option<f64>>,
    price: &mut dyn FnMut((FuncId, usize)) -> (Cost, Parts),
) -> Vec<Group> {
    let name = |id: &FuncId| dag.pipeline.funcs[*id].name.clone();
    let mut found = Vec::new();
    for root in dag.pipeline.order.iter().filter(|id| groups[**id].is_some()) {
        let is_member = |id: &&FuncId| *id != root && !state.is_inlined(**id) && state.root(**id) == *root;
        let members = dag.pipeline.order.iter().filter(is_member).map(name).collect();
        let mut points: BTreeMap<String, f64> = BTreeMap::new();
        let mut parts = Parts::default();
        for stage in 0..dag.funcs[*root].stages.len() {
            let (cost, own) = price((*root, stage));
            parts.add(&own);
            cost.points.iter().for_each(|(id, count)| *points.entry(name(id)).or_default() += count);
        }
        let predicted_ns = groups[*root].unwrap_or(0.0);
        found.push(Group { root: name(root), members, points, predicted_ns, parts });
    }
    found
}

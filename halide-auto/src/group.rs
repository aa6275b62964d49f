//! Groups of Funcs that share loops, with their predicted times.

use crate::cost::{Parts, Pricer};
use crate::search::Candidate;
use halide_core::ids::FuncId;
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
    let name = |id: &FuncId| dag.pipeline.funcs[*id].name.clone();
    let mut found = Vec::new();
    for root in dag.pipeline.order.iter().filter(|id| candidate.groups[**id].is_some()) {
        let is_member = |id: &&FuncId| *id != root && !state.is_inlined(**id) && state.root(**id) == *root;
        let members = dag.pipeline.order.iter().filter(is_member).map(name).collect();
        let mut points: BTreeMap<String, f64> = BTreeMap::new();
        let mut parts = Parts::default();
        for stage in 0..dag.funcs[*root].stages.len() {
            let cost = pricer.root_cost(state, (*root, stage));
            parts.add(&pricer.parts(state, (*root, stage), &cost));
            cost.points.iter().for_each(|(id, count)| *points.entry(name(id)).or_default() += count);
        }
        let predicted_ns = candidate.groups[*root].unwrap_or(0.0);
        found.push(Group { root: name(root), members, points, predicted_ns, parts });
    }
    found
}

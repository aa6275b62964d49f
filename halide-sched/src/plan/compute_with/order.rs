//! The order of blocks in a group, and of Funcs when groups count as one.

use super::joined::Joined;
use crate::plan::graph::{Graph, Stage};
use halide_core::ids::FuncId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A stage that cannot come, since it waits for what comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    pub(crate) stage: Stage,
    /// The Func that it needs values of; `None` if it waits for the stage before it.
    pub(crate) needs: Option<FuncId>,
}

/// The roots of the blocks of some stages in an order in which the stages of every Func come one after the other, and
/// each behind all stages of the Funcs that it needs but for those of its own block; or a stage that cannot come.
/// `root` gives the root of the block that a stage is in.
pub(crate) fn block_order<'n>(
    stages: &[Stage],
    root: &dyn Fn(Stage) -> Stage,
    needs: &dyn Fn(Stage) -> &'n [FuncId],
) -> Result<Vec<Stage>, Waits> {
    let mut blocks: BTreeMap<Stage, Vec<Stage>> = BTreeMap::new();
    stages.iter().for_each(|&s| blocks.entry(root(s)).or_default().push(s));
    let (mut done, mut order): (BTreeSet<Stage>, Vec<Stage>) = (BTreeSet::new(), Vec::new());
    while order.len() < blocks.len() {
        let left = || blocks.iter().filter(|(root, _)| !order.contains(*root));
        let waits = |&stage: &Stage| {
            if stage.1 > 0 && !done.contains(&(stage.0, stage.1 - 1)) {
                return Some(Waits { stage, needs: None });
            }
            let is_missing = |at: &&Stage| !done.contains(*at) && root(**at) != root(stage);
            let missing = |func: &FuncId| stages.iter().filter(|(f, _)| f == func).any(|at| is_missing(&at));
            let needs = needs(stage).iter().copied().find(missing)?;
            Some(Waits { stage, needs: Some(needs) })
        };
        let Some((&next, members)) = left().find(|(_, members)| !members.iter().any(|s| waits(s).is_some())) else {
            let stuck = left().flat_map(|(_, members)| members).find_map(waits);
            return Err(stuck.unwrap_or(Waits { stage: (FuncId(0), 0), needs: None }));
        };
        done.extend(members);
        order.push(next);
    }
    Ok(order)
}

/// All Funcs of `all`, which is an order of the graph, in an order in which those of a group stand next to each other
/// and producers before consumers. Funcs between those of a group, which are inlined, stand between them.
pub(crate) fn order(graph: &Graph, all: &[FuncId], joined: &Joined) -> Vec<FuncId> {
    if joined.groups().is_empty() {
        return all.to_vec();
    }
    let place: BTreeMap<FuncId, usize> = all.iter().enumerate().map(|(i, &f)| (f, i)).collect();
    // A node is a Func or a group, by the place of its first Func.
    let mut node_of: BTreeMap<FuncId, usize> = place.clone();
    for group in joined.groups() {
        let first = group.iter().filter_map(|f| place.get(f)).min().copied().unwrap_or_default();
        node_of.extend(between(graph, all, group).into_iter().map(|f| (f, first)));
    }
    let mut members: BTreeMap<usize, Vec<FuncId>> = BTreeMap::new();
    all.iter().for_each(|f| members.entry(node_of[f]).or_default().push(*f));
    let mut consumers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for func in all {
        let callers = graph.callers(*func).iter().filter_map(|(caller, _)| node_of.get(caller));
        consumers.entry(node_of[func]).or_default().extend(callers.filter(|c| **c != node_of[func]));
    }
    let mut waiting: BTreeMap<usize, usize> = members.keys().map(|n| (*n, 0)).collect();
    consumers.values().flatten().for_each(|c| *waiting.entry(*c).or_default() += 1);
    let mut ready: BinaryHeap<Reverse<usize>> =
        waiting.iter().filter(|(_, n)| **n == 0).map(|(node, _)| Reverse(*node)).collect();
    let mut sorted = Vec::new();
    while let Some(Reverse(node)) = ready.pop() {
        sorted.extend(&members[&node]);
        for consumer in consumers.get(&node).into_iter().flatten() {
            let left = waiting.entry(*consumer).or_default();
            *left -= 1;
            if *left == 0 {
                ready.push(Reverse(*consumer));
            }
        }
    }
    sorted
}

/// The Funcs of a group, and those on the way from one to another.
fn between(graph: &Graph, all: &[FuncId], group: &BTreeSet<FuncId>) -> BTreeSet<FuncId> {
    let callers = |func: &FuncId| graph.callers(*func).iter().map(|(caller, _)| *caller);
    let (mut behind, mut ahead) = (group.clone(), group.clone());
    for func in all {
        if behind.contains(func) {
            behind.extend(callers(func));
        }
    }
    for func in all.iter().rev() {
        if callers(func).any(|caller| ahead.contains(&caller)) {
            ahead.insert(*func);
        }
    }
    &behind & &ahead
}

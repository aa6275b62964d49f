//! Beginnings of schedules: what a search does not change.
//!
//! A schedule may begin with Funcs that are computed for some of their consumers by themselves, with inputs of which a
//! piece is copied to lie together (packing), and with reductions that are done in parts: a search then places the
//! copies and the parts as it does all Funcs.

use crate::cost::Pricer;
use crate::dag::{Dag, Source};
use crate::factored::factored;
use crate::inline::may_inline;
use crate::kept::Kept;
use crate::mixed::mixed;
use crate::search::Candidate;
use crate::state::State;
use crate::tuning::LEAST_SHARE;
use halide_core::ids::FuncId;
use halide_sched::schedule::Schedule;
use std::collections::{BTreeMap, BTreeSet};

/// Beginnings that may be better than the one that led to a candidate. Those come first that concern the most time.
pub(crate) fn beginnings(candidate: &Candidate, begins: &Schedule, kept: &Kept, pricer: &Pricer<'_>) -> Vec<Schedule> {
    let mut found = copies(pricer.dag, candidate, begins, kept);
    found.extend(packed(candidate, begins, kept, pricer));
    found.extend(factored(candidate, begins, kept, pricer));
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, begins)| begins).collect()
}

/// Beginnings in which an input is copied whose rows share the sets of caches, with the time that it takes longer for
/// that.
fn packed(candidate: &Candidate, begins: &Schedule, kept: &Kept, pricer: &Pricer<'_>) -> Vec<(f64, Schedule)> {
    let (dag, state) = (pricer.dag, &candidate.state);
    let time = |mut pricer: Pricer<'_>| -> f64 {
        let roots = candidate.groups.enumerate().filter(|(_, group)| group.is_some());
        roots.map(|(root, _)| pricer.group(state, root)).sum()
    };
    let (whole, mut found) = (time(pricer.afresh(None)), Vec::new());
    for image in dag.pipeline.images.ids() {
        let reads = |func: &FuncId| {
            let mut reads = dag.funcs[*func].stages.iter().flat_map(|stage| &stage.reads);
            reads.any(|read| read.of == Source::Image(image))
        };
        let consumers: Vec<FuncId> = dag.pipeline.order.iter().copied().filter(reads).collect();
        let more = whole - time(pricer.afresh(Some(image)));
        if more < LEAST_SHARE * whole || consumers.iter().any(|func| kept.has(*func)) {
            continue;
        }
        let names: Vec<String> = consumers.iter().map(|func| dag.pipeline.funcs[*func].name.clone()).collect();
        let mut begins = begins.clone();
        drop(begins.func(dag.pipeline.images[image].name.as_str()).in_(names));
        found.push((more, begins));
    }
    found
}

/// Beginnings of schedules in which a Func that several groups read is computed for one of them by itself: a Func
/// outside of all loops, or one that is substituted, at points about which data decide for some consumers, and at all
/// points for others. With the time of its groups.
fn copies(dag: &Dag<'_>, candidate: &Candidate, begins: &Schedule, kept: &Kept) -> Vec<(f64, Schedule)> {
    let (state, whole) = (&candidate.state, candidate.ns());
    let mixed = mixed(dag, &|func| state.is_inlined(func));
    let mut found: Vec<(f64, Schedule)> = Vec::new();
    for (func, own) in candidate.groups.enumerate().filter(|(func, _)| !kept.has(*func)) {
        let ns = match own {
            Some(ns) => *ns,
            None if state.is_inlined(func) && mixed[func] => {
                let roots = state.readers(dag, func).into_iter().map(|reader| state.root(reader.0));
                let roots: BTreeSet<FuncId> = roots.collect();
                roots.into_iter().filter_map(|root| candidate.groups[root]).sum()
            }
            None => continue,
        };
        let is_free = !dag.funcs[func].is_output && may_inline(dag.pipeline, func);
        if is_free
            && ns >= LEAST_SHARE * whole
            && let Some(consumers) = part(dag, state, func)
        {
            let mut begins = begins.clone();
            drop(begins.func(dag.pipeline.funcs[func].name.as_str()).clone_in(consumers));
            found.push((ns, begins));
        }
    }
    found
}

/// The consumers of a Func that are parts of one group, if others are not.
fn part(dag: &Dag<'_>, state: &State, func: FuncId) -> Option<Vec<String>> {
    let direct: BTreeSet<FuncId> = dag.funcs[func].readers.iter().map(|reader| reader.0).collect();
    // Consumers by the groups that they are part of.
    let mut parts: BTreeMap<Vec<FuncId>, Vec<String>> = BTreeMap::new();
    for reader in direct {
        let of: BTreeSet<FuncId> = match state.is_inlined(reader) {
            true => state.readers(dag, reader).into_iter().map(|r| state.root(r.0)).collect(),
            false => BTreeSet::from([state.root(reader)]),
        };
        let name = dag.pipeline.funcs[reader].name.clone();
        parts.entry(of.into_iter().collect()).or_default().push(name);
    }
    // The last part keeps the Func itself.
    parts.into_values().rev().nth(1)
}

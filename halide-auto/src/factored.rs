//! Beginnings of schedules in which a reduction is done in parts (`rfactor`), so that threads share it.

use crate::cost::Pricer;
use crate::dag::{StageNode, StageVar, extent, pieces};
use crate::emit::Fresh;
use crate::kept::Kept;
use crate::search::Candidate;
use crate::state::Place;
use crate::tuning::{LEAST_SHARE, PARTS};
use halide_sched::schedule::Schedule;

/// Beginnings in which a reduction that no threads share is done in parts, each by one of them, with the time of the
/// Func.
pub(crate) fn factored(
    candidate: &Candidate,
    begins: &Schedule,
    kept: &Kept,
    pricer: &Pricer<'_>,
) -> Vec<(f64, Schedule)> {
    let (dag, state, whole) = (pricer.dag, &candidate.state, candidate.ns());
    let threads = i64::from(pricer.threads());
    let mut found = Vec::new();
    for (func, ns) in candidate.groups.enumerate().filter_map(|(func, ns)| Some((func, (*ns)?))) {
        if threads == 1 || ns < LEAST_SHARE * whole || kept.has(func) || state.place(func) != Place::Root {
            continue;
        }
        let Some(region) = pricer.roots.get(&func) else { continue };
        for (n, stage) in dag.funcs[func].stages.iter().enumerate().skip(1) {
            let domain = dag.domain((func, n), region);
            let shape = &state.choices[func].shapes[n];
            let is_shared = !pricer.shared((func, n), shape, &shape.loops(&domain)).is_empty();
            let Some(var) = reduction(stage, &domain, threads).filter(|_| !is_shared && stage.any_order) else {
                continue;
            };
            let used: Vec<String> = stage.vars.iter().map(|v| v.name.clone()).collect();
            let mut fresh = Fresh::new(&used);
            let name = stage.vars[var].name.as_str();
            let [outer, inner, part] = ["o", "i", "p"].map(|suffix| fresh.name(name, suffix));
            let of_part = pieces(extent(domain[var]), threads * PARTS);
            let mut begins = begins.clone();
            let update = begins.func(dag.pipeline.funcs[func].name.as_str()).update(n - 1);
            drop(update.split(name, &outer, &inner, of_part).rfactor(outer.as_str(), part.as_str()));
            found.push((ns, begins));
        }
    }
    found
}

/// The variable of a reduction whose parts threads can do: the last one, whose loop is the outermost, that is long
/// enough.
fn reduction(stage: &StageNode, domain: &[(i64, i64)], threads: i64) -> Option<usize> {
    let is_long = |(n, var): &(usize, &StageVar)| {
        var.dim.is_none() && !var.tells_apart && extent(domain[*n]) >= 2 * threads * PARTS
    };
    stage.vars.iter().enumerate().rev().find(is_long).map(|(n, _)| n)
}

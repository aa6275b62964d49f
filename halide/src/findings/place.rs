//! Places for Funcs, and what they cost.

use super::edits::{Edits, marked, said};
use super::finding::{Edit, Step};
use super::scene::Definition;
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::Kind;
use halide_ir::ForKind;
use halide_sched::nest::{Item, Nest};
use halide_sched::plan::{Level, reachable};
use halide_sched::schedule::{Amount, LoopKind, Site, Subject, Tail, Verb};
use std::collections::BTreeSet;

/// The rows of a strip into which a loop is cut for what is computed in it: enough that borders cost little.
const ROWS: i64 = 32;

/// A candidate place: the steps to it, and the words for it.
pub(super) struct Place {
    pub(super) steps: Vec<Step>,
    pub(super) words: String,
}

pub(super) fn name<'a>(edits: &'a Edits<'_>, func: FuncId) -> &'a str {
    &edits.scene.plan.pipeline.funcs[func].name
}

/// The place with the least work and traffic of all; those that the compiler refuses are left out.
pub(super) fn best(edits: &Edits<'_>, places: Vec<Place>) -> Option<(Edit, String)> {
    let mut best: Option<(f64, Edit, String)> = None;
    for Place { steps, words } in places {
        let Some((edit, nest)) = edits.costed(steps) else { continue };
        let cost = cost(edits, &nest);
        if best.as_ref().is_none_or(|(least, ..)| cost < least * 0.999) {
            best = Some((cost, edit, words));
        }
    }
    let own = cost(edits, &edits.scene.nest);
    best.filter(|(cost, ..)| *cost < own).map(|(_, edit, words)| (edit, words))
}

/// Operations, and those that memory would do in the time of what leaves the caches: what is stored in more than a
/// cache has goes to memory and comes back.
fn cost(edits: &Edits<'_>, nest: &Nest) -> f64 {
    /// Operations for a byte that goes to memory or comes from there.
    const OF_A_BYTE: f64 = 1.0;
    let cache = cache_bytes(edits);
    let (mut bytes, mut work) = (0.0, 0.0);
    nest.for_each(&mut |item| match item {
        Item::Store(store) if store.bytes > cache => bytes += 2.0 * store.bytes * store.allocations,
        Item::Points(points) => work += points.points * f64::from(points.operations + points.reads + 1),
        _ => {}
    });
    work + bytes * OF_A_BYTE
}

/// The bytes of the cache that a core has for itself.
pub(super) fn cache_bytes(edits: &Edits<'_>) -> f64 {
    let (machine, threads) = (&edits.scene.machine, edits.scene.threads);
    machine.caches.get(1).or(machine.caches.first()).map_or(1e6, |cache| cache.usable(threads) as f64)
}

/// Operations of all points.
pub(super) fn work_of(nest: &Nest) -> f64 {
    let mut work = 0.0;
    nest.for_each(&mut |item| {
        if let Item::Points(points) = item {
            work += points.points * f64::from(points.operations + points.reads + 1);
        }
    });
    work
}

/// The Funcs whose definitions read another, directly or through Funcs that are substituted.
pub(super) fn readers(edits: &Edits<'_>, func: FuncId) -> BTreeSet<FuncId> {
    let plan = edits.scene.plan;
    let (mut readers, mut todo) = (BTreeSet::new(), vec![func]);
    while let Some(of) = todo.pop() {
        for &other in plan.pipeline.order.iter().filter(|other| **other != of) {
            if reads(edits, other, of) == 0 {
                continue;
            }
            match plan.funcs[other].compute {
                Level::Inline => todo.push(other),
                _ => drop(readers.insert(other)),
            }
        }
    }
    readers
}

/// The definition of the one Func that reads another, if that has no other one.
pub(super) fn reader<'a>(edits: &'a Edits<'_>, func: FuncId) -> Option<&'a Definition> {
    let plan = edits.scene.plan;
    let [reader] = readers(edits, func).into_iter().collect::<Vec<_>>()[..] else { return None };
    // Several definitions are of one loop nest each; only one has loops that are around all reads.
    let mut all = edits.scene.definitions.iter().filter(|d| d.of.0 == reader);
    let only = all.next().filter(|_| all.next().is_none());
    only.filter(|host| host.is_plain && plan.funcs[host.of.0].stages.len() == 1)
}

/// The distinct reads of a Func in all definitions of another.
pub(super) fn reads(edits: &Edits<'_>, reader: FuncId, of: FuncId) -> usize {
    let pipeline = &edits.scene.plan.pipeline;
    let roots = pipeline.funcs[reader].stages.iter().flat_map(|stage| stage.args.iter().chain(&stage.values));
    let roots: Vec<_> = roots.copied().collect();
    let is_read = |id: &ExprId| matches!(pipeline.exprs[*id].kind, Kind::Call { func, .. } if func == of);
    reachable(pipeline, &roots).into_iter().filter(is_read).count()
}

/// Places in the loops of a reader, the outermost first: loops that there are, and its rows cut in strips.
pub(super) fn inner_places(edits: &Edits<'_>, func: FuncId, host: &Definition) -> Vec<Place> {
    let scene = edits.scene;
    let name = name(edits, func).to_string();
    let unshared =
        |stage: usize| Step::Unmark(Subject { stage, ..Subject::func(name.as_str()) }, LoopKind::Parallel, None);
    let unshared: Vec<Step> = (0..scene.plan.funcs[func].stages.len()).map(unshared).collect();
    let at = |var: &str| {
        let site = Site { func: host.func.clone(), stage: host.of.1, var: var.to_string() };
        Step::Place(name.clone(), vec![Verb::ComputeAt(site)])
    };
    let mut places = Vec::new();
    for own in host.own().filter(|own| matches!(own.kind, ForKind::Serial | ForKind::Parallel) && own.trip() > 1.0) {
        let Some(var) = &own.var else { continue };
        let steps = [unshared.clone(), vec![at(var)]].concat();
        places.push(Place { steps, words: format!("compute it in `{}`", own.name) });
    }
    let rows = host.own().find(|own| own.trip() > 2.0 * ROWS as f64 && own.kind != ForKind::Vectorized);
    if let Some(var) = rows.and_then(|rows| rows.var.clone()).filter(|var| !scene.is_used(host.of, var)) {
        let is_shared = rows.is_some_and(|rows| rows.kind == ForKind::Parallel);
        let (outer, inner) = (fresh(host, &var, "o"), fresh(host, &var, "i"));
        let factor = Amount::Const(ROWS);
        let split = Verb::Split { var: var.clone(), outer: outer.clone(), inner, factor, tail: Tail::Auto };
        let mut steps = unshared;
        if is_shared {
            let on = Some(said(scene.stage(host.of), &var));
            steps.push(Step::Unmark(host.subject.clone(), LoopKind::Parallel, on));
        }
        steps.push(Step::Add(host.subject.clone(), split));
        if is_shared {
            steps.push(marked(&host.subject, LoopKind::Parallel, &outer));
        }
        steps.push(at(&outer));
        places.push(Place { steps, words: format!("cut `{var}` in strips of {ROWS} and compute it in each") });
    }
    places
}

/// A new name for a part of a loop.
fn fresh(host: &Definition, var: &str, suffix: &str) -> String {
    let base: String = var.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    let mut name = base + suffix;
    while host.own().any(|own| own.var.as_ref() == Some(&name)) {
        name += suffix;
    }
    name
}

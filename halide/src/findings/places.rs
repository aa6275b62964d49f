//! Rules about places: points that are computed again and again, and values that leave the caches before they are read.

use super::edits::{Edits, said};
use super::finding::{Edit, Finding, Step};
use super::rule::Rule;
use super::scene::{Around, Definition};
use halide_core::ids::FuncId;
use halide_core::pipeline::Kind;
use halide_ir::ForKind;
use halide_sched::nest::{Item, Nest};
use halide_sched::plan::{Level, reachable};
use halide_sched::schedule::{Amount, LoopKind, Site, Subject, Tail, Verb};
use std::collections::BTreeSet;

/// The rows of a strip into which a loop is cut for what is computed in it: enough that borders cost little.
const ROWS: i64 = 32;

/// The work that another place may add, as a factor.
const MOST_MORE: f64 = 1.25;

/// The Funcs without a place that are tried at one, those that are read most.
const MOST_INLINED: usize = 8;

/// The part of the work from which on a place is looked at.
const LEAST_WORK: f64 = 0.01;

/// Finds Funcs at places that cost more than others.
pub(super) fn find(edits: &Edits<'_>) -> Vec<Finding> {
    let (plan, mut found) = (edits.scene.plan, Vec::new());
    for &func in plan.pipeline.order.iter().filter(|func| !plan.pipeline.outputs.contains(func)) {
        found.extend(match &plan.funcs[func].compute {
            Level::Root => far_out(edits, func),
            Level::At { .. } => recompute(edits, func),
            Level::Inline => None,
        });
    }
    found.extend(inlined(edits));
    found
}

/// A candidate place: the steps to it, and the words for it.
struct Place {
    steps: Vec<Step>,
    words: String,
}

/// The definitions of a Func.
fn definitions<'a>(edits: &'a Edits<'_>, func: FuncId) -> impl Iterator<Item = &'a Definition> {
    edits.scene.definitions.iter().filter(move |d| d.of.0 == func)
}

fn name<'a>(edits: &'a Edits<'_>, func: FuncId) -> &'a str {
    &edits.scene.plan.pipeline.funcs[func].name
}

/// A Func that is computed in a loop, and more often than its points are needed.
fn recompute(edits: &Edits<'_>, func: FuncId) -> Option<Finding> {
    let (scene, name) = (edits.scene, name(edits, func));
    let (points, least) = (scene.nest.points(name), scene.least.as_ref()?.points(name));
    let times = points / least.max(1.0);
    let work = scene.part(definitions(edits, func));
    if times < Rule::Recompute.threshold() || work < LEAST_WORK {
        return None;
    }
    let Level::At { func: host, stage, label } = scene.plan.funcs[func].compute else { return None };
    let host = scene.definitions.iter().find(|d| d.of == (host, stage))?;
    let of = scene.stage(host.of);
    let at = of.loops.iter().find(|l| of.labels[l.var] == label).map(|l| of.vars[l.var].name.clone())?;
    let outside: Vec<&Around> = host.own().take_while(|own| own.var.as_ref() != Some(&at)).collect();
    let site = |around: &Around| Some(Site { func: host.func.clone(), stage, var: around.var.clone()? });
    let mut places = Vec::new();
    for around in outside.iter().rev() {
        let Some(site) = site(around) else { continue };
        // Values are kept over iterations of one thread.
        if around.kind == ForKind::Serial {
            let words = format!("keep its values over iterations by `store_at({}, {})`", host.func, site.var);
            places.push(Place { steps: vec![Step::Add(Subject::func(name), Verb::StoreAt(site.clone()))], words });
        }
        let words = format!("compute it further out, in `{}`", around.name);
        places.push(Place { steps: vec![Step::Place(name.to_string(), vec![Verb::ComputeAt(site)])], words });
    }
    let root = Step::Place(name.to_string(), vec![Verb::ComputeRoot]);
    places.push(Place { steps: vec![root], words: "compute it outside of all loops".to_string() });
    let best = best(edits, places);
    let remedy = best.as_ref().map_or("compute it further out", |(_, words)| words);
    let text = format!(
        "`{name}` is computed {times:.1} times at each point that is needed, in loop `{}.{at}`; {remedy}",
        host.name
    );
    Some(Finding {
        rule: Rule::Recompute,
        func: Some(name.to_string()),
        at_loop: Some(format!("{}.{at}", host.name)),
        value: times,
        threshold: Rule::Recompute.threshold(),
        work,
        share: None,
        text,
        edit: best.map(|(edit, _)| edit),
    })
}

/// The place with the least work and traffic of all; those that the compiler refuses are left out.
fn best(edits: &Edits<'_>, places: Vec<Place>) -> Option<(Edit, String)> {
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
fn cache_bytes(edits: &Edits<'_>) -> f64 {
    let (machine, threads) = (&edits.scene.machine, edits.scene.threads);
    machine.caches.get(1).or(machine.caches.first()).map_or(1e6, |cache| cache.usable(threads) as f64)
}

/// A Func outside of all loops whose values leave the caches before they are read, and which could be computed in a
/// loop of the one Func that reads it.
fn far_out(edits: &Edits<'_>, func: FuncId) -> Option<Finding> {
    let (scene, name) = (edits.scene, name(edits, func));
    let stored = scene.stores.iter().filter(|store| store.func == func);
    let bytes = stored.map(|store| store.bytes).fold(0.0, f64::max);
    let cache = cache_bytes(edits);
    if bytes <= cache * Rule::StoredFarOut.threshold() {
        return None;
    }
    let host = reader(edits, func)?;
    let is_ours = |d: &&Definition| d.of.0 == func || d.of == host.of;
    let places = inner_places(edits, func, host);
    let now = work_of(&scene.nest);
    let mut found = None;
    for Place { steps, words } in places {
        let Some((edit, nest)) = edits.costed(steps) else { continue };
        let still = nest_bytes(&nest, func);
        if work_of(&nest) <= now * MOST_MORE && still <= cache {
            found = Some((edit, words, still));
            break;
        }
    }
    let (edit, words, still) = found?;
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let text = format!(
        "`{name}` is stored whole, {:.1} MiB, which leaves the caches before `{}` reads it; {words}: {:.2} MiB at a time",
        mib(bytes),
        host.name,
        mib(still)
    );
    Some(Finding {
        rule: Rule::StoredFarOut,
        func: Some(name.to_string()),
        at_loop: None,
        value: bytes / cache,
        threshold: Rule::StoredFarOut.threshold(),
        work: scene.part(scene.definitions.iter().filter(is_ours)),
        share: None,
        text,
        edit: Some(edit),
    })
}

/// Operations of all points.
fn work_of(nest: &Nest) -> f64 {
    let mut work = 0.0;
    nest.for_each(&mut |item| {
        if let Item::Points(points) = item {
            work += points.points * f64::from(points.operations + points.reads + 1);
        }
    });
    work
}

/// Bytes of the largest allocation of a Func.
fn nest_bytes(nest: &Nest, func: FuncId) -> f64 {
    let mut most: f64 = 0.0;
    nest.for_each(&mut |item| match item {
        Item::Store(store) if store.func == func => most = most.max(store.bytes),
        _ => {}
    });
    most
}

/// The last definition of the one Func whose definitions read another, directly or through Funcs that are substituted.
fn reader<'a>(edits: &'a Edits<'_>, func: FuncId) -> Option<&'a Definition> {
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
    let [reader] = readers.into_iter().collect::<Vec<_>>()[..] else { return None };
    // Several definitions are of one loop nest each; only one has loops that are around all reads.
    let mut all = edits.scene.definitions.iter().filter(|d| d.of.0 == reader);
    let only = all.next().filter(|_| all.next().is_none());
    only.filter(|host| host.is_plain && plan.funcs[host.of.0].stages.len() == 1)
}

/// The distinct reads of a Func in all definitions of another.
fn reads(edits: &Edits<'_>, reader: FuncId, of: FuncId) -> usize {
    let pipeline = &edits.scene.plan.pipeline;
    let roots = pipeline.funcs[reader].stages.iter().flat_map(|stage| stage.args.iter().chain(&stage.values));
    let roots: Vec<_> = roots.copied().collect();
    let is_read = |id: &halide_core::ids::ExprId| matches!(pipeline.exprs[*id].kind, Kind::Call { func, .. } if func == of);
    reachable(pipeline, &roots).into_iter().filter(is_read).count()
}

/// Places in the loops of a reader, the outermost first: loops that there are, and its rows cut in strips.
fn inner_places(edits: &Edits<'_>, func: FuncId, host: &Definition) -> Vec<Place> {
    let scene = edits.scene;
    let name = name(edits, func).to_string();
    let unshared = |stage: usize| Step::Unmark(Subject { stage, ..Subject::func(name.as_str()) }, LoopKind::Parallel, None);
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
            steps.push(super::edits::marked(&host.subject, LoopKind::Parallel, &outer));
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

/// Funcs that are substituted in several reads, where computing them once is less work.
fn inlined(edits: &Edits<'_>) -> Vec<Finding> {
    let (scene, plan) = (edits.scene, edits.scene.plan);
    let mut funcs: Vec<(usize, FuncId)> = Vec::new();
    for &func in plan.pipeline.order.iter().filter(|func| plan.funcs[**func].compute == Level::Inline) {
        let most = plan.pipeline.order.iter().map(|other| reads(edits, *other, func)).max().unwrap_or(0);
        if most > 1 {
            funcs.push((most, func));
        }
    }
    funcs.sort_by_key(|(most, func)| (std::cmp::Reverse(*most), *func));
    funcs.truncate(MOST_INLINED);
    let mut found = Vec::new();
    for (reads, func) in funcs {
        let name = name(edits, func).to_string();
        let at_root = vec![Step::Place(name.clone(), vec![Verb::ComputeRoot])];
        let Some((_, nest)) = edits.costed(at_root.clone()) else { continue };
        let times = work_of(&scene.nest) / work_of(&nest).max(1.0);
        if times < Rule::Recompute.threshold() {
            continue;
        }
        let mut places = vec![Place { steps: at_root, words: "compute it outside of all loops".to_string() }];
        if let Some(host) = reader(edits, func) {
            places.extend(inner_places(edits, func, host));
        }
        let Some((edit, words)) = best(edits, places) else { continue };
        let text =
            format!("`{name}` is computed at each of {reads} reads, which makes all work {times:.1} times as much; {words}");
        found.push(Finding {
            rule: Rule::Recompute,
            func: Some(name),
            at_loop: None,
            value: times,
            threshold: Rule::Recompute.threshold(),
            work: 1.0 - 1.0 / times,
            share: None,
            text,
            edit: Some(edit),
        });
    }
    found
}

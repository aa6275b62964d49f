//! The rule about points that are computed again and again.

use super::edits::Edits;
use super::finding::{Finding, Step};
use super::place::{Place, best, inner_places, name, reader, readers, reads, work_of};
use super::rule::Rule;
use super::scene::{Around, Definition};
use halide_core::ids::FuncId;
use halide_ir::ForKind;
use halide_sched::plan::Level;
use halide_sched::schedule::{Site, Subject, Verb};
use std::collections::BTreeSet;

/// The Funcs without a place that are tried at one, those that are read most.
const MOST_INLINED: usize = 8;

/// The part of the work from which on a place is looked at.
const LEAST_WORK: f64 = 0.01;

/// Finds Funcs whose points are computed more often than they are needed.
pub(super) fn find(edits: &Edits<'_>) -> Vec<Finding> {
    let plan = edits.scene.plan;
    let inner = plan.pipeline.order.iter().filter(|func| matches!(plan.funcs[**func].compute, Level::At { .. }));
    let mut found: Vec<Finding> = inner.filter_map(|func| recompute(edits, *func)).collect();
    found.extend(inlined(edits));
    found
}

/// The definitions of a Func.
fn definitions<'a>(edits: &'a Edits<'_>, func: FuncId) -> impl Iterator<Item = &'a Definition> {
    edits.scene.definitions.iter().filter(move |d| d.of.0 == func)
}

/// A Func that is computed in a loop, and more often than its points are needed.
fn recompute(edits: &Edits<'_>, func: FuncId) -> Option<Finding> {
    let (scene, name) = (edits.scene, name(edits, func));
    let (points, least) = (scene.nest.points(name), scene.least.as_ref()?.points(name));
    // Funcs that directives make are not known at the root.
    let times = if least > 0.0 { points / least } else { 0.0 };
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
        funcs: BTreeSet::from([name.to_string()]),
        text,
        edit: best.map(|(edit, _)| edit),
    })
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
        let own = name(edits, func).to_string();
        let at_root = vec![Step::Place(own.clone(), vec![Verb::ComputeRoot])];
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
        let text = format!(
            "`{own}` is computed at each of {reads} reads, which makes all work {times:.1} times as much; {words}"
        );
        found.push(Finding {
            rule: Rule::Recompute,
            func: Some(own),
            at_loop: None,
            value: times,
            threshold: Rule::Recompute.threshold(),
            work: 1.0 - 1.0 / times,
            share: None,
            funcs: readers(edits, func).into_iter().map(|reader| name(edits, reader).to_string()).collect(),
            text,
            edit: Some(edit),
        });
    }
    found
}

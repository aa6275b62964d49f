//! Rules about threads: loops that are not shared, tasks that are too few or too short.

use super::edits::{Edits, cut, marked, marked_by, order_with, unmarked, with_factor};
use super::finding::{Edit, Finding, Step};
use super::rule::Rule;
use super::scene::{Around, Definition, Scene};
use halide_ir::{ForKind, LoopId};
use halide_sched::schedule::{Amount, Subject};
use std::collections::BTreeSet;

/// The tasks of a loop for each thread: few make threads wait for the last one, and many cost their starts.
const TASKS: f64 = 4.0;

/// The tasks for each thread from which on iterations are taken together.
const MANY_TASKS: f64 = 16.0;

/// The time of a loop from which on threads are worth it, in nanoseconds: that of a few tasks which are not short.
const WORTH_THREADS: f64 = 50_000.0;

/// Finds what threads wait for.
pub(super) fn find(edits: &Edits<'_>) -> Vec<Finding> {
    if edits.scene.threads < 2 {
        return Vec::new();
    }
    let mut found = serial(edits);
    found.extend(tasks(edits));
    found
}

/// Loops outside of all others in which nothing is parallel.
fn serial(edits: &Edits<'_>) -> Vec<Finding> {
    let (scene, mut found, mut seen) = (edits.scene, Vec::new(), BTreeSet::new());
    for definition in &scene.definitions {
        let Some(outer) = definition.around.first().filter(|outer| seen.insert(outer.id)) else { continue };
        let is_shared = scene.inside(outer).any(|d| d.is_in(ForKind::is_threads));
        let time = scene.nanoseconds(outer);
        // The definition whose loop it is may come after those that are computed in it.
        let host = scene.inside(outer).find(|d| d.own().next().is_some_and(|own| own.id == outer.id));
        let Some(host) = host.filter(|_| !is_shared && time >= WORTH_THREADS) else { continue };
        let (text, edit) = match edits.first(host_steps(scene, host)) {
            Some(edit) => ("; share a loop", Some(edit)),
            None if !host.is_plain => {
                ("; its loops are those of a specialisation or of a group: share one there", None)
            }
            None => ("; no loop of it can be shared as it is, so give the work to others or split the reduction", None),
        };
        found.push(Finding {
            rule: Rule::NothingParallel,
            func: Some(host.func.clone()),
            at_loop: Some(outer.name.clone()),
            value: 0.0,
            threshold: Rule::NothingParallel.threshold(),
            work: scene.part(scene.inside(outer)),
            share: None,
            funcs: scene.inside(outer).map(|d| d.func.clone()).collect(),
            text: format!(
                "`{}` has no parallel loop: about {:.0} us run on one of {} threads{text}",
                host.name,
                time / 1e3,
                scene.threads
            ),
            edit,
        });
    }
    found
}

/// The ways to share a loop of a definition, the best one first.
fn host_steps(scene: &Scene<'_>, host: &Definition) -> Vec<Vec<Step>> {
    if !host.is_plain {
        return Vec::new();
    }
    let least = TASKS * f64::from(scene.threads);
    let mut loops: Vec<&Around> = host.own().filter(|around| around.kind == ForKind::Serial).collect();
    // Long enough ones first, from outside in; a stable sort.
    loops.sort_by_key(|around| around.trip() < least);
    let outermost = host.own().next().map(|around| around.id);
    let mut all = Vec::new();
    for around in loops.into_iter().filter(|around| around.trip() >= 2.0) {
        let Some(var) = &around.var else { continue };
        let mut steps = Vec::new();
        if Some(around.id) != outermost {
            steps.push(Step::Order(host.subject.clone(), outermost_order(host, var)));
        }
        let many = around.trip() / (MANY_TASKS * f64::from(scene.threads));
        if many >= 2.0 && !scene.is_used(host.of, var) {
            let chunk = Amount::Const(power_of_two(many.min(1e6) as i64));
            let shared = marked_by(&host.subject, ForKind::Parallel, var, chunk);
            all.push(steps.iter().cloned().chain([shared]).collect());
        }
        steps.push(marked(&host.subject, ForKind::Parallel, var));
        all.push(steps);
    }
    all
}

/// The loops of a definition, innermost first, with one of them outermost.
fn outermost_order(host: &Definition, last: &str) -> Vec<String> {
    let mut order: Vec<String> = match host.own().next_back().and_then(|around| around.var.clone()) {
        Some(inner) => order_with(host, &inner),
        None => Vec::new(),
    };
    order.retain(|var| var != last);
    order.push(last.to_string());
    order
}

/// The largest power of two that is not more.
fn power_of_two(number: i64) -> i64 {
    1 << number.max(1).ilog2()
}

/// Parallel loops whose tasks are too few or too short.
fn tasks(edits: &Edits<'_>) -> Vec<Finding> {
    let (scene, mut found, mut seen) = (edits.scene, Vec::new(), BTreeSet::<LoopId>::new());
    for definition in &scene.definitions {
        let shared: Vec<&Around> = definition.around.iter().filter(|a| a.kind == ForKind::Parallel).collect();
        let (Some(first), Some(last)) = (shared.first(), shared.last()) else { continue };
        let Some(host) = host_of(scene, last).filter(|_| seen.insert(last.id)) else { continue };
        let tasks: f64 = shared.iter().map(|around| around.trip()).product();
        let (time, each) = (scene.nanoseconds(last), scene.nanoseconds_each(last));
        let work = scene.part(scene.inside(last));
        let finding = |rule: Rule, value: f64, text: String, edit: Option<Edit>| Finding {
            rule,
            func: Some(host.func.clone()),
            at_loop: Some(last.name.clone()),
            value,
            threshold: rule.threshold(),
            work,
            share: None,
            funcs: scene.inside(last).map(|d| d.func.clone()).collect(),
            text,
            edit,
        };
        let threads = f64::from(scene.threads);
        if tasks < threads && time >= WORTH_THREADS && first.entries <= 1.0 {
            let edit = edits.first(finer(edits, host, last, tasks));
            let text = format!(
                "`{}` gives {tasks:.0} tasks to {threads:.0} threads; make them smaller, or share another loop",
                last.name
            );
            found.push(finding(Rule::FewTasks, tasks / threads, text, edit));
        }
        let is_short = each < Rule::ShortTasks.threshold() * 1e3;
        // Few tasks stay as they are, but for those of a parallel loop in another one.
        if is_short && tasks >= 2.0 * threads && (last.entries > 1.0 || tasks >= 2.0 * TASKS * threads) {
            let edit = edits.first(coarser(edits, host, last, (each, tasks)));
            let text = format!(
                "tasks of `{}` take about {:.1} us, which is little beside starting one; take iterations together",
                last.name,
                each / 1e3
            );
            found.push(finding(Rule::ShortTasks, each / 1e3, text, edit));
        }
    }
    found
}

/// The definition whose own loop it is.
fn host_of<'s>(scene: &'s Scene<'_>, around: &Around) -> Option<&'s Definition> {
    scene.inside(around).find(|d| d.is_plain && d.own().any(|own| own.id == around.id))
}

/// The ways to more tasks: smaller chunks, or another parallel loop.
fn finer(edits: &Edits<'_>, host: &Definition, around: &Around, tasks: f64) -> Vec<Vec<Step>> {
    let Some(var) = var_of(host, around) else { return Vec::new() };
    let (mut all, wanted) = (Vec::new(), TASKS * f64::from(edits.scene.threads));
    if let Some((directive, factor)) = cut(edits.schedule(), &host.subject, &var) {
        let less = (factor as f64 * tasks / wanted) as i64;
        all.push(vec![Step::Replace(directive.clone(), with_factor(&directive.verb, power_of_two(less)))]);
    }
    let next = host.own().skip_while(|own| own.id != around.id).nth(1).filter(|own| own.kind == ForKind::Serial);
    let next = next.and_then(|own| own.var.clone());
    all.extend(next.map(|var| vec![marked(&host.subject, ForKind::Parallel, &var)]));
    all
}

/// The ways to longer tasks: larger chunks, or one parallel loop less.
fn coarser(edits: &Edits<'_>, host: &Definition, around: &Around, (each, tasks): (f64, f64)) -> Vec<Vec<Step>> {
    let Some(var) = var_of(host, around) else { return Vec::new() };
    let (stage, wanted) = (edits.scene.stage(host.of), TASKS * f64::from(edits.scene.threads));
    let most = (tasks / wanted).max(1.0);
    let chunk = (Rule::ShortTasks.threshold() * 1e3 / each.max(1.0)).ceil().min(most);
    let chunk = power_of_two(chunk.min(1e9) as i64);
    if around.entries > 1.0 {
        return vec![unmarked(host, stage, ForKind::Parallel, &var)];
    }
    let larger = cut(edits.schedule(), &host.subject, &var).map(|(directive, factor)| {
        vec![Step::Replace(directive.clone(), with_factor(&directive.verb, factor.saturating_mul(chunk)))]
    });
    let subject: &Subject = &host.subject;
    let fresh = || {
        let mut steps = unmarked(host, stage, ForKind::Parallel, &var);
        steps.push(marked_by(subject, ForKind::Parallel, &var, Amount::Const(chunk)));
        steps
    };
    larger.into_iter().chain([fresh()]).collect()
}

fn var_of(host: &Definition, around: &Around) -> Option<String> {
    host.own().find(|own| own.id == around.id).and_then(|own| own.var.clone())
}

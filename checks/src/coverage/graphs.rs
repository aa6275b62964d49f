//! Updates that read themselves, groups of groups, wrappers of wrappers, folds, arms, promises and large factors.

use super::class::{Class, KINDS, kinds};
use super::coordinates::inside;
use crate::case::Case;
use halide::plan::{Level, Plan};
use halide::schedule::{Amount, Condition, LoopKind, Verb, clone_name, wrapper_name};
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::{Kind, PipelineData};
use halide_testing::schedules::arms::conditions_of;

const UPDATES: &str = "updates by loops";
const GROUPS: &str = "groups";
const WRAPPERS: &str = "wrappers";
const FOLDS: &str = "storage outside of loops that fill it";
const ARMS: &str = "specialisations by conditions of the algorithm";
const PROMISES: &str = "promises";
const FAR: &str = "factors above 20";

const OWN: [&str; 4] =
    ["predicate of its own elements", "elements of its own tuple", "coordinates of data", "reduction"];
const MEMBERS: [&str; 4] = ["member", "member of a member, fewer loops", "as many loops", "more loops"];
const REWRITES: [&str; 9] = [
    "wrapper of a wrapper",
    "wrapper for a wrapper",
    "wrapper of a copy",
    "wrapper for a copy",
    "copy of a wrapper",
    "copy for a wrapper",
    "copy of a copy",
    "copy for a copy",
    TWO,
];
const TWO: &str = "two of one Func";
const FILLED: [&str; 7] = [
    "innermost loop",
    "loops inside",
    "explicit fold",
    "vectorized pieces",
    "unrolled pieces",
    "split pieces",
    "unrolled consumer",
];
const CHOSEN: [&str; 4] = ["the same", "the opposite", "with another", "or another"];

pub(super) fn listed(all: &mut Vec<Class>) {
    all.extend(OWN.iter().flat_map(|own| KINDS.map(|kind| (UPDATES, format!("{own}, {kind}")))));
    all.extend(MEMBERS.map(|m| (GROUPS, m.to_string())));
    all.extend(REWRITES.map(|r| (WRAPPERS, r.to_string())));
    all.extend(FILLED.map(|f| (FOLDS, f.to_string())));
    all.extend(CHOSEN.map(|c| (ARMS, c.to_string())));
    for promise in ["bound", "bound_extent", "align_bounds", "align_extent"] {
        all.extend(["whole run", "iteration"].map(|of| (PROMISES, format!("{promise} of a {of}"))));
    }
    all.extend(["split", "vectorize", "unroll", "parallel"].map(|word| (FAR, word.to_string())));
}

pub(super) fn classes(case: &Case, plan: &Plan, found: &mut Vec<Class>) {
    updates(plan, found);
    groups(plan, found);
    wrappers(case, found);
    folds(plan, found);
    arms(case, found);
    for directive in case.schedule.directives() {
        let func = plan.pipeline.funcs.enumerate().find(|(_, f)| f.name == directive.subject.func);
        let inside = func.is_some_and(|(id, _)| matches!(plan.funcs[id].compute, Level::At { .. }));
        let promise = match &directive.verb {
            Verb::Bound { .. } => Some("bound"),
            Verb::BoundExtent { .. } => Some("bound_extent"),
            Verb::AlignBounds { .. } => Some("align_bounds"),
            Verb::AlignExtent { .. } => Some("align_extent"),
            _ => None,
        };
        let of = if inside { "iteration" } else { "whole run" };
        found.extend(promise.map(|promise| (PROMISES, format!("{promise} of a {of}"))));
        let far = match &directive.verb {
            Verb::Split { factor: Amount::Const(21..), .. } => Some("split"),
            Verb::Mark { kind, factor: Some(Amount::Const(21..)), .. } => match kind {
                LoopKind::Vectorized => Some("vectorize"),
                LoopKind::Unrolled => Some("unroll"),
                LoopKind::Parallel => Some("parallel"),
                _ => None,
            },
            _ => None,
        };
        found.extend(far.map(|word| (FAR, word.to_string())));
    }
}

/// Returns whether a Func is read in some expressions.
fn reads(p: &PipelineData, roots: &[ExprId], func: FuncId) -> bool {
    let calls = |e: ExprId| matches!(&p.exprs[e].kind, Kind::Call { func: f, .. } if *f == func);
    inside(p, roots.to_vec(), |_| true).into_iter().any(calls)
}

fn updates(plan: &Plan, found: &mut Vec<Class>) {
    let p = &plan.pipeline;
    for (id, func) in p.funcs.enumerate() {
        for (stage, planned) in func.stages.iter().zip(&plan.funcs[id].stages).skip(1) {
            let predicate = stage.rdom.and_then(|r| p.rdoms[r].predicate);
            let own = [
                predicate.is_some_and(|e| reads(p, &[e], id)),
                func.types.len() > 1 && reads(p, &stage.values, id),
                stage
                    .args
                    .iter()
                    .any(|a| !matches!(p.exprs[*a].kind, Kind::Var(_) | Kind::RVar { .. } | Kind::Const(_))),
                stage.rdom.is_some() && reads(p, &stage.values, id),
            ];
            for (name, _) in OWN.iter().zip(own).filter(|(_, is)| *is) {
                found.extend(kinds(planned).iter().map(|kind| (UPDATES, format!("{name}, {kind}"))));
            }
        }
    }
}

fn groups(plan: &Plan, found: &mut Vec<Class>) {
    for stage in plan.funcs.iter().flat_map(|f| &f.stages) {
        let Some(with) = &stage.with else { continue };
        found.push((GROUPS, MEMBERS[0].to_string()));
        let (func, number) = with.leader;
        if let Some(outer) = &plan.funcs[func].stages[number].with {
            let class = match with.align.len().cmp(&outer.align.len()) {
                std::cmp::Ordering::Less => MEMBERS[1],
                std::cmp::Ordering::Equal => MEMBERS[2],
                std::cmp::Ordering::Greater => MEMBERS[3],
            };
            found.push((GROUPS, class.to_string()));
        }
    }
}

fn wrappers(case: &Case, found: &mut Vec<Class>) {
    let mut made: Vec<(usize, bool, &str, String, &[String])> = Vec::new();
    for (at, directive) in case.schedule.directives().iter().enumerate() {
        let func = directive.subject.func.as_str();
        match &directive.verb {
            Verb::In { consumers } => made.push((at, true, func, wrapper_name(func, consumers), consumers)),
            Verb::CloneIn { consumers } => made.push((at, false, func, clone_name(func, consumers), consumers)),
            _ => {}
        }
    }
    let word = |is_wrapper: bool| if is_wrapper { "wrapper" } else { "copy" };
    for (at, is_wrapper, func, _, consumers) in &made {
        for (other, other_is_wrapper, other_func, name, _) in &made {
            let a = format!("{} of a {}", word(*is_wrapper), word(*other_is_wrapper));
            let b = format!("{} for a {}", word(*is_wrapper), word(*other_is_wrapper));
            let (of, by) = (func == name, consumers.contains(name));
            found.extend(of.then_some((WRAPPERS, a)));
            found.extend(by.then_some((WRAPPERS, b)));
            found.extend((at != other && func == other_func).then_some((WRAPPERS, TWO.to_string())));
        }
    }
}

fn folds(plan: &Plan, found: &mut Vec<Class>) {
    for func in plan.funcs.iter() {
        let Level::At { func: host, stage, label } = &func.compute else { continue };
        if func.store == func.compute {
            continue;
        }
        let host = &plan.funcs[*host].stages[*stage];
        let innermost = host.loops.last().is_some_and(|l| host.label(l) == *label);
        let own = kinds(&func.stages[0]);
        let is = [
            innermost,
            !innermost,
            func.storage.iter().any(|d| d.fold.is_some()),
            own.contains(&"vectorized"),
            own.contains(&"unrolled"),
            !func.stages[0].transforms.is_empty(),
            kinds(host).contains(&"unrolled"),
        ];
        found.extend(FILLED.iter().zip(is).filter(|(_, is)| *is).map(|(name, _)| (FOLDS, name.to_string())));
    }
}

fn arms(case: &Case, found: &mut Vec<Class>) {
    let asked = conditions_of(&case.pipeline);
    for directive in case.schedule.directives() {
        let Verb::Specialize(condition) = &directive.verb else { continue };
        let class = match condition {
            c if asked.contains(c) => CHOSEN[0],
            Condition::Not(c) if asked.contains(c) => CHOSEN[1],
            Condition::And(a, b) if asked.contains(a) || asked.contains(b) => CHOSEN[2],
            Condition::Or(a, b) if asked.contains(a) || asked.contains(b) => CHOSEN[3],
            _ => continue,
        };
        found.push((ARMS, class.to_string()));
    }
}

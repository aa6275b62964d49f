//! Advice for a schedule that there is: single steps from it that the model predicts to be faster.

use crate::chosen::Inspect;
use crate::dag::Dag;
use crate::emit;
use crate::error::AutoError;
use crate::kept::{Kept, is_about_loops};
use crate::legal::lowers;
use crate::moves;
use crate::price::{Priceable, Priced, with_state};
use crate::role::Role;
use crate::search::{Candidate, Search};
use crate::state::{Place, Shape, State};
use crate::tuning::{FEW_STEPS, LEAST_PART, MOST_ASKED, MOST_PRICED};
use halide_core::ids::FuncId;
use halide_sched::plan::Plan;
use halide_sched::schedule::{Directive, Schedule, Scope, Verb};
use std::collections::BTreeSet;

/// A step from a schedule to a faster one.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The Funcs whose directives change, consumers first.
    pub changes: Vec<Change>,
    /// The schedule after the step.
    pub schedule: Schedule,
    /// The predicted time before the step in nanoseconds.
    pub before_ns: f64,
    /// The predicted time after it in nanoseconds.
    pub after_ns: f64,
}

/// The directives of a Func, before and after a step; a Func without any is substituted where it is used, unless it is
/// an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The name of the Func.
    pub func: String,
    /// Its directives before.
    pub before: Schedule,
    /// Its directives after.
    pub after: Schedule,
}

/// The price of a schedule, with steps to faster ones.
#[derive(Clone, Debug)]
pub struct Advised {
    /// The price of the schedule.
    pub priced: Priced,
    /// The steps, the best one first.
    pub steps: Vec<Advice>,
}

/// Prices a schedule, and returns at most `count` single steps from it that make its predicted time less, the best one
/// first: a Func at another place, other loops of a definition, or a loop that threads share; of each Func the best one
/// of either kind. Nothing is run. Directives that the model does not know, such as prefetches, stay where no loop
/// changes.
///
/// # Errors
/// As of [`price`](crate::price()).
pub fn advise(question: &Priceable<'_>, count: usize, inspect: &mut Inspect<'_>) -> Result<Advised, AutoError> {
    let schedule = &question.schedule.for_pipeline(question.pipeline);
    let question = &Priceable { schedule, ..*question };
    with_state(question, inspect, |plan, search, own, priced| {
        search.end_after(MOST_PRICED, MOST_ASKED);
        // Steps with the Func and the kind of step that they are of.
        let mut found: Vec<((FuncId, bool), Candidate)> = Vec::new();
        for &func in plan.pipeline.order.iter().rev() {
            let enough = own.ns() - LEAST_PART * search.near_ns(&own, func);
            let kinds = [(false, search.places(&own, func)), (true, loops(search, &own, func))];
            for (is_loops, mut steps) in kinds {
                steps.retain(|step| step.ns() < enough);
                steps.sort_by(|a, b| a.ns().total_cmp(&b.ns()));
                steps.truncate(FEW_STEPS);
                found.extend(steps.into_iter().map(|step| ((func, is_loops), step)));
            }
        }
        found.sort_by(|a, b| a.1.ns().total_cmp(&b.1.ns()));
        // The compiler is asked for the best ones only: lowering takes long.
        let (mut steps, mut told) = (Vec::new(), BTreeSet::new());
        for (of, step) in &found {
            if steps.len() == count {
                break;
            }
            if !told.contains(of)
                && let Some(advice) = advice(question, plan, search, &own, step)
            {
                told.insert(*of);
                steps.push(advice);
            }
        }
        Ok(Advised { priced, steps })
    })
}

/// The steps to other loops of one Func.
fn loops(search: &mut Search<'_>, own: &Candidate, func: FuncId) -> Vec<Candidate> {
    let (dag, target) = (search.pricer.dag, search.target);
    let mut found = Vec::new();
    let Some(region) = search.pricer.region(&own.state, func, 0) else { return found };
    let most_lanes = i64::from(target.vector_bits) / 8 / dag.funcs[func].widths.1.max(1);
    let is_root = own.state.place(func) == Place::Root;
    for stage in 0..dag.funcs[func].stages.len() {
        let (of, domain) = ((func, stage), dag.domain((func, stage), &region));
        let Some(shape) = own.state.shape(of).cloned() else { continue };
        let mut others = moves::shapes(dag, of, &shape, &domain, is_root, most_lanes);
        let first = Shape::first(dag, of, &region, target);
        if shape.vector.is_none() && first.vector.is_some() {
            others.push(Shape { shared: shape.shared, ..first });
        }
        if is_root && !shape.shares(0) {
            others.push(Shape { shared: 1, ..shape.clone() });
        }
        let is_held = |next: &Shape| next.order != shape.order && own.state.has_members(func);
        for next in others.into_iter().filter(|next| !is_held(next)) {
            if search.is_over() {
                return found;
            }
            let mut state = own.state.clone();
            state.choice_mut(func).shapes[stage] = next;
            found.push(search.changed(own, state, &[func]));
        }
    }
    found
}

/// A step as advice, if the compiler takes it.
fn advice(
    question: &Priceable<'_>,
    plan: &Plan,
    search: &Search<'_>,
    own: &Candidate,
    step: &Candidate,
) -> Option<Advice> {
    let dag = search.pricer.dag;
    let write = |state: &State| emit::schedule(&search.pricer, state, search.target, &Kept::default(), &|_| Role::Host);
    let (before, mut after) = (write(&own.state), write(&step.state));
    emit::specialize(&mut after, &search.pricer, &step.state, &Kept::default());
    let funcs = touched(dag, own, step);
    let names: BTreeSet<&str> = funcs.iter().map(|id| plan.pipeline.funcs[*id].name.as_str()).collect();
    let is_touched = |d: &&Directive| names.contains(d.subject.func.as_str());
    // What the model does not write stays: rewrites of the pipeline, and what is said of a Func without its loops.
    let inlined: BTreeSet<&str> = step.state.inlined().map(|id| plan.pipeline.funcs[id].name.as_str()).collect();
    let is_inlined = |d: &Directive| d.verb.scope() != Scope::Graph && inlined.contains(d.subject.func.as_str());
    let stays = |d: &&Directive| !is_touched(d) || !is_inlined(d) && stays(question.schedule, d);
    let given = question.schedule.directives().iter().filter(stays);
    let mut schedule: Schedule = given.cloned().collect::<Vec<Directive>>().into();
    after.directives().iter().filter(is_touched).for_each(|d| schedule.push(d.clone()));
    lowers(question.pipeline, &schedule, question.target).ok()?;
    let of = |schedule: &Schedule, name: &str| -> Schedule {
        let own = schedule.directives().iter().filter(|d| d.subject.func == name);
        own.cloned().collect::<Vec<Directive>>().into()
    };
    let changed = plan.pipeline.order.iter().rev().map(|id| plan.pipeline.funcs[*id].name.as_str());
    let changed = changed.filter(|name| of(&before, name) != of(&after, name));
    let change =
        |name: &str| Change { func: name.to_string(), before: of(question.schedule, name), after: of(&schedule, name) };
    let changes = changed.map(change).collect();
    Some(Advice { changes, schedule, before_ns: own.ns(), after_ns: step.ns() })
}

/// The Funcs of the groups that two states do not have in common.
fn touched(dag: &Dag<'_>, own: &Candidate, step: &Candidate) -> BTreeSet<FuncId> {
    let all = || dag.pipeline.order.iter().copied();
    let changed = all().filter(|id| own.state.choices[*id] != step.state.choices[*id]);
    let roots: BTreeSet<FuncId> = changed.flat_map(|id| [own.state.root(id), step.state.root(id)]).collect();
    let is_in = |id: &FuncId| roots.contains(&own.state.root(*id)) || roots.contains(&step.state.root(*id));
    all().filter(is_in).collect()
}

/// Returns true if a directive says nothing about the place or the loops of its Func, or makes another Func of them.
fn stays(schedule: &Schedule, directive: &Directive) -> bool {
    let is_of = |d: &Directive| d.subject == directive.subject && matches!(d.verb, Verb::Rfactor { .. });
    match &directive.verb {
        // Splits of what is computed in parts come before that.
        Verb::Split { .. } | Verb::Fuse { .. } | Verb::Rename { .. } => {
            let at = schedule.directives().iter().position(|d| d == directive);
            let last = schedule.directives().iter().rposition(is_of);
            last.is_some_and(|last| at.is_some_and(|at| at < last))
        }
        verb => !is_about_loops(verb),
    }
}

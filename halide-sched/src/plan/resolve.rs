//! From names to a plan: the only road.

use super::compute_with::{self, Joined};
use super::diagnostics::{Errors, ScheduleError};
use super::draft::{self, FuncDraft};
use super::gpu;
use super::graph::Graph;
use super::instruct::{self, Funcs};
use super::labels::Labels;
use super::legal;
use super::levels::{self, Levels};
use super::named_instructions::NamedInstructions;
use super::rewrite::rewrite;
use super::rewritten::Rewritten;
use crate::plan::types::{FuncPlan, HeldValues, InstructionCall, Plan};
use crate::schedule::{Schedule, WrittenOut};
use halide_core::externs::ExternDef;
use halide_core::ids::{FuncId, IdVec};
use halide_core::pipeline::{Pipeline, PipelineData};
use halide_ir::target::Target;

/// The plan that `schedule` makes for `pipeline`, or everything that is wrong with the schedule.
///
/// Directives apply in order; where two speak of the same thing, the later one counts. What a schedule does not say:
/// outputs are computed at the root; a Func without updates is substituted where it is used; one with updates is
/// computed in the innermost loop of each stage that uses it. Loops run serially, reduction variables innermost, and
/// dimension 0 innermost among its kind.
pub fn resolve(pipeline: &Pipeline, schedule: &Schedule, target: &Target) -> Result<Plan, Vec<ScheduleError>> {
    let WrittenOut { schedule, origins } = schedule.written_out(pipeline);
    let schedule = &*schedule;
    let mut errors = Errors::new(pipeline, schedule, &origins);
    let instructions = NamedInstructions::new(schedule);
    let rewritten = rewrite(pipeline, schedule, target, &mut errors);
    let mut drafts = draft::apply(&rewritten, (schedule, &instructions), target, &mut errors);
    let Rewritten { pipeline, .. } = rewritten;
    let mut graph = Graph::new(&pipeline);
    let joined = compute_with::join(&graph, &drafts, &mut errors);
    let levels = levels::choose(&mut graph, &mut drafts, &joined, &mut errors);
    legal::check(pipeline.funcs.ids(), &drafts, &levels, &mut errors);
    legal::check_calls(&graph, &drafts, &levels, &mut errors);
    let funcs = Funcs { pipeline: &pipeline, drafts: &drafts, levels: &levels };
    let calls = instruct::check(pipeline.funcs.ids(), &funcs, &instructions, &mut errors);
    // Copies are in places of their own.
    gpu::check(drafts.ids(), &drafts, &levels, target, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into_list());
    }
    let callees = called(&pipeline, &mut drafts, calls);
    let mut labels = Labels::default();
    let rows = drafts.iter().cloned().zip(levels.iter().cloned());
    let mut funcs: IdVec<FuncId, FuncPlan> = rows.map(|(draft, levels)| plan(draft, levels, &mut labels)).collect();
    for &func in joined.groups().iter().flatten() {
        for (stage, plan) in funcs[func].stages.iter_mut().enumerate() {
            plan.with = joined.with((func, stage)).cloned();
            plan.agreements = joined.agreements((func, stage)).to_vec();
            plan.needs = joined.needs((func, stage)).to_vec();
        }
    }
    let pipeline = with_groups_together(graph.finish(), &joined);
    let groups = joined.groups().iter().map(|g| g.iter().copied().collect()).collect();
    Ok(Plan { pipeline, funcs, groups, labels: labels.finish(), target: *target, held: HeldValues::new(), callees })
}

/// The closures that code calls, where uses of instructions get the calls that they are.
fn called(
    pipeline: &PipelineData,
    drafts: &mut IdVec<FuncId, FuncDraft>,
    calls: Vec<instruct::Called>,
) -> Vec<ExternDef> {
    let mut callees: Vec<ExternDef> = pipeline.callees.iter().map(|callee| callee.stage.clone()).collect();
    for ((func, stage), directive, call, callee) in calls {
        let call = InstructionCall { callee: callees.len(), ..call };
        drafts[func].stages[stage].give_call(directive, &call);
        callees.push(callee);
    }
    callees
}

/// The pipeline in an order in which Funcs that are computed together stand next to each other.
fn with_groups_together(pipeline: Pipeline, joined: &Joined) -> Pipeline {
    if joined.groups().is_empty() {
        return pipeline;
    }
    let mut data = PipelineData::clone(&pipeline);
    data.order = compute_with::order(&Graph::new(&pipeline), &data.order, joined);
    Pipeline::from_data(data)
}

fn plan(draft: FuncDraft, levels: Levels, labels: &mut Labels) -> FuncPlan {
    let [compute, store, hoist] =
        [levels.compute, levels.store, levels.hoist].map(|level| level.map(|name| labels.label(&name)));
    FuncPlan {
        compute,
        store,
        hoist,
        storage: draft.storage,
        ring: draft.ring.map(|(copies, _)| copies),
        is_async: draft.ahead.is_some(),
        memory: draft.memory,
        copies: draft.copies.into_keys().collect(),
        bounds: draft.bounds,
        room: draft.room,
        estimates: draft.estimates,
        stages: draft.stages.into_iter().map(|s| s.finish(labels)).collect(),
    }
}

//! From names to a plan: the only road.

use super::draft::{self, FuncDraft};
use super::error::{Errors, ScheduleError};
use super::gpu;
use super::graph::Graph;
use super::legal;
use super::levels::{self, Levels};
use super::rewrite::{Rewritten, rewrite};
use crate::plan::{FuncPlan, Plan};
use crate::schedule::Schedule;
use crate::target::Target;
use halide_core::pipeline::Pipeline;

/// The plan that `schedule` makes for `pipeline`, or everything that is wrong with the schedule.
///
/// Directives apply in order; where two speak of the same thing, the later one counts. What a schedule does not say:
/// outputs are computed at the root; a Func without updates is substituted where it is used; one with updates is
/// computed in the innermost loop of each stage that uses it. Loops run serially, reduction variables innermost, and
/// dimension 0 innermost among its kind.
pub fn resolve(pipeline: &Pipeline, schedule: &Schedule, target: &Target) -> Result<Plan, Vec<ScheduleError>> {
    let mut errors = Errors::new(schedule);
    let Rewritten { pipeline, not_made, spent } = rewrite(pipeline, schedule, target, &mut errors);
    let mut drafts = draft::apply(&pipeline, schedule, target, not_made, &spent, &mut errors);
    let mut graph = Graph::new(&pipeline);
    let levels = levels::choose(&mut graph, &mut drafts, &mut errors);
    legal::check(pipeline.funcs.ids(), &drafts, &levels, &mut errors);
    // Copies are in places of their own.
    gpu::check(drafts.ids(), &drafts, &levels, target, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into_list());
    }
    let funcs = drafts.iter().cloned().zip(levels.iter().cloned()).map(|(draft, levels)| plan(draft, levels)).collect();
    Ok(Plan { pipeline: graph.finish(), funcs, target: *target })
}

fn plan(draft: FuncDraft, levels: Levels) -> FuncPlan {
    FuncPlan {
        compute: levels.compute,
        store: levels.store,
        hoist: levels.hoist,
        storage: draft.storage,
        memory: draft.memory,
        copies: draft.copies.into_keys().collect(),
        bounds: draft.bounds,
        stages: draft.stages.into_iter().map(|s| s.finish()).collect(),
    }
}

//! The predicted time of any schedule.

use crate::chosen::Inspect;
use crate::cost::Pricer;
use crate::error::AutoError;
use crate::estimate::Estimates;
use crate::ground::Ground;
use crate::group::{Group, groups_of};
use crate::import::{Approximation, state_of};
use crate::search::{Candidate, Search};
use halide_core::pipeline::Pipeline;
use halide_ir::machine::Machine;
use halide_ir::target::Target;
use halide_sched::plan::{Plan, resolve};
use halide_sched::schedule::{FloatMode, Schedule};

/// The predicted time of a schedule.
#[derive(Clone, Debug)]
pub struct Priced {
    /// The predicted time in nanoseconds.
    pub predicted_ns: f64,
    /// The predicted time of each group: a Func outside of all loops with those that are computed in its loops.
    pub groups: Vec<Group>,
    /// The parts of the schedule that the model does not have, and what it took for them.
    pub approximations: Vec<Approximation>,
    /// The names of loops, such as `f.update(0).x`, for which the compiler makes no code with vectors as wide as the
    /// target's; they are priced as slow as that is.
    pub slow: Vec<String>,
}

/// A question for the time of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Priceable<'q> {
    /// The algorithm.
    pub pipeline: &'q Pipeline,
    /// The schedule.
    pub schedule: &'q Schedule,
    /// The machine that code is compiled for.
    pub target: &'q Target,
    /// The speeds of the machine.
    pub machine: &'q Machine,
    /// The sizes.
    pub sizes: &'q Estimates,
}

/// Predicts the time of a schedule, without running anything, by the model that [`auto_schedule`](crate::auto_schedule)
/// chooses by. `inspect` tells what the compiler makes of it.
///
/// # Errors
/// Estimates and schedules with mistakes, schedules with kernels, what the compiler refuses, and pipelines with extern
/// stages.
pub fn price(question: &Priceable<'_>, inspect: &mut Inspect<'_>) -> Result<Priced, AutoError> {
    with_state(question, inspect, |_, _, _, priced| Ok(priced))
}

/// Calls `f` with the plan of a schedule, a search among the states of its pipeline, its own state, and its price.
pub(crate) fn with_state<R>(
    question: &Priceable<'_>,
    inspect: &mut Inspect<'_>,
    f: impl FnOnce(&Plan, &mut Search<'_>, Candidate, Priced) -> Result<R, AutoError>,
) -> Result<R, AutoError> {
    let Priceable { pipeline, schedule, target, machine, sizes } = question;
    if let Some(stage) = pipeline.externs.first() {
        return Err(AutoError::Extern { func: stage.name.clone() });
    }
    let complete = sizes.complete(pipeline).map_err(AutoError::Estimates)?;
    let plan = resolve(pipeline, schedule, target).map_err(AutoError::Schedule)?;
    let ground = Ground::new(plan.pipeline.clone(), target, &complete)?;
    let contracts = plan.funcs.iter().flat_map(|f| &f.stages).any(|stage| stage.float != FloatMode::Strict);
    let dag = ground.dag(contracts);
    let roots = ground.roots(&dag);
    let pricer = Pricer::new(&dag, machine, target.threads, &roots);
    let read = state_of(&plan, &pricer, &complete.params, target)?;
    let mut search = Search::new(pricer, target);
    let refused = inspect(&plan)?.map(|facts| facts.refused).unwrap_or_default();
    // Loops without vectors are slow as they are.
    let has_vectors = |of| read.state.shape(of).is_some_and(|shape| shape.vector.is_some());
    let slow = read.innermost.iter().filter(|(of, name)| has_vectors(*of) && refused.contains(name));
    let (stages, slow) = slow.cloned().unzip();
    search.pricer.note_slow(&read.state, &read.state, stages);
    let candidate = search.candidate(read.state);
    let groups = groups_of(&candidate, &mut search.pricer);
    let priced = Priced { predicted_ns: candidate.ns(), groups, approximations: read.approximations, slow };
    f(&plan, &mut search, candidate, priced)
}

//! The compiler's word on a schedule.

use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_sched::lower::LowerOptions;
use halide_sched::nest::NestQuery;
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

/// The reasons of the compiler against a schedule.
pub(crate) fn lowers(pipeline: &Pipeline, schedule: &Schedule, target: &Target) -> Result<(), Vec<String>> {
    let plan = resolve(pipeline, schedule, target)
        .map_err(|errors| errors.iter().map(|e| e.to_string()).collect::<Vec<String>>())?;
    let lowered = NestQuery::new(&plan, &LowerOptions::default());
    lowered.map(drop).map_err(|errors| errors.iter().map(|e| e.to_string()).collect())
}

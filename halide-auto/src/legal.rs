//! The compiler's word on a schedule.

use crate::error::AutoError;
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_sched::lower::LowerOptions;
use halide_sched::nest::NestQuery;
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

/// Resolves and lowers a schedule.
///
/// # Errors
/// The reasons of the compiler against it.
pub(crate) fn lowers(pipeline: &Pipeline, schedule: &Schedule, target: &Target) -> Result<(), AutoError> {
    let plan = resolve(pipeline, schedule, target).map_err(AutoError::Schedule)?;
    NestQuery::new(&plan, &LowerOptions::default()).map(drop).map_err(AutoError::Lower)
}

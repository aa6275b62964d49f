//! Schedules that are chosen: for every pipeline there is one that the compiler takes, and it changes no value.

use crate::case::Case;
use crate::engines;
use crate::failure::{Failure, Outcome, failure};
use halide::buffer::Span;
use halide::prelude::*;
use halide_auto::{Auto, AutoError, AutoOptions, Estimates, auto_schedule};
use halide_ir::machine::Machine;

/// Chooses a schedule for the pipeline of a case at its sizes, and checks that schedule at these and other sizes.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    // Pipelines with extern stages are refused: what reads the results of stages is not.
    let case = Case { schedule: Schedule::new(), ..case.main_part() };
    let sizes = estimates(&case);
    let machine = Machine::typical(&case.target);
    let options = AutoOptions::default();
    let choose = || auto_schedule(&case.pipeline, &case.target, &machine, &sizes, &options, &mut |_| None);
    let Auto { schedule, refused, .. } = match choose() {
        Ok(auto) => auto,
        // Such pipelines have no schedule at all, or their inputs no sizes.
        Err(AutoError::Lower(_)) => return Ok(Outcome::Refused("lowering".into())),
        Err(AutoError::Query(_)) => return Ok(Outcome::Refused("sizes of inputs".into())),
        Err(error) => return Err(failure("no schedule", format!("{error}\n{case}"))),
    };
    if !refused.is_empty() {
        return Err(failure("refused directives", format!("{}\n{case}", refused.join("\n"))));
    }
    if choose().map(|again| again.schedule != schedule).unwrap_or(true) {
        return Err(failure("another schedule", format!("{schedule}\n{case}")));
    }
    let chosen = Case { schedule, ..case };
    let outcome = engines::check_lowering(&chosen)?;
    let point = |region: &Region| region.spans().iter().map(|span| Span { extent: 1, ..*span }).collect();
    let small = Case { regions: chosen.regions.iter().map(point).collect(), ..chosen };
    engines::check_lowering(&small)?;
    Ok(outcome)
}

fn estimates(case: &Case) -> Estimates {
    let outputs = case.pipeline.outputs.iter().zip(&case.regions);
    let sizes = outputs.fold(Estimates::new(), |sizes, (func, region)| {
        let extents: Vec<i64> = region.spans().iter().map(|span| span.extent.max(1)).collect();
        sizes.output(&case.pipeline.funcs[*func].name, extents)
    });
    case.pipeline.params.iter().fold(sizes, |sizes, param| sizes.param(&param.name, case.param(param)))
}

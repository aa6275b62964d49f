//! Schedules that are chosen: for every pipeline there is one that the compiler takes, it changes no value, and its
//! price is near what it was chosen for. Every other schedule has a price, and the rest of one can be chosen around it.

use crate::case::Case;
use crate::engines;
use crate::failure::{Failure, Outcome, failure};
use halide::buffer::Span;
use halide::prelude::*;
use halide_auto::{Auto, AutoError, AutoOptions, Estimates, Priceable, auto_schedule};
use halide_ir::machine::{GpuSpeed, Machine};

/// Chooses a schedule for the pipeline of a case at its sizes, and checks that schedule at these and other sizes.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    // Pipelines with extern stages are refused: what reads the results of stages is not.
    let case = case.main_part();
    let sizes = estimates(&case);
    let machine = Machine::typical(&case.target);
    let price = |case: &Case, schedule: &Schedule| {
        let (pipeline, target) = (&case.pipeline, &case.target);
        let question = Priceable { pipeline, schedule, target, machine: &machine, sizes: &sizes };
        halide_auto::price(&question, &mut |_| Ok(None))
    };
    let is_time = |ns: f64| ns.is_finite() && ns >= 0.0;
    match price(&case, &case.schedule) {
        Ok(priced) if !is_time(priced.predicted_ns) => return Err(failure("no time", format!("{priced:?}\n{case}"))),
        _ => {}
    }
    around(&case, &sizes)?;
    let case = Case { schedule: Schedule::new(), ..case };
    let options = AutoOptions::default();
    let choose = || auto_schedule(&case.pipeline, &case.target, &sizes, &options, &mut |_| Ok(None));
    let Auto { schedule, refused, predicted_ns, groups, .. } = match choose() {
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
    match price(&case, &schedule) {
        Ok(priced) if !priced.approximations.is_empty() => {
            return Err(failure("chosen by another price", format!("{:?}\n{schedule}\n{case}", priced.approximations)));
        }
        // Tiles around which there is nothing are read back as plain loops, of which another iteration stands for all.
        Ok(priced) if priced.predicted_ns <= 4.0 * predicted_ns + 1.0 => {}
        other => {
            return Err(failure("another price", format!("{other:?}\n{predicted_ns} {groups:?}\n{schedule}\n{case}")));
        }
    }
    let chosen = Case { schedule, ..case };
    let outcome = engines::check_lowering(&chosen)?;
    let point = |region: &Region| region.spans().iter().map(|span| Span { extent: 1, ..*span }).collect();
    let small = Case { regions: chosen.regions.iter().map(point).collect(), ..chosen };
    engines::check_lowering(&small)?;
    Ok(outcome)
}

/// Chooses a schedule with kernels for the pipeline of a case with a GPU, and checks that.
pub fn check_kernels(case: &Case) -> Result<Outcome, Failure> {
    let case = case.main_part();
    let sizes = estimates(&case);
    // A host so slow that a device pays for the least work; to one in three devices copies take long.
    let slow = Machine { ghz: 1e-3, ..Machine::typical(&case.target) };
    let fast = GpuSpeed { launch_ns: 1.0, copy_ns: 0.0, ..GpuSpeed::DISCRETE };
    let options = AutoOptions::default().machine(&slow);
    let options =
        options.gpu(if case.seed.is_multiple_of(3) { GpuSpeed { launch_ns: 1.0, ..GpuSpeed::SOFTWARE } } else { fast });
    let choose = || case.pipeline.auto_schedule_with(&case.target, &sizes, &options);
    let Auto { schedule, refused, .. } = match choose() {
        Ok(auto) => auto,
        Err(Error::Lower(_)) => return Ok(Outcome::Refused("lowering".into())),
        Err(Error::Query(_)) => return Ok(Outcome::Refused("sizes of inputs".into())),
        Err(error) => return Err(failure("no schedule with kernels", format!("{error}\n{case}"))),
    };
    if choose().map(|again| again.schedule != schedule).unwrap_or(true) {
        return Err(failure("another schedule with kernels", format!("{schedule}\n{case}")));
    }
    let has_kernels = schedule.to_string().contains("gpu_");
    let chosen = Case { schedule, ..case };
    let outcome = engines::check(&chosen)?;
    Ok(match outcome {
        Outcome::Compared if !has_kernels => Outcome::Refused(format!("kernels: {refused:?}")),
        other => other,
    })
}

/// Chooses the rest of a schedule around the directives of a case, and checks that.
fn around(case: &Case, sizes: &Estimates) -> Result<(), Failure> {
    let options = AutoOptions::default().keep(&case.schedule);
    let auto = match auto_schedule(&case.pipeline, &case.target, sizes, &options, &mut |_| Ok(None)) {
        Ok(auto) => auto,
        Err(AutoError::Schedule(_) | AutoError::Lower(_) | AutoError::Query(_) | AutoError::Kernel { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(failure("no schedule around directives", format!("{error}\n{case}"))),
    };
    if !auto.refused.is_empty() {
        let text = format!("{}\n{}\n{case}", auto.refused.join("\n"), auto.schedule);
        return Err(failure("refused around directives", text));
    }
    let chosen = Case { schedule: auto.schedule, ..case.clone() };
    engines::check_lowering(&chosen).map(drop)
}

fn estimates(case: &Case) -> Estimates {
    let outputs = case.pipeline.outputs.iter().zip(&case.regions);
    let sizes = outputs.fold(Estimates::new(), |sizes, (func, region)| {
        let extents: Vec<i64> = region.spans().iter().map(|span| span.extent.max(1)).collect();
        sizes.output(&case.pipeline.funcs[*func].name, extents)
    });
    case.pipeline.params.iter().fold(sizes, |sizes, param| sizes.param(&param.name, case.param(param)))
}

//! The GPU of this machine, as one more engine.

use crate::case::Case;
use crate::failure::{Failure, compare, failure};
use crate::sizes::Sizes;
use halide::gpu::{Choice, Gpu, GpuError};
use halide::plan::Problem;
use halide::prelude::*;
use halide_skips::{Need, skip};
use std::sync::OnceLock;

/// The device that `HALIDE_DEVICE` names, or the fastest there is, opened once; `None` where there is none, and kernels
/// run in the evaluator only.
pub fn gpu() -> Option<&'static Gpu> {
    static OPENED: OnceLock<Result<Gpu, String>> = OnceLock::new();
    let open = || {
        let opened = Gpu::open(&Choice::from_env()).inspect(|gpu| println!("kernels run on {}", gpu.describe()));
        opened.map_err(|error| error.to_string())
    };
    OPENED.get_or_init(open).as_ref().inspect_err(|why| skip(Need::Device, why)).ok()
}

/// The result of a case on the device.
pub(crate) enum OnDevice {
    /// The values of the interpreter.
    Compared,
    /// There is no device, or it lacks what the case needs; in a word or two, what.
    Refused(String),
}

/// Runs a case as users do, twice: the second time, inputs are on the device already and memory comes from the pool.
pub(crate) fn check(case: &Case, inputs: &Sizes, expected: &[AnyBuffer]) -> Result<OnDevice, Failure> {
    let Some(gpu) = gpu() else { return Ok(OnDevice::Refused("no device".into())) };
    let compiled = match Compiler::new(&case.pipeline).gpu(gpu).schedule(&case.schedule).target(&case.target).compile()
    {
        Ok(compiled) => compiled,
        Err(Error::Schedule(_) | Error::Lower(_)) if case.memoizes() => {
            return Ok(OnDevice::Refused("part of a memoized Func".into()));
        }
        Err(error) => return refused(&error).ok_or_else(|| failure("device refuses", error.to_string())),
    };
    for threads in [1, 2] {
        let images = case.pipeline.images.iter().zip(&inputs.buffers);
        let call = compiled.inputs().threads(threads);
        let call = images.fold(call, |call, (i, buffer)| call.image_named(&i.name, buffer.clone()));
        let call = case.pipeline.params.iter().fold(call, |call, p| call.param_named(&p.name, case.param(p)));
        match call.realize_all(&case.regions) {
            Ok(got) => compare(&format!("device, {threads} threads"), &got, expected)?,
            Err(error) => return refused(&error).ok_or_else(|| failure("device fault", error.to_string())),
        }
    }
    if case.seed.is_multiple_of(4) {
        return hosted(gpu, case, inputs, expected);
    }
    Ok(OnDevice::Compared)
}

/// The same with evaluated host code, as pages in browsers have it.
fn hosted(gpu: &Gpu, case: &Case, inputs: &Sizes, expected: &[AnyBuffer]) -> Result<OnDevice, Failure> {
    let compiled =
        gpu.wait(Compiler::new(&case.pipeline).gpu(gpu).schedule(&case.schedule).target(&case.target).compile_async());
    let compiled = compiled.map_err(|error| failure("evaluated host refuses", error.to_string()))?;
    let images = case.pipeline.images.iter().zip(&inputs.buffers);
    let call = images.fold(compiled.inputs(), |call, (i, buffer)| call.image_named(&i.name, buffer.clone()));
    let call = case.pipeline.params.iter().fold(call, |call, p| call.param_named(&p.name, case.param(p)));
    match gpu.wait(call.realize_all_async(&case.regions)) {
        Ok(got) => compare("device, evaluated host", &got, expected)?,
        Err(error) => return refused(&error).ok_or_else(|| failure("evaluated host fault", error.to_string())),
    }
    Ok(OnDevice::Compared)
}

fn is_about_lanes(problem: &Problem) -> bool {
    matches!(problem, Problem::NoSubgroups { .. } | Problem::LaneExtent { .. })
}

/// Returns a refusal for an error about something that devices need not be able to do; `None` for other errors.
pub(crate) fn refused(error: &Error) -> Option<OnDevice> {
    let why = match error {
        Error::Gpu(GpuError::Feature { feature, .. }) => feature.name().to_string(),
        Error::Gpu(GpuError::Subgroups { .. }) => "subgroups".to_string(),
        // Schedules are drawn for subgroups of eight lanes.
        Error::Schedule(all) if all.iter().all(|e| is_about_lanes(&e.problem)) => "subgroups".to_string(),
        Error::Gpu(GpuError::Unsupported { what, .. }) => what.clone(),
        Error::Gpu(GpuError::Limit { what, .. }) => format!("too many {what}"),
        // Coordinates made of data that nothing keeps near; arguments of cases are small.
        Error::Fault(fault) if fault.to_string().contains("computes coordinates in 32 bits") => {
            "coordinates".to_string()
        }
        Error::Fault(fault) if fault.to_string().contains("iterations of its loops, and the driver stops it") => {
            "long loops".to_string()
        }
        _ => return None,
    };
    Some(OnDevice::Refused(format!("device: {why}")))
}

//! GPUs on the command line: devices, compilation, kernels as text and times of kernels.

use super::failure::Failure;
use crate::job::Job;
use halide::check::Check;
use halide::gpu::{Choice, list_devices};
use halide::machine::GpuSpeed;
use halide::prelude::*;
use std::time::Duration;

pub(crate) use halide::gpu::Gpu;

/// The way to a run on a GPU.
pub(crate) const REMEDY: &str = "add --backend gpu";

/// Opens the device that is asked for, or that the environment names, or the fastest.
pub(crate) fn open(device: Option<&str>) -> Result<Gpu, Failure> {
    let choice = device.map_or_else(Choice::from_env, Choice::parse);
    Gpu::open(&choice).map_err(|error| match error.hint() {
        Some(hint) => Failure(format!("{error}; {hint}")),
        None => Failure(error.to_string()),
    })
}

/// Compiles the job's pipeline for a device.
pub(crate) fn compile(gpu: &Gpu, job: &Job, schedule: &Schedule, target: &Target) -> Result<Compiled, Failure> {
    Ok(Compiler::new(&job.pipeline).gpu(gpu).schedule(schedule).target(target).compile()?)
}

/// A check whose kernels run on a device.
pub(crate) fn check_on(gpu: &Gpu, check: Check) -> Check {
    check.gpu(gpu)
}

/// The limits of a device, and the speed that is typical of its kind.
pub(crate) fn limits(gpu: &Gpu) -> (halide::target::Gpu, GpuSpeed) {
    (gpu.limits(), gpu.speed())
}

/// Describes a device.
pub(crate) fn describe(gpu: &Gpu) -> String {
    gpu.describe().to_string()
}

/// One line per device, or one that says why there is none.
pub(crate) fn devices() -> Vec<String> {
    let devices = list_devices();
    if devices.is_empty() {
        let none = "no GPU: there is no driver, neither of one nor in software (mesa-vulkan-drivers)";
        return vec![none.to_string()];
    }
    devices.iter().enumerate().map(|(i, device)| format!("device {i}: {device}")).collect()
}

/// The kernels in the shading language of WebGPU.
pub(crate) fn wgsl(compiled: &Compiled) -> Result<String, Failure> {
    Ok(compiled.wgsl()?)
}

/// The kernels as SPIR-V in hexadecimal words.
pub(crate) fn spirv(compiled: &Compiled) -> Result<String, Failure> {
    Ok(compiled.spirv()?)
}

/// Runs the job once more and gives the times of its kernels as text.
pub(crate) fn profile(job: &Job, compiled: &Compiled, outputs: &mut [AnyBuffer]) -> Result<String, Failure> {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let mut text = String::new();
    for (stats, whole) in job.profile(compiled, outputs)? {
        if stats.kernels.is_empty() {
            text += "the device does not time kernels\n";
        }
        for (name, time) in &stats.kernels {
            text += &format!("{:10.3} ms  {name}\n", milliseconds(*time));
        }
        let kernels: Duration = stats.kernels.iter().map(|(_, time)| *time).sum();
        let rest = milliseconds(whole.saturating_sub(kernels));
        text += &format!("{rest:10.3} ms  host code, copies and waiting, which are not told apart by Func\n");
        text += &format!(
            "{} kernels started in {} batches; {:.2} MB copied to the device, {:.2} MB back\n",
            stats.dispatches,
            stats.submissions,
            stats.upload_bytes as f64 / 1e6,
            stats.download_bytes as f64 / 1e6
        );
    }
    Ok(text)
}

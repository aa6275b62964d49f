//! The command line without the feature `gpu`: whatever needs a GPU says how to get it.

use super::failure::Failure;
use crate::job::Job;
use halide::check::Check;
use halide::machine::GpuSpeed;
use halide::prelude::*;

const MISSING: &str = "this build of halide has no GPU backend; build it with `--features gpu`";

/// The way to a run on a GPU.
pub(crate) const REMEDY: &str = "build halide with `--features gpu`, and add --backend gpu";

/// A GPU, of which there is none.
pub(crate) enum Gpu {}

pub(crate) fn open(_device: Option<&str>) -> Result<Gpu, Failure> {
    Err(Failure(MISSING.to_string()))
}

pub(crate) fn compile(gpu: &Gpu, _job: &Job, _schedule: &Schedule, _target: &Target) -> Result<Compiled, Failure> {
    match *gpu {}
}

pub(crate) fn check_on(gpu: &Gpu, _check: Check) -> Check {
    match *gpu {}
}

pub(crate) fn limits(gpu: &Gpu) -> (halide::target::Gpu, GpuSpeed) {
    match *gpu {}
}

pub(crate) fn describe(gpu: &Gpu) -> String {
    match *gpu {}
}

pub(crate) fn devices() -> Vec<String> {
    vec!["no GPU: this build of halide has no GPU backend (`--features gpu`)".to_string()]
}

pub(crate) fn wgsl(_compiled: &Compiled) -> Result<String, Failure> {
    Err(Failure(MISSING.to_string()))
}

pub(crate) fn spirv(_compiled: &Compiled) -> Result<String, Failure> {
    Err(Failure(MISSING.to_string()))
}

pub(crate) fn profile(_job: &Job, _compiled: &Compiled, _outputs: &mut [AnyBuffer]) -> Result<String, Failure> {
    Err(Failure(MISSING.to_string()))
}

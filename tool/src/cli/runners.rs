//! The runners of several schedules: the CPU, and a GPU if one of them has kernels.

use super::args::Backend;
use super::common::Runner;
use super::failure::Failure;

/// The CPU, and a GPU or the reason that there is none.
pub(crate) struct Runners {
    cpu: Runner,
    gpu: Option<Result<Runner, Failure>>,
}

impl Runners {
    /// Opens the CPU, and the device that is asked for if some schedule has kernels.
    pub(crate) fn new(has_kernels: bool, device: Option<&str>) -> Result<Runners, Failure> {
        let cpu = Runner::new(Backend::Cpu, None)?;
        Ok(Runners { cpu, gpu: has_kernels.then(|| Runner::new(Backend::Gpu, device)) })
    }

    /// The name and the runner of the backend of a schedule.
    ///
    /// # Errors
    /// It has kernels, and there is no GPU: why, in a line.
    pub(crate) fn of_schedule(&self, has_kernels: bool) -> Result<(&'static str, &Runner), String> {
        match &self.gpu {
            Some(Err(Failure(why))) if has_kernels => Err(why.lines().next().unwrap_or_default().to_string()),
            Some(Ok(gpu)) if has_kernels => Ok(("gpu", gpu)),
            _ => Ok(("cpu", &self.cpu)),
        }
    }
}

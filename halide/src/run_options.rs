//! The options of a run, and its statistics.

use crate::error::Error;
use crate::limits::{Asked, Watch};
use crate::print_sink::Sink;
use halide_core::interp::RunError;
use halide_core::limits::{Held, Limits};
use std::sync::Arc;

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    /// The number of threads that parallel loops may use.
    pub(crate) threads: Option<usize>,
    /// True if kernels are to be timed.
    pub(crate) profile: bool,
    /// The receiver of printed lines.
    pub(crate) print: Sink,
    /// The limits that were asked for.
    pub(crate) asked: Asked,
    /// The limits of the run, which has begun.
    pub(crate) limits: Option<Arc<Limits>>,
}

impl How {
    /// Begins a run, unless it is part of one that has begun: sets its limits, watches its time, and notes panics of
    /// the receiver of its lines.
    pub(crate) fn begin(&self) -> Result<(How, Option<Watch>), Error> {
        if self.limits.is_some() {
            return Ok((self.clone(), None));
        }
        let (limits, watch) = self.asked.begin()?;
        Ok((How { limits: Some(limits), print: self.print.begin(), ..self.clone() }, watch))
    }
    /// The limits of the run, for engines.
    pub(crate) fn limits(&self) -> Option<&Limits> {
        self.limits.as_deref()
    }
    /// Charges memory of what `func` names, for as long as the run lasts.
    pub(crate) fn charge(&self, bytes: u64, func: &str) -> Result<(), Error> {
        self.hold(bytes, func).map(|held| held.map_or((), Held::keep))
    }
    /// Charges memory of what `func` names, for as long as the result lives.
    pub(crate) fn hold(&self, bytes: u64, func: &str) -> Result<Option<Held<'_>>, Error> {
        let held = self.limits().map(|limits| limits.hold(bytes)).transpose();
        held.map_err(|over| Error::Memory { func: func.to_string(), over })
    }
    /// Returns the result of a run, with the error of one that was ended early.
    pub(crate) fn after<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        self.print.after(result).map_err(|error| match error {
            Error::Run(RunError::Stopped(stop)) => self.asked.ended(stop),
            error => error,
        })
    }
}

/// Statistics of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RunStats {
    /// The most memory that intermediate values took at one time, in bytes. 0 from the interpreter, which does not say.
    pub peak_bytes: u64,
    /// Statistics of the GPU, if one took part.
    #[cfg(feature = "gpu")]
    pub gpu: Option<halide_gpu::runtime::GpuStats>,
}

impl RunStats {
    /// Returns the statistics of a run that no GPU took part in.
    pub(crate) fn on_host(peak_bytes: u64) -> RunStats {
        RunStats {
            peak_bytes,
            #[cfg(feature = "gpu")]
            gpu: None,
        }
    }
}

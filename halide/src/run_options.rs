//! The options of a run, and its statistics.

use crate::counts::FuncCounts;
use crate::error::Error;
use crate::limits::{Asked, Watch};
use crate::print_sink::Sink;
use crate::profile::Profile;
#[cfg(all(feature = "cpu", feature = "gpu"))]
use crate::residents::Residents;
use halide_core::interp::Inputs;
use halide_core::interp::RunError;
use halide_core::limits::{Held, Limits};
use std::sync::Arc;
use std::time::Duration;

/// The end of a profile: when there are as many samples, or as much time is over, but not before one run is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sampling {
    pub(crate) samples: u64,
    pub(crate) time: Duration,
}

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    /// The number of threads that parallel loops may use.
    pub(crate) threads: Option<usize>,
    /// The samples of a run to take, while kernels are timed, too.
    pub(crate) profile: Option<Sampling>,
    /// True if what the run computes is to be counted.
    pub(crate) count: bool,
    /// The receiver of printed lines.
    pub(crate) print: Sink,
    /// The limits that were asked for.
    pub(crate) asked: Asked,
    /// The limits of the run, which has begun.
    pub(crate) limits: Option<Arc<Limits>>,
    /// The buffers that are or may stay on the device.
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    pub(crate) residents: Option<Residents>,
}

/// The inputs of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunInputs<'i> {
    /// The inputs that the caller gives.
    pub(crate) given: &'i Inputs,
    /// The result of `Compiled::fed` for them, if rules for shapes needed it before there were outputs.
    pub(crate) fed: Option<&'i Inputs>,
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
    /// The same for work beside the run, which nobody samples or counts.
    pub(crate) fn unobserved(&self) -> How {
        How {
            profile: None,
            count: false,
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            residents: None,
            ..self.clone()
        }
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
    /// The number of allocations on the heap. 0 from the interpreter and the evaluator, which do not say.
    pub allocations: u64,
    /// The number of blocks of memory that these took from the system; the others are used again. Of machine code, as
    /// `allocations`.
    pub blocks: u64,
    /// The counts of each Func, of a call that asked by [`Call::count`](crate::Call::count). Not from the interpreter,
    /// which has no loops.
    pub counts: Option<Vec<FuncCounts>>,
    /// The profile, of a call that asked by [`Call::profile`](crate::Call::profile): from machine code, where the
    /// system has a thread for the sampler.
    pub profile: Option<Profile>,
    /// The values of the program's counters.
    pub(crate) counters: Vec<i64>,
    /// Statistics of the GPU, if one took part.
    #[cfg(feature = "gpu")]
    pub gpu: Option<halide_gpu::runtime::GpuStats>,
}

impl RunStats {
    /// Returns the statistics of a run that only evaluates.
    pub(crate) fn of_evaluator(stats: halide_ir::eval::EvalStats) -> RunStats {
        RunStats { peak_bytes: stats.peak_bytes, counters: stats.counters, ..RunStats::default() }
    }
    /// Returns the statistics of a run of machine code.
    #[cfg(feature = "cpu")]
    pub(crate) fn of_code(stats: halide_cpu::RunStats) -> RunStats {
        let halide_cpu::RunStats { counters, peak_bytes, allocations, blocks } = stats;
        RunStats { peak_bytes, allocations, blocks, counters, ..RunStats::default() }
    }
}

//! Runs of a job that are profiled.

use crate::job::Job;
use halide::counts::FuncCounts;
use halide::prelude::*;
use halide::profile::Profile;
use std::time::Duration;
#[cfg(feature = "gpu")]
use std::time::Instant;

/// Samples of a profile from which on shares are known to a percent or so.
const ENOUGH_SAMPLES: u64 = 5000;

/// The time after which a profile is what it is.
const LONG_ENOUGH: Duration = Duration::from_secs(2);

impl Job {
    /// Runs everything again and again until there are samples enough to tell shares by, or two seconds are over: a
    /// profile for each output, with its counts.
    ///
    /// # Errors
    /// Of a run.
    pub fn sampled(
        &self,
        compiled: &Compiled,
        threads: Option<usize>,
        outputs: &mut [AnyBuffer],
    ) -> Result<Vec<(Profile, Vec<FuncCounts>)>, Error> {
        let mut all = Vec::new();
        for (inputs, output) in self.runs.iter().zip(outputs) {
            let call = || self.call(compiled, inputs, threads);
            // The first profiled run compiles, and finds caches as they are.
            let first = call().count().profile().realize_all_into(&mut [output.view_mut()?])?;
            let sampled = call().profile_until(ENOUGH_SAMPLES, LONG_ENOUGH);
            let stats = sampled.realize_all_into(&mut [output.view_mut()?])?;
            all.push((stats.profile.unwrap_or_default(), first.counts.unwrap_or_default()));
        }
        Ok(all)
    }

    /// (Feature `gpu`.) Runs everything once, timing kernels of a GPU too: what each run did there, and
    /// how long it took in all.
    ///
    /// # Errors
    /// Of the run.
    #[cfg(feature = "gpu")]
    pub fn profile(
        &self,
        compiled: &Compiled,
        outputs: &mut [AnyBuffer],
    ) -> Result<Vec<(halide::gpu::GpuStats, Duration)>, Error> {
        let mut all = Vec::new();
        for (inputs, output) in self.runs.iter().zip(outputs) {
            let run = self.call(compiled, inputs, None).profile();
            let started = Instant::now();
            let stats = run.realize_all_into(&mut [output.view_mut()?])?;
            all.extend(stats.gpu.map(|gpu| (gpu, started.elapsed())));
        }
        Ok(all)
    }
}

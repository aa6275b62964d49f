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
        self.sampled_with(compiled, threads, None, outputs)
    }

    /// [`Job::sampled`] that another thread can end by `cancel`.
    ///
    /// # Errors
    /// Of a run; [`Error::Cancelled`].
    pub fn sampled_with(
        &self,
        compiled: &Compiled,
        threads: Option<usize>,
        cancel: Option<&Cancel>,
        outputs: &mut [AnyBuffer],
    ) -> Result<Vec<(Profile, Vec<FuncCounts>)>, Error> {
        let mut counts = Vec::new();
        for (inputs, output) in self.runs.iter().zip(outputs.iter_mut()) {
            // The first profiled run compiles, and finds caches as they are.
            let call = self.call(compiled, inputs, threads).count().profile();
            let call = cancel.into_iter().fold(call, Call::cancel_with);
            counts.push(call.realize_all_into(&mut [output.view_mut()?])?.counts.unwrap_or_default());
        }
        let profiles = self.profiles_with(compiled, threads, cancel, outputs, (ENOUGH_SAMPLES, LONG_ENOUGH))?;
        Ok(profiles.into_iter().zip(counts).collect())
    }

    /// Runs everything until there are so many samples of each output, or so much time is over.
    ///
    /// # Errors
    /// Of a run.
    pub fn profiles(
        &self,
        compiled: &Compiled,
        threads: Option<usize>,
        outputs: &mut [AnyBuffer],
        until: (u64, Duration),
    ) -> Result<Vec<Profile>, Error> {
        self.profiles_with(compiled, threads, None, outputs, until)
    }

    /// [`Job::profiles`] that another thread can end by `cancel`.
    ///
    /// # Errors
    /// Of a run; [`Error::Cancelled`].
    pub fn profiles_with(
        &self,
        compiled: &Compiled,
        threads: Option<usize>,
        cancel: Option<&Cancel>,
        outputs: &mut [AnyBuffer],
        (samples, time): (u64, Duration),
    ) -> Result<Vec<Profile>, Error> {
        let profile = |(inputs, output): (&Vec<(String, AnyBuffer)>, &mut AnyBuffer)| {
            let call = self.call(compiled, inputs, threads).profile_until(samples, time);
            let call = cancel.into_iter().fold(call, Call::cancel_with);
            Ok(call.realize_all_into(&mut [output.view_mut()?])?.profile.unwrap_or_default())
        };
        self.runs.iter().zip(outputs).map(profile).collect()
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

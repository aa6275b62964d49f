//! Runs of compiled candidates on one set of inputs and outputs.

use crate::call::Call;
use crate::compiled::Compiled;
use crate::error::Error;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::interp::Inputs;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::time::{Duration, Instant};

/// Runs that take less are timed several at once. Unit: seconds.
const SHORT: f64 = 2e-3;

/// The most runs of a sample.
const MOST_RUNS: f64 = 32.0;

/// Inputs, outputs and limits of runs. All candidates share the memory, so that where it is decides nothing.
pub(super) struct Bench {
    inputs: Inputs,
    outputs: Vec<AnyBuffer>,
    memory_cap: u64,
    runs: u32,
}

impl Bench {
    /// Allocates outputs by a first run of `compiled`, which finds mistakes in inputs.
    pub(super) fn new(
        compiled: &Compiled,
        inputs: Inputs,
        regions: &[Region],
        memory_cap: Option<u64>,
    ) -> Result<Bench, Error> {
        let outputs = compiled.inputs().with_given(&inputs).realize_all(regions)?;
        let images = compiled.pipeline().images.iter().filter_map(|image| inputs.get(&image.name));
        let bytes = |buffer: &AnyBuffer| buffer.len().saturating_mul(buffer.ty().bytes() as u64);
        let all = images.chain(&outputs).map(bytes).fold(0, u64::saturating_add);
        // Candidates that store everything many times over are not fast.
        let memory_cap = memory_cap.unwrap_or(all.saturating_mul(8).max(64 << 20));
        Ok(Bench { inputs, outputs, memory_cap, runs: 1 })
    }

    /// The outputs of the last run.
    pub(super) fn outputs(&mut self) -> &mut [AnyBuffer] {
        &mut self.outputs
    }

    fn call<'c>(&self, compiled: &'c Compiled) -> Call<'c> {
        compiled.inputs().with_given(&self.inputs).memory_cap(self.memory_cap)
    }

    fn run(&mut self, call: &Call<'_>) -> Result<(), Error> {
        let mut views = self.outputs.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        call.realize_all_into(&mut views).map(drop)
    }

    /// A run on outputs of zeros, which is not timed: it may compile a variant of the code. It is given up after
    /// `most`.
    pub(super) fn first(&mut self, compiled: &Compiled, most: Duration) -> Result<(), Error> {
        for output in &mut self.outputs {
            zero(output)?;
        }
        let call = self.call(compiled).give_up_after(most);
        self.run(&call)
    }

    /// Parts of the outputs, computed by themselves.
    pub(super) fn parts(
        &self,
        compiled: &Compiled,
        regions: &[Region],
        most: Duration,
    ) -> Result<Vec<AnyBuffer>, Error> {
        self.call(compiled).give_up_after(most).realize_all(regions)
    }

    /// The least time of some runs: fewer of a candidate that takes long.
    pub(super) fn sample(&mut self, compiled: &Compiled) -> Result<Duration, Error> {
        let call = self.call(compiled);
        let (mut least, mut sum) = (Duration::MAX, Duration::ZERO);
        for _ in 0..self.runs {
            let start = Instant::now();
            self.run(&call)?;
            let time = start.elapsed();
            (least, sum) = (least.min(time), sum + time);
            if sum.as_secs_f64() > 2.0 * SHORT {
                break;
            }
        }
        Ok(least.max(Duration::from_nanos(1)))
    }

    /// Chooses the number of runs of a sample for runs that take so long.
    pub(super) fn choose_runs(&mut self, time: Duration) {
        self.runs = (SHORT / time.as_secs_f64().max(1e-9)).clamp(1.0, MOST_RUNS) as u32;
    }
}

/// Writes zeros to every element, and to what is between them.
fn zero(buffer: &mut AnyBuffer) -> Result<(), Error> {
    let ty = buffer.ty();
    let mut view = buffer.view_mut()?;
    match view.bytes_mut() {
        Some(bytes) => bytes.fill(0),
        None if ty == ScalarType::Bool => view.fill(Scalar::int(ty, 0))?,
        None => {}
    }
    Ok(())
}

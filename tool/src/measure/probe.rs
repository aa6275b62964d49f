//! Probes: one pipeline on rows of one size by one number of threads, of whose runs the shortest counts.

use halide::prelude::*;
use std::time::Instant;

/// The memory that probes work in, one row for each thread.
pub(super) struct Rows {
    /// Elements that are read.
    pub(super) data: Buffer<i32>,
    /// Elements that are written.
    pub(super) out: Buffer<i32>,
}

/// A pipeline at one size.
pub(super) struct Probe<'k> {
    pub(super) kernel: &'k Compiled,
    /// Elements of a row of the output, and the number of rows.
    pub(super) extents: [i64; 2],
    pub(super) params: Vec<(&'static str, Scalar)>,
    pub(super) threads: u32,
    /// Bytes or operations of a run, in the unit of the figure that is wanted.
    pub(super) work: f64,
    /// Seconds of the shortest run.
    pub(super) seconds: f64,
}

impl<'k> Probe<'k> {
    /// A probe that has not run yet.
    pub(super) fn new(
        kernel: &'k Compiled,
        extents: [i64; 2],
        params: Vec<(&'static str, Scalar)>,
        threads: u32,
        work: f64,
    ) -> Probe<'k> {
        Probe { kernel, extents, params, threads, work, seconds: f64::INFINITY }
    }
    /// Runs it once more.
    pub(super) fn run(&mut self, rows: &mut Rows) -> Result<(), halide::Error> {
        let call = self.kernel.inputs().image_named("data", &rows.data).ignore_unused();
        let call = self.params.iter().fold(call, |call, (name, value)| call.param_named(name, *value));
        let call = call.threads(self.threads as usize);
        let output = rows.out.view_mut()?.crop(&Region::of_extents(self.extents))?;
        let start = Instant::now();
        call.realize_into(output)?;
        self.seconds = self.seconds.min(start.elapsed().as_secs_f64());
        Ok(())
    }
    /// Returns its work per nanosecond.
    pub(super) fn rate(&self) -> f64 {
        // A clock that does not go on is no reason for an endless speed.
        self.work / (self.seconds * 1e9).max(1.0)
    }
}

//! A tuning that is being prepared.

use super::database::{Database, Replay};
use super::event::{Ended, Event, TuneReport, Tuned, Verdict};
use super::fingerprint::TuneKey;
use super::session::{Session, Setup};
use crate::error::Error;
use crate::pipeline::Pipeline;
use halide_auto::{Complete, Estimates};
use halide_core::buffer::AnyBuffer;
use halide_core::interp::Inputs;
use halide_ir::target::Target;
use halide_sched::schedule::Schedule;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time that a tuning takes if nobody says another.
const USUAL: Duration = Duration::from_secs(60);

/// A tuning that is being prepared. Made by [`Pipeline::tuner`]; begins with [`Tuning::run`].
#[derive(Clone, Debug)]
#[must_use = "a tuning does nothing until it is run"]
pub struct Tuning<'p> {
    pipeline: &'p Pipeline,
    target: Target,
    sizes: Estimates,
    inputs: Vec<(String, AnyBuffer)>,
    budget: Duration,
    database: Option<PathBuf>,
    starts: Vec<Schedule>,
    seed: u64,
    memory_cap: Option<u64>,
}

impl Pipeline {
    /// Prepares the search for a fast schedule by measuring candidates on this machine.
    ///
    /// ```
    /// use halide::prelude::*;
    /// use std::ops::ControlFlow;
    /// use std::time::Duration;
    /// let input = ImageParam::new("input", U16, 2);
    /// let (x, y) = vars!(x, y);
    /// let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    /// across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    /// down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    /// let pipeline = Pipeline::new([&down])?;
    ///
    /// let sizes = Estimates::new().output("down", [64, 48]);
    /// let tuning = pipeline.tuner(&Target::host(), &sizes).budget(Duration::from_millis(300));
    /// let tuned = tuning.run(|_| ControlFlow::Continue(()))?;
    /// assert!(tuned.report.wrong.is_empty());
    /// let compiled = pipeline.compile(&tuned.schedule, &Target::host())?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tuner(&self, target: &Target, sizes: &Estimates) -> Tuning<'_> {
        Tuning {
            pipeline: self,
            target: *target,
            sizes: sizes.clone(),
            inputs: Vec::new(),
            budget: USUAL,
            database: None,
            starts: Vec::new(),
            seed: 0,
            memory_cap: None,
        }
    }
}

impl Tuning<'_> {
    /// Gives inputs by name; others are random. Give real ones where values decide what is read or written.
    pub fn inputs<N: Into<String>>(mut self, inputs: impl IntoIterator<Item = (N, AnyBuffer)>) -> Self {
        self.inputs.extend(inputs.into_iter().map(|(name, buffer)| (name.into(), buffer)));
        self
    }

    /// Says how long all of it may take; a minute by default. With none, the result is the pick, unmeasured.
    pub fn budget(mut self, time: Duration) -> Self {
        self.budget = time;
        self
    }

    /// Keeps what is measured in a file, and goes on from what is in it.
    pub fn database(mut self, path: impl Into<PathBuf>) -> Self {
        self.database = Some(path.into());
        self
    }

    /// Also begins with this schedule. The result is not slower than the fastest of those that the search begins with.
    /// Floats may be rounded otherwise where this says so, and only there.
    pub fn start_from(mut self, schedule: &Schedule) -> Self {
        self.starts.push(schedule.clone());
        self
    }

    /// Sets the seed of random choices and random inputs; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Lets runs have so many bytes for what they store. By default 8 times as much as inputs and outputs, and at least
    /// 64 MiB.
    pub fn memory_cap(mut self, bytes: u64) -> Self {
        self.memory_cap = Some(bytes);
        self
    }

    /// Searches until the time is up, nothing better is found for long, or `watch` breaks it off, which ends it after
    /// the current run.
    ///
    /// # Errors
    /// Mistakes in estimates, starts and inputs; a database that cannot be used; a pick that does not run. All are
    /// found before measuring begins. Candidates that fail are no errors: the report counts them.
    pub fn run(&self, watch: impl FnMut(Event<'_>) -> ControlFlow<()>) -> Result<Tuned, Error> {
        let complete = self.complete()?;
        let key = TuneKey::new(self.pipeline, &self.target, &complete);
        self.check_starts()?;
        let opened = self.database.as_ref().map(|path| Database::open(path, &key)).transpose();
        let opened = opened.map_err(Error::Database)?;
        // Without a clock nothing can be measured.
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        if self.budget.is_zero() || !has_clock {
            return self.unmeasured(key, watch);
        }
        let begun = Instant::now();
        let pick = self.pipeline.auto_schedule(&self.target, &self.estimates())?.schedule;
        let (database, replay) = match opened {
            Some((database, replay)) => (Some(database), replay),
            None => (None, Replay { records: Vec::new(), notes: Vec::new() }),
        };
        let setup = Setup {
            pipeline: self.pipeline,
            target: self.target,
            regions: complete.regions.clone(),
            key,
            budget: self.budget,
            begun,
            seed: self.seed,
            memory_cap: self.memory_cap,
        };
        let inputs = self.given(&complete);
        let images = self.pipeline.images.iter().zip(complete.images.iter());
        let said = images.filter_map(|(def, region)| Some((def.name.clone(), region.clone()?))).collect();
        Session::new(setup, (inputs, said), pick, &self.starts, (database, replay))?.run(watch)
    }

    /// The circumstances, by which records of databases are told apart.
    ///
    /// # Errors
    /// Mistakes in estimates.
    pub fn key(&self) -> Result<TuneKey, Error> {
        Ok(TuneKey::new(self.pipeline, &self.target, &self.complete()?))
    }

    /// The pick, without a run.
    fn unmeasured(&self, key: TuneKey, mut watch: impl FnMut(Event<'_>) -> ControlFlow<()>) -> Result<Tuned, Error> {
        let pick = self.pipeline.auto_schedule(&self.target, &self.estimates())?.schedule;
        let ended = Ended::NoBudget;
        // It ends anyway.
        let _ = watch(Event::Ended { ended });
        let report = TuneReport {
            key,
            seed: self.seed,
            pick: pick.clone(),
            duel: None,
            ratio: 1.0,
            pick_time: None,
            tried: 0,
            verdicts: [0; Verdict::ALL.len()],
            wrong: Vec::new(),
            notes: Vec::new(),
            elapsed: Duration::ZERO,
        };
        Ok(Tuned { schedule: pick, report, ended })
    }

    /// The estimates, with the sizes of inputs that were given.
    fn estimates(&self) -> Estimates {
        let extents = |buffer: &AnyBuffer| buffer.dims().iter().map(|d| d.extent).collect::<Vec<i64>>();
        let known: BTreeSet<&str> = self.pipeline.images.iter().map(|image| image.name.as_str()).collect();
        let given = self.inputs.iter().filter(|(name, _)| known.contains(name.as_str()));
        given.fold(self.sizes.clone(), |sizes, (name, buffer)| sizes.input(name, extents(buffer)))
    }

    fn complete(&self) -> Result<Complete, Error> {
        self.estimates()
            .complete(self.pipeline)
            .map_err(|errors| Error::Auto(halide_auto::AutoError::Estimates(errors)))
    }

    fn check_starts(&self) -> Result<(), Error> {
        let mut errors = Vec::new();
        for start in &self.starts {
            let plan = halide_sched::plan::resolve(self.pipeline, start, &self.target);
            errors.extend(plan.err().into_iter().flatten());
        }
        if errors.is_empty() { Ok(()) } else { Err(Error::Schedule(errors)) }
    }

    /// The inputs that were given, and parameters.
    fn given(&self, complete: &Complete) -> Inputs {
        let images = self.inputs.iter().fold(Inputs::new(), |all, (name, buffer)| all.image(name, buffer.clone()));
        let params = self.pipeline.params.iter().zip(complete.params.iter());
        params.fold(images, |all, (def, value)| all.param(&def.name, *value))
    }
}

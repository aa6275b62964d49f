//! Checks: schedules, cases, and settings.

use super::case::{Case, Prepared};
use super::engines::Subject;
use super::outcome::{Agreed, Cause, Disagreement, Disagreements};
use crate::pipeline::Pipeline;
#[cfg(feature = "gpu")]
use halide_gpu::runtime::Gpu;
use halide_ir::target::Target;
use halide_sched::schedule::Schedule;

/// Sizes that find most mistakes in tails of loops: a point, less than a vector, primes, and more than a tile.
pub const SIZES: [(i64, i64); 6] = [(1, 1), (2, 3), (7, 5), (17, 13), (33, 31), (64, 48)];

/// Holds results under each of `schedules` against those of the reference interpreter, in each of `cases`, on every
/// engine: the evaluator of loops, which checks every access, and machine code on one thread and on all.
///
/// Inputs are random, and of just the size that the run needs. Interpreter and evaluator are slow: choose small sizes.
/// [`Check`] has settings.
///
/// # Errors
/// All differences, errors of one engine alone, and cases that do not suit the pipeline; no schedule, and no case.
pub fn agree<'s>(
    pipeline: &Pipeline,
    schedules: impl IntoIterator<Item = &'s Schedule>,
    cases: impl IntoIterator<Item = impl Into<Case>>,
) -> Result<Agreed, Disagreements> {
    let named = schedules.into_iter().enumerate().map(|(n, s)| (format!("schedule {}", n + 1), s));
    let check = named.fold(Check::new(pipeline), |check, (name, schedule)| check.schedule(name, schedule));
    cases.into_iter().fold(check, |check, case| check.case(case)).run()
}

/// A check that is being prepared: [`agree`] with settings.
///
/// ```
/// use halide::check::{Case, Check};
/// use halide::prelude::*;
/// let gain = Param::<i32>::new("gain");
/// let x = Var::new("x");
/// let mut f = Func::new("f");
/// f[x] = x * gain;
/// let pipeline = Pipeline::new([&f])?;
/// let check = Check::new(&pipeline)
///     .schedule("wide", &"f: vectorize(x, 8)".parse()?)
///     .case(Case::new([19]).param("gain", 3))
///     .case(Case::of_regions([Region::of_spans([(-7, 19)])]).param("gain", -1));
/// assert_eq!(check.run()?.schedules, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a check does nothing until it is run"]
pub struct Check {
    pipeline: Pipeline,
    target: Target,
    schedules: Vec<(String, Schedule)>,
    cases: Vec<Case>,
    #[cfg(feature = "gpu")]
    gpu: Option<Gpu>,
}

impl Check {
    /// Begins a check of `pipeline`, for this machine.
    pub fn new(pipeline: &Pipeline) -> Check {
        Check {
            pipeline: pipeline.clone(),
            target: Target::host(),
            schedules: Vec::new(),
            cases: Vec::new(),
            #[cfg(feature = "gpu")]
            gpu: None,
        }
    }

    /// Compiles for `target`. Kernels are evaluated within its limits, where it has any and no device is given.
    pub fn target(self, target: &Target) -> Check {
        Check { target: *target, ..self }
    }

    /// Adds a schedule; `name` tells it from others in messages.
    pub fn schedule(mut self, name: impl Into<String>, schedule: &Schedule) -> Check {
        self.schedules.push((name.into(), schedule.clone()));
        self
    }

    /// Adds sizes, with the inputs and parameters that go with them.
    pub fn case(mut self, case: impl Into<Case>) -> Check {
        self.cases.push(case.into());
        self
    }

    /// (Feature `gpu`.) Runs kernels on a device. Without one, they are evaluated.
    #[cfg(feature = "gpu")]
    pub fn gpu(self, gpu: &Gpu) -> Check {
        Check { gpu: Some(gpu.clone()), ..self }
    }

    /// Runs the check.
    ///
    /// # Errors
    /// As of [`agree`].
    pub fn run(&self) -> Result<Agreed, Disagreements> {
        let mut agreed = Agreed { schedules: self.schedules.len(), cases: self.cases.len(), ..Agreed::default() };
        if self.schedules.is_empty() || self.cases.is_empty() {
            return Err(Disagreements(vec![Disagreement::of(Cause::Nothing)]));
        }
        let mut found = Vec::new();
        let mut prepared = Vec::new();
        for case in &self.cases {
            match Prepared::new(case, &self.pipeline, &self.target) {
                Ok(case) => prepared.push(case),
                Err(cause) => found.push(Disagreement::at(case.text(), cause)),
            }
        }
        for (name, schedule) in &self.schedules {
            let subject = Subject { pipeline: &self.pipeline, schedule, target: self.target };
            #[cfg(feature = "gpu")]
            let runners = subject.runners(self.gpu.as_ref());
            #[cfg(not(feature = "gpu"))]
            let runners = subject.runners();
            match runners {
                Ok(runners) => {
                    for case in &prepared {
                        let differs = case.differs(schedule, &runners, &mut agreed);
                        found.extend(differs.map(|found| Disagreement { schedule: name.clone(), ..found }));
                    }
                }
                Err(cause) => found.push(Disagreement { schedule: name.clone(), ..Disagreement::of(cause) }),
            }
        }
        if found.is_empty() { Ok(agreed) } else { Err(Disagreements(found)) }
    }
}

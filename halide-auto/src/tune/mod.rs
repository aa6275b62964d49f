//! Measured autotuning: a stochastic search over schedules, asked for candidates and told their times.
//!
//! After the autotuner of Ragan-Kelley, Barnes, Adams, Paris, Durand and Amarasinghe, "Halide: A Language and Compiler
//! for Optimizing Parallelism, Locality, and Recomputation in Image Processing Pipelines" (PLDI 2013), section 5: a
//! population of schedules, mutation, crossover, and elitism. Candidates are lists of directives. A mutation changes a
//! number by a step on its ladder, the place of a Func, the order of loops, a split, a mark, storage, or a hint;
//! crossover takes all directives about some Funcs from another candidate. What this search does differently:
//!
//! - It begins with good schedules, such as that of [`auto_schedule`](crate::auto_schedule), and not with random ones.
//! - A candidate that is not legal is never asked for: `plan::resolve` decides in microseconds.
//! - Kinds of mutations are chosen by their success so far, and parents are the few best of all candidates, so there
//!   are no generations: results may be told in any order.
//! - No schedule is asked for twice.
//!
//! The search is pure. Who asks compiles and runs candidates, holds their outputs against right ones, and tells times
//! in units of that of the first start. A candidate with a wrong output is never the best one, whatever its time.
//!
//! A pipeline that is tuned on a machine whose times a function gives:
//!
//! ```
//! use halide_auto::tune::{Outcome, TuneOptions, Tuner};
//! use halide_core::{Func, Pipeline, vars};
//! use halide_ir::target::Target;
//! use halide_sched::schedule::{Schedule, Verb};
//!
//! let (x, y) = vars!(x, y);
//! let mut f = Func::new("f");
//! f[(x, y)] = x + y;
//! let pipeline = Pipeline::new([&f]).unwrap();
//! let start: Schedule = "f: split(y, yo, yi, 2)".parse().unwrap();
//! let mut tuner = Tuner::new(&pipeline, &Target::host(), [("start".to_string(), start)], TuneOptions::default());
//! // Vectors are fast here.
//! let time = |schedule: &Schedule| {
//!     if schedule.directives().iter().any(|d| d.verb.word() == "vectorize") { 0.25 } else { 1.0 }
//! };
//! for _ in 0..40 {
//!     for candidate in tuner.ask(1) {
//!         tuner.tell(candidate.id, Outcome::Measured { time: time(&candidate.schedule) })?;
//!     }
//! }
//! let (_, best, time) = tuner.best().unwrap();
//! assert!(time == 0.25 && best.to_string().contains("vectorize"), "{best}");
//! # Ok::<(), halide_auto::tune::TellError>(())
//! ```

mod credit;
mod edit;
mod ladder;
mod moves;
mod outcome;
pub(crate) mod random;
mod scene;
mod tuner;

pub use edit::{Draft, mark, mark_part, site};
pub use outcome::{Candidate, CandidateId, MoveKind, Origin, Outcome, TellError};
pub use tuner::{TuneOptions, Tuner};

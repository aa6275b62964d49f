//! Measured autotuning: the search of [`halide_auto::tune`] with a compiler and a clock.
//!
//! [`Pipeline::tuner`](crate::Pipeline::tuner) begins with what
//! [`auto_schedule`](crate::Pipeline::auto_schedule) picks and with schedules that it is given. Candidates are compiled
//! in batches on all cores; then nothing else runs. Each one alternates with the best so far, and the ratio of their
//! least times counts: on a busy machine times drift, ratios do not. One that is slow is given up after one pair, two
//! or three. One that seems better runs in more pairs, which alone count, and of which it must win two thirds. The
//! first run of a candidate is not timed, since it may compile a variant of the code.
//!
//! **Right results.** The outputs of the pick are compared with those of every Func at the root. The outputs of each
//! candidate, of its first run and of its last one, are compared with the pick's bit by bit, within a tolerance where a
//! schedule says `float(contract)` or `float(relaxed)`, which no candidate does unless one that was given did. One that
//! differs is never the result, and stands in [`TuneReport::wrong`].
//!
//! **No time for nothing.** Every third change changes no code: such a candidate is not run. What is left of them in
//! the result is taken away at the end, so that what stands in the schedule is there for a reason.
//!
//! **Never slower.** At the end, the best and the pick run in 12 rounds. If the best is not faster by 1 %, or not in 9
//! of the rounds, the pick is the result.
//!
//! **Databases.** A database is a file with a JSON object a line for each candidate: its schedule, its pairs of times,
//! the verdict, and the key, which holds the fingerprint of the pipeline, sizes, target, machine, threads and version.
//! A tuning of the same key goes on from it. Lines are appended whole, under a lock; files can be concatenated.

mod batch;
mod bench;
mod course;
mod database;
mod duel;
pub(crate) mod error;
mod event;
mod fingerprint;
mod inputs;
mod prepare;
mod pruned;
mod record;
mod reference;
mod session;
mod settings;
mod trial;

pub use duel::Duel;
pub use error::{DatabaseDefect, DatabaseError};
pub use event::{Ended, Event, TuneReport, Tuned, Verdict};
pub use fingerprint::{TuneKey, fingerprint};
pub use settings::Tuning;

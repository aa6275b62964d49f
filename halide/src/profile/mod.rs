//! Profiles of runs: the time that each definition takes, when each thread did what, and memory over time.
//!
//! [`Call::profile`](crate::Call::profile) asks for one, [`RunStats::profile`](crate::call::RunStats) has it. The code
//! of a profiled run says in a word of each thread which definition it is at, and a sampler reads these words; nothing
//! else is different, and code of other runs is not touched. Work of one definition below a few hundred instructions at
//! a time is shown as part of the definition that it is computed in.
//!
//! ```
//! use halide::prelude::*;
//! let (x, y) = vars!(x, y);
//! let (mut f, mut g) = (Func::new("f"), Func::new("g"));
//! f[(x, y)] = sin(cast::<f32>(x * y));
//! g[(x, y)] = f[(x, y)] + f[(x + 1, y)];
//! let compiled = Pipeline::new([&g])?.compile(&"f: compute_root()".parse()?, &Target::host())?;
//! let mut out = Buffer::<f32>::new([512, 512])?;
//! let stats = compiled.inputs().profile().count().realize_into(out.view_mut()?)?;
//! let (profile, counts) = (stats.profile.expect("asked for"), stats.counts.expect("asked for"));
//! println!("{}", profile.text(&counts));
//! assert_eq!(counts[0].points, 513 * 512);
//! # Ok::<(), Error>(())
//! ```

#[cfg(feature = "cpu")]
mod of_run;
mod text;

use halide_core::error::Location;
use std::fmt;
use std::time::Duration;

/// One run, or several of one compiled pipeline, as samples show them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The number of runs.
    pub runs: u64,
    /// The time that they took together.
    pub wall: Duration,
    /// The number of moments at which all threads were looked at.
    pub samples: u64,
    /// The time of each activity, the largest first.
    pub rows: Vec<ActivityTime>,
    /// Times at which a thread did the same from sample to sample.
    pub timeline: Vec<Span>,
    /// Memory that was obtained and given back, in order.
    pub memory: Vec<MemoryEvent>,
    /// True if timeline or memory have more entries than are kept.
    pub cut: bool,
}

/// The activity of a thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// Computes a definition.
    Computes {
        /// The Func.
        func: String,
        /// `None` for its first definition, or the number of the update.
        update: Option<usize>,
    },
    /// Computes what is no definition's: bounds, checks, addresses.
    Outside,
    /// Obtains memory.
    Allocates,
    /// Gives memory back.
    Frees,
    /// Waits for the lock of an atomic step.
    Locks,
    /// Waits for the other threads of a parallel loop.
    Waits,
    /// Asks the device for a kernel, or waits for it.
    Device,
    /// Copies to or from the device.
    Copies,
    /// Prints a line.
    Prints,
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Activity::Computes { func, update: None } => func,
            Activity::Computes { func, update: Some(n) } => return f.pad(&format!("{func}.update({n})")),
            Activity::Outside => "(bounds and checks)",
            Activity::Allocates => "(obtaining memory)",
            Activity::Frees => "(giving memory back)",
            Activity::Locks => "(waiting for a lock)",
            Activity::Waits => "(waiting for threads)",
            Activity::Device => "(waiting for the device)",
            Activity::Copies => "(copying to or from the device)",
            Activity::Prints => "(printing)",
        };
        f.pad(words)
    }
}

/// The samples of one activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityTime {
    /// The activity.
    pub activity: Activity,
    /// The place in the source of the definition.
    pub at: Option<Location>,
    /// The threads that were found at it, over all samples.
    pub threads: u64,
    /// The samples that found a thread at it.
    pub samples: u64,
}

/// A time in which a thread was found at one activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// A number that is the same for all spans of a thread.
    pub thread: usize,
    /// The activity.
    pub activity: Activity,
    /// The first sample that found it, as time from the sampler's start.
    pub begin: Duration,
    /// The first sample that found something else.
    pub end: Duration,
}

/// Memory that a run obtained or gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryEvent {
    /// The time from the sampler's start.
    pub at: Duration,
    /// The Func whose values it holds; `None` of a stack.
    pub func: Option<String>,
    /// The bytes, negative where they are given back.
    pub bytes: i64,
    /// The bytes that the run has after it.
    pub live: u64,
}

impl Profile {
    /// Returns the number of threads found at anything, over all samples.
    fn found(&self) -> u64 {
        self.rows.iter().map(|row| row.threads).sum()
    }
    /// Returns the part of the time of all threads that an activity took; the parts of all activities add up to 1.
    pub fn share(&self, row: &ActivityTime) -> f64 {
        if self.found() == 0 { 0.0 } else { row.threads as f64 / self.found() as f64 }
    }
    /// Returns the time of a run in which a thread was at an activity, summed over threads.
    pub fn self_time(&self, row: &ActivityTime) -> Duration {
        let of_run = self.wall.div_f64(self.runs.max(1) as f64);
        if self.samples == 0 { Duration::ZERO } else { of_run.mul_f64(row.threads as f64 / self.samples as f64) }
    }
    /// Returns the mean number of threads at an activity while any was.
    pub fn threads(&self, row: &ActivityTime) -> f64 {
        if row.samples == 0 { 0.0 } else { row.threads as f64 / row.samples as f64 }
    }
    /// Returns the most bytes that a run had at once.
    pub fn peak_bytes(&self) -> u64 {
        self.memory.iter().map(|event| event.live).max().unwrap_or(0)
    }
}

//! Profiles: what the threads of a run did, and when.

use crate::shared::marks::FIRST;
use halide_core::ids::FuncId;
use halide_ir::BufId;
use halide_ir::code_place::Definition;
use std::time::Duration;

/// The activity of a thread of a run at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// Computes a definition: the Func, and 0 or the number of its update counted from 1.
    Computes(FuncId, usize),
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

/// The states that the runtime writes into the word of a thread. 0 is a thread that has no part in the run.
pub(crate) const STATES: [(u64, Activity); 8] = [
    (crate::shared::marks::OUTSIDE, Activity::Outside),
    (2, Activity::Allocates),
    (3, Activity::Frees),
    (4, Activity::Locks),
    (5, Activity::Waits),
    (6, Activity::Device),
    (7, Activity::Copies),
    (8, Activity::Prints),
];

impl Activity {
    /// The activity that a word says; `None` of a thread that has no part in the run.
    pub(crate) fn of_word(word: u64, definitions: &[Definition]) -> Option<Activity> {
        if let Some(index) = word.checked_sub(FIRST) {
            let (func, stage) = definitions.get(usize::try_from(index).ok()?)?;
            return Some(Activity::Computes(*func, *stage));
        }
        STATES.iter().find(|(state, _)| *state == word).map(|(_, activity)| *activity)
    }
    /// The word of a state of the runtime; that of [`Activity::Outside`] for all others.
    pub(crate) fn word(self) -> u64 {
        let state = STATES.iter().find(|(_, activity)| *activity == self);
        state.map_or(crate::shared::marks::OUTSIDE, |(word, _)| *word)
    }
}

/// Runs as their samples show them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunProfile {
    /// The number of runs.
    pub runs: u64,
    /// The time from the begin of a run to its end, over all runs.
    pub wall: Duration,
    /// The number of moments at which all threads were looked at during a run.
    pub samples: u64,
    /// The threads that were found at each activity, in the order of activities.
    pub activities: Vec<Sampled>,
    /// Times at which a thread did the same from sample to sample.
    pub timeline: Vec<Span>,
    /// Memory that was obtained and given back, in order.
    pub memory: Vec<MemoryEvent>,
    /// True if there were more spans or events than are kept: those behind are lacking.
    pub cut: bool,
}

/// The samples of one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The activity.
    pub activity: Activity,
    /// The threads that were found at it, over all samples.
    pub threads: u64,
    /// The samples that found a thread at it.
    pub samples: u64,
}

/// A time in which a thread was found at one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of the thread's word.
    pub thread: usize,
    /// The activity.
    pub activity: Activity,
    /// The first sample that found it, as time from the sampler's start.
    pub begin: Duration,
    /// The first sample that found something else.
    pub end: Duration,
}

/// Memory that is obtained or given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEvent {
    /// The time from the sampler's start.
    pub at: Duration,
    /// The buffer; `None` of stacks.
    pub buf: Option<BufId>,
    /// The bytes, negative where they are given back.
    pub bytes: i64,
    /// The bytes that the run has after it.
    pub live: u64,
}

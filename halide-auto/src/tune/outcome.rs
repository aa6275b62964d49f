//! Questions and answers: schedules to try, and the results of trying them.

use halide_sched::schedule::Schedule;
use std::fmt;

/// The number of a candidate, in the order in which they were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateId(pub usize);

/// A legal schedule to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its number, for [`Tuner::tell`](super::Tuner::tell).
    pub id: CandidateId,
    /// The schedule.
    pub schedule: Schedule,
    /// The way in which it was made.
    pub origin: Origin,
}

/// The way in which a candidate was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One of the schedules that the search began with.
    Start(String),
    /// One that was measured before, to be measured again.
    Recalled,
    /// Another candidate with changes.
    Changed {
        /// The candidate that was changed.
        parent: CandidateId,
        /// The changes in order.
        by: Vec<MoveKind>,
    },
}

/// The result of trying a candidate. Times are in units of the time of the first schedule that was asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// A time.
    Measured {
        /// The time, above 0.
        time: f64,
    },
    /// A candidate that was given up after few runs, since it was slow.
    Dropped {
        /// A time that it takes at least.
        at_least: f64,
    },
    /// Its code is that of another candidate.
    Same,
    /// The compiler refused it.
    Refused,
    /// Its run ended with a fault.
    Fault,
    /// Its output is wrong.
    Wrong,
    /// Its run was ended after far more time than the best takes.
    TooSlow,
    /// Its run needed more memory than it may have.
    TooMuchMemory,
}

/// The kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MoveKind {
    /// A number goes a step along its ladder: a factor, lanes, a chunk, a distance.
    Number,
    /// A Func is computed elsewhere: in a loop of a consumer, a level further in or out, at the root, or inline.
    Place,
    /// A Func is kept at another level.
    Store,
    /// Two loops change places.
    Order,
    /// A loop is split.
    Split,
    /// A split is taken back.
    Join,
    /// A loop is unrolled or no longer so.
    Unroll,
    /// A loop is parallel or no longer so.
    Parallel,
    /// Another loop is vectorized.
    Vectorize,
    /// Storage is folded, reordered, or in another kind of memory.
    Storage,
    /// A hint is given or taken back: loop partitioning, prefetching, streamed stores, unrolling by the code generator.
    Hint,
    /// A Func gets loops like another one's.
    Copy,
    /// A stage and its producers get loops of a common pattern: a register tile, strips, or plain vectors.
    Template,
    /// Some Funcs are scheduled as in another candidate.
    Cross,
}

impl MoveKind {
    /// All kinds.
    pub const ALL: [MoveKind; 14] = [
        MoveKind::Number,
        MoveKind::Place,
        MoveKind::Store,
        MoveKind::Order,
        MoveKind::Split,
        MoveKind::Join,
        MoveKind::Unroll,
        MoveKind::Parallel,
        MoveKind::Vectorize,
        MoveKind::Storage,
        MoveKind::Hint,
        MoveKind::Copy,
        MoveKind::Template,
        MoveKind::Cross,
    ];
}

/// A mistake of who tells.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum TellError {
    /// A candidate that was never asked for.
    Unknown {
        /// Its number.
        id: CandidateId,
    },
    /// A candidate that was told of before.
    Twice {
        /// Its number.
        id: CandidateId,
    },
    /// A time that nothing takes.
    Time {
        /// The time.
        time: f64,
    },
}

impl fmt::Display for TellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TellError::Unknown { id } => {
                write!(f, "candidate {} was never asked for; tell of one that `ask` gave", id.0)
            }
            TellError::Twice { id } => write!(f, "candidate {} was told of before; tell of each one once", id.0),
            TellError::Time { time } => write!(f, "a candidate cannot take {time}; give a finite time above 0"),
        }
    }
}

halide_core::debug_is_display!(TellError);

impl std::error::Error for TellError {}

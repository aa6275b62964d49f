//! Failures of extern stages.

use crate::buffer::BufferError;
use std::fmt;

/// The ways in which an extern stage can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternFault {
    /// The bounds query returned an error.
    Needs(String),
    /// The computation returned an error.
    Compute(String),
    /// A closure panicked.
    Panic(String),
    /// The bounds query gave another number of regions than there are inputs.
    Count {
        /// The inputs.
        expected: usize,
        /// The regions.
        found: usize,
    },
    /// The bounds query gave a region that cannot be that of an input.
    Region {
        /// The input.
        input: String,
        /// The defect of the region.
        error: BufferError,
    },
    /// An end of the box that it needs of an input leaves 64 bits.
    End {
        /// The input.
        input: String,
        /// The dimension.
        dim: usize,
    },
    /// There is no memory for the buffers that a call hands to the closure.
    Buffers(BufferError),
    /// It needs an output of the pipeline that leaves elements as the caller's buffer holds them (`undef`).
    Keeps {
        /// The output.
        func: String,
    },
    /// A closure changed the type or the region of an output.
    Output,
    /// Nobody called the closures: the pipeline was not compiled, but run by itself.
    Alone,
}

impl fmt::Display for ExternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternFault::Needs(text) => write!(f, "its bounds query failed: {text}"),
            ExternFault::Compute(text) => write!(f, "it failed: {text}"),
            ExternFault::Panic(text) => write!(f, "it panicked: {text}"),
            ExternFault::Count { expected, found } => {
                write!(
                    f,
                    "its bounds query gave {found} regions, but it has {expected} inputs; give one region per input"
                )
            }
            ExternFault::Region { input, error } => write!(f, "it cannot have what it needs of `{input}`: {error}"),
            ExternFault::End { input, dim } => {
                write!(
                    f,
                    "the box that it needs of `{input}` leaves 64 bits in dimension {dim}; say it by smaller numbers"
                )
            }
            ExternFault::Buffers(error) => write!(f, "its buffers cannot be had: {error}"),
            ExternFault::Keeps { func } => write!(
                f,
                "it needs `{func}`, which leaves some elements as its buffer holds them, and that is not at hand \
                 before the stage runs; give those elements a value, or read an image instead"
            ),
            ExternFault::Output => f.write_str(
                "it replaced an output by a buffer of another type or region; write into the one that is there",
            ),
            ExternFault::Alone => {
                f.write_str("its closures run only in a pipeline that is compiled; compile it with `halide::Compiler`")
            }
        }
    }
}

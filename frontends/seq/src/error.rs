//! The errors of this crate.

use crate::fault::Fault;
use crate::mistake::Mistakes;
use halide::buffer::BufferError;
use halide_core::debug_is_display;
use halide_core::interp::RunError;
use std::fmt;

/// A reason that there is no proc, or no value of one.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// The mistakes of a proc.
    Proc(Mistakes),
    /// A mistake that a run found, or that lowering did.
    Fault(Fault),
    /// The pipeline of a proc, its schedule or its run.
    Pipeline(halide::Error),
    /// A mistake of the data that compiled code found: an index, or lengths that differ.
    Required {
        /// The place in the proc, the primitive, and the numbers.
        message: String,
    },
    /// A buffer.
    Buffer(BufferError),
    /// Descriptors whose offsets fall.
    OffsetsFall {
        /// The first offset that is smaller than the one before it.
        at: usize,
        /// The offset before.
        before: i32,
        /// The offset.
        after: i32,
    },
    /// Descriptors that do not begin at 0, or do not end with the elements.
    OffsetsEnd {
        /// The first offset.
        first: Option<i32>,
        /// The last offset.
        last: Option<i32>,
        /// The number of elements.
        count: usize,
    },
    /// The parts of a sequence of tuples that have different lengths.
    ZippedLengths {
        /// The length of the first part.
        first: usize,
        /// The length of another one.
        other: usize,
    },
    /// Data that are no sequence of this type.
    NotASequence,
    /// Data that are no scalar of this type.
    NotAScalar,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Proc(mistakes) => mistakes.fmt(f),
            Error::Fault(fault) => fault.fmt(f),
            Error::Pipeline(error) => error.fmt(f),
            Error::Required { message } => f.write_str(message),
            Error::Buffer(error) => error.fmt(f),
            Error::OffsetsFall { at, before, after } => {
                write!(
                    f,
                    "offsets fall from {before} to {after} at position {at}\n  help: rows lie one after the other"
                )
            }
            Error::OffsetsEnd { first, last, count } => {
                let name = |end: &Option<i32>| end.map_or("none".to_string(), |end| end.to_string());
                write!(
                    f,
                    "offsets begin with {} and end with {}, but there are {count} elements\n  help: begin with 0, and \
                     end with the number of elements",
                    name(first),
                    name(last)
                )
            }
            Error::ZippedLengths { first, other } => write!(
                f,
                "the parts of a sequence of tuples have {first} and {other} elements\n  help: give each of them as many"
            ),
            Error::NotASequence => f.write_str(
                "the data are no sequence of scalars of this type\n  help: give a buffer of one dimension from 0 on",
            ),
            Error::NotAScalar => f.write_str("the data are no scalar of this type"),
        }
    }
}

debug_is_display!(Error);

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Proc(mistakes) => Some(mistakes),
            Error::Fault(fault) => Some(fault),
            Error::Pipeline(error) => Some(error),
            Error::Buffer(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Mistakes> for Error {
    fn from(mistakes: Mistakes) -> Error {
        Error::Proc(mistakes)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::Fault(fault)
    }
}

impl From<halide::Error> for Error {
    fn from(error: halide::Error) -> Error {
        match error {
            halide::Error::Run(RunError::Require { message, .. }) => Error::Required { message },
            error => Error::Pipeline(error),
        }
    }
}

impl From<BufferError> for Error {
    fn from(error: BufferError) -> Error {
        Error::Buffer(error)
    }
}

//! Errors that end a run early.

use crate::program::Program;
use crate::sym::{BufId, CalleeId, FaultId};
use halide_core::buffer::BufferError;
use halide_core::externs::ExternFault;
use halide_core::limits::{OverCap, Stop};
use std::fmt;

/// A reason for which a run did not finish; the outputs are untouched.
#[derive(Clone, PartialEq, Eq)]
pub enum EvalError {
    /// An `Assert` does not hold: the call does not suit the program. See [`crate::Fault::message`].
    Fault {
        /// The fault.
        fault: FaultId,
        /// The values in its message.
        args: Vec<i64>,
        /// True if the asserted condition depends on an element that was never written: a requirement of a point that
        /// nobody needs. Machine code knows of no such thing: it ends, or goes on, by what happens to be in memory.
        garbage: bool,
    },
    /// A buffer is too large: the evaluator is for small inputs, and spends nine bytes or more on an element.
    TooLarge {
        /// The buffer.
        buf: BufId,
        /// The number of elements that it would have.
        elements: usize,
    },
    /// A buffer would exceed the run's cap on memory.
    OverCap {
        /// The buffer.
        buf: BufId,
        /// The bytes that are needed, and those that there are.
        over: OverCap,
    },
    /// The run was ended early: see [`Limits::stop`](halide_core::limits::Limits::stop).
    Stopped(Stop),
    /// A closure that the program called failed.
    Extern {
        /// The closure.
        callee: CalleeId,
        /// The failure.
        fault: Box<ExternFault>,
    },
    /// The arguments do not fit the program's tables.
    Arguments(String),
    /// A check of the evaluator: the program is wrong.
    Failed {
        /// The check that failed.
        check: Check,
        /// A description of the failure.
        message: String,
        /// The statements around it, outermost first: `blur_y.y#L0 = 7`.
        place: Vec<String>,
    },
}

/// The checks of the evaluator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Check {
    /// A read outside a buffer.
    ReadOutside,
    /// A write outside a buffer.
    WriteOutside,
    /// An access of memory that belongs to a buffer, between two of its rows.
    BetweenRows,
    /// Something observable depends on an element that was never written, or that a fold has overwritten.
    Uninitialised,
    /// Index arithmetic left 64 bits.
    IndexOverflow,
    /// An allocation of a bad size.
    Allocation,
    /// Iterations of a parallel loop touch one element, or lanes of one store do.
    Race,
    /// An access of memory that was given back before the end of its allocation, or that is given back again.
    Freed,
    /// Host code or a kernel uses a copy of a buffer that is out of date, or that it has none of.
    Copies,
    /// The program breaks a rule that `verify` checks.
    Malformed,
}

impl EvalError {
    /// The text for a user; a fault needs the program's tables for that.
    pub fn message(&self, program: &Program) -> String {
        match self {
            EvalError::Fault { fault, args, .. } => match program.faults.get(*fault) {
                Some(f) => f.message(program, args),
                None => self.to_string(),
            },
            EvalError::TooLarge { buf, elements } => {
                let name = program.buffers.get(*buf).map_or("a buffer", |info| &info.name);
                format!(
                    "`{name}` would have {elements} elements, too many for the evaluator; compute a smaller output, or use \
                     another engine"
                )
            }
            EvalError::OverCap { buf, over } => {
                let name = program.buffers.get(*buf).map_or("a buffer", |info| &info.name);
                format!("`{name}` {over}; compute a smaller output, or raise the cap")
            }
            EvalError::Extern { callee, fault } => {
                let name = program.callees.get(*callee).map_or("?", |row| &row.name);
                format!("extern stage `{name}`: {fault}")
            }
            other => other.to_string(),
        }
    }
    /// Returns the check that failed, if one did.
    pub fn check(&self) -> Option<Check> {
        match self {
            EvalError::Failed { check, .. } => Some(*check),
            _ => None,
        }
    }
    /// A failed check, boxed: errors travel through hot code.
    pub(super) fn failed(check: Check, message: impl Into<String>) -> Box<EvalError> {
        Box::new(EvalError::Failed { check, message: message.into(), place: Vec::new() })
    }
    /// The error seen from one statement further out.
    pub(super) fn inside(mut self: Box<Self>, outer: impl FnOnce() -> String) -> Box<EvalError> {
        if let EvalError::Failed { place, .. } = &mut *self {
            place.insert(0, outer());
        }
        self
    }
}

impl From<BufferError> for EvalError {
    fn from(e: BufferError) -> EvalError {
        EvalError::Arguments(e.to_string())
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Fault { fault, args, .. } => write!(f, "{fault:?} with {args:?}"),
            EvalError::TooLarge { buf, elements } => write!(f, "{buf:?} would have {elements} elements, too many"),
            EvalError::OverCap { buf, over } => write!(f, "{buf:?} {over}"),
            EvalError::Stopped(stop) => write!(f, "{stop}"),
            EvalError::Extern { callee, fault } => write!(f, "{callee:?}: {fault}"),
            EvalError::Arguments(message) => f.write_str(message),
            EvalError::Failed { check, message, place } => {
                write!(f, "{check:?}: {message}")?;
                if place.is_empty() { Ok(()) } else { write!(f, " (in {})", place.join(", ")) }
            }
        }
    }
}

halide_core::debug_is_display!(EvalError);

impl std::error::Error for EvalError {}

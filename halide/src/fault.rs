//! Faults of runs: calls that do not suit the code, and defects of halide itself.

use halide_ir::{Fault, Program};
use std::fmt;

/// A reason that a call does not suit the compiled pipeline: its kind, and as text the buffer, what is needed and what
/// is there.
#[derive(Clone, PartialEq, Eq)]
pub struct CallFault {
    kind: FaultKind,
    text: String,
}

/// The kind of a [`CallFault`]. Nothing was written, unless a kind says otherwise: then parts of the outputs may have
/// been, and what they hold is not specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// An input does not hold all that is read of it.
    InputTooSmall,
    /// The region of an output does not suit the schedule or the algorithm.
    OutputRegion,
    /// A buffer has a stride that the code does not take.
    Stride,
    /// A buffer breaks a rule of the algorithm for its shape or address.
    Rule,
    /// Coordinates leave the range of their type. Outputs may have been written where the coordinates depend on outer
    /// loops or on data.
    Coordinates,
    /// The memory of a Func cannot be allocated. Outputs may have been written.
    OutOfMemory,
    /// A promise of the schedule does not hold. Outputs may have been written where it is of `bound_storage` inside of
    /// loops, or of `specialize_fail` for an update or a Func inside of loops.
    Promise,
    /// A requirement of the algorithm does not hold. Outputs may have been written, unless it is of nothing but
    /// parameters and shapes.
    Requirement,
    /// A GPU cannot run the kernels for buffers of these sizes, or is lost. Outputs may have been written.
    Device,
    /// No variant of the code serves the call. Outputs may have been written.
    Variant,
}

impl CallFault {
    pub(crate) fn new(kind: FaultKind, text: String) -> CallFault {
        CallFault { kind, text }
    }
    /// The fault of a program that ended with `fault`.
    pub(crate) fn of_program(fault: &Fault, program: &Program, args: &[i64]) -> CallFault {
        let kind = match fault {
            Fault::InputTooSmall { .. } => FaultKind::InputTooSmall,
            Fault::OutputRegion { .. } => FaultKind::OutputRegion,
            Fault::Stride { .. } => FaultKind::Stride,
            Fault::Rule { .. } => FaultKind::Rule,
            Fault::IndexOverflow { .. } => FaultKind::Coordinates,
            Fault::OutOfMemory { .. } => FaultKind::OutOfMemory,
            Fault::Promise { .. } => FaultKind::Promise,
            Fault::Require { .. } => FaultKind::Requirement,
            Fault::NotThisVariant | Fault::Unproved | Fault::Access { .. } => FaultKind::Variant,
        };
        CallFault::new(kind, fault.message(program, args))
    }
    /// Returns the kind of the fault.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }
}

impl fmt::Display for CallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

halide_core::debug_is_display!(CallFault, Defect);

impl std::error::Error for CallFault {}

/// A mistake of halide's own, found while a pipeline ran.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// Code was about to access elements that its buffer does not have.
    Access {
        /// The buffer, the loop and the elements, as text.
        message: String,
    },
    /// A check of the evaluator of loops failed.
    Check {
        /// The check, as text.
        message: String,
    },
    /// The runtime of machine code was called wrongly, or panicked.
    Runtime {
        /// The reason, as text.
        message: String,
    },
    /// A program ended without writing all of its outputs.
    Unwritten {
        /// The outputs.
        outputs: Vec<String>,
    },
    /// A program has more outputs than the call has buffers, which was checked.
    NoBuffer {
        /// The output.
        output: String,
    },
    /// Code ended with a fault that its program does not have.
    UnknownFault {
        /// The number of the fault.
        fault: usize,
        /// Its arguments.
        args: Vec<i64>,
    },
    /// The schedule that was picked and an independent one compute different values.
    Differs {
        /// The first difference, as text.
        at: String,
        /// The schedule that was picked.
        schedule: String,
        /// The seed of the tuning.
        seed: u64,
    },
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Defect::Access { message } | Defect::Check { message } | Defect::Runtime { message } => {
                f.write_str(message)
            }
            Defect::Unwritten { outputs } => {
                write!(f, "the lowered program leaves parts of {} unwritten", outputs.join(", "))
            }
            Defect::NoBuffer { output } => write!(f, "no buffer is given for output `{output}`"),
            Defect::UnknownFault { fault, args } => write!(f, "fault {fault} with {args:?} is not in the program"),
            Defect::Differs { at, schedule, seed } => {
                write!(f, "the picked schedule and every Func at the root disagree, with seed {seed}: {at}\n{schedule}")
            }
        }
    }
}

impl std::error::Error for Defect {}

//! The errors of calls, and the numbers that C programs get for them.

use halide_core::buffer::BufferError;
use halide_core::interp::RunError;
use halide_core::limits::OverCap;
use halide_cpu::object::TablesError;
use halide_cpu::{CpuError, CpuFault};
use halide_ir::{Fault, Program};
use std::fmt;

/// The number of a kind of error, as `halide_runtime.h` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// An argument is missing, unknown, of another type or shape, or against a rule of the pipeline.
    Argument = 1,
    /// The sizes of the buffers do not suit each other or the schedule, or the run left what the schedule promises.
    Call = 2,
    /// Memory is exhausted, or the cap on it.
    Memory = 3,
    /// The processor lacks instructions.
    Machine = 4,
    /// The object is of another version.
    Object = 5,
    /// A mistake of halide's own.
    Internal = 6,
}

/// A reason that a call gave no result.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments are not those of the pipeline.
    Run(RunError),
    /// The structure that C code gives for an argument is wrong.
    Argument {
        /// The argument: `argument 2`, `output 0`.
        argument: String,
        /// The problem and a remedy.
        problem: String,
    },
    /// Arguments that make no buffer.
    Buffer {
        /// The argument.
        argument: String,
        /// The problem.
        error: BufferError,
    },
    /// A check of the code failed.
    Fault {
        /// The kind.
        code: Code,
        /// The subject, the problem and a remedy.
        text: String,
    },
    /// The run would have more memory than its cap.
    Memory {
        /// The Func whose values it is for.
        func: String,
        /// The bytes that they need, and the cap.
        over: OverCap,
    },
    /// The machine cannot run the code.
    Machine(CpuError),
    /// The object is not one for this runtime.
    Object(TablesError),
    /// A mistake of halide's own.
    Internal {
        /// The mistake.
        text: String,
    },
}

impl CallError {
    /// The number for C programs.
    pub fn code(&self) -> Code {
        match self {
            CallError::Run(RunError::OverCap { .. }) | CallError::Memory { .. } => Code::Memory,
            CallError::Run(_) | CallError::Argument { .. } | CallError::Buffer { .. } => Code::Argument,
            CallError::Fault { code, .. } => *code,
            CallError::Machine(_) => Code::Machine,
            CallError::Object(_) => Code::Object,
            CallError::Internal { .. } => Code::Internal,
        }
    }
    /// The error of a run of a program that ended with `fault`.
    pub(crate) fn of_fault(fault: CpuFault, program: &Program) -> CallError {
        match fault {
            CpuFault::Check { fault, args } => match program.faults.get(fault) {
                Some(found) => CallError::Fault { code: code_of(found), text: found.message(program, &args) },
                None => CallError::Internal { text: format!("{fault:?} is not in the program") },
            },
            CpuFault::OutOfMemory { buf, bytes } => {
                let args = [i64::try_from(bytes).unwrap_or(i64::MAX)];
                let text = Fault::OutOfMemory { buf }.message(program, &args);
                CallError::Fault { code: Code::Memory, text }
            }
            CpuFault::OverCap { buf, over } => CallError::Memory { func: program.buffers[buf].name.clone(), over },
            other => CallError::Internal { text: other.to_string() },
        }
    }
}

fn code_of(fault: &Fault) -> Code {
    match fault {
        Fault::Rule { .. } => Code::Argument,
        Fault::InputTooSmall { .. }
        | Fault::OutputRegion { .. }
        | Fault::Stride { .. }
        | Fault::IndexOverflow { .. }
        | Fault::Promise { .. }
        | Fault::Require { .. } => Code::Call,
        Fault::OutOfMemory { .. } => Code::Memory,
        Fault::NotThisVariant | Fault::Unproved | Fault::Access { .. } => Code::Internal,
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Run(error) => error.fmt(f),
            CallError::Argument { argument, problem } => write!(f, "{argument} {problem}"),
            CallError::Buffer { argument, error } => write!(f, "{argument}: {error}"),
            CallError::Fault { text, .. } => f.write_str(text),
            CallError::Memory { func, over } => {
                write!(f, "`{func}` {over}; compute a smaller output, or raise the cap: memory_cap of the options")
            }
            CallError::Machine(error) => error.fmt(f),
            CallError::Object(error) => error.fmt(f),
            CallError::Internal { text } => write!(f, "{text}\nthis is a mistake of halide's own; please report it"),
        }
    }
}

halide_core::debug_is_display!(CallError);

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Run(error) => Some(error),
            CallError::Buffer { error, .. } => Some(error),
            CallError::Memory { over, .. } => Some(over),
            CallError::Machine(error) => Some(error),
            CallError::Object(error) => Some(error),
            CallError::Argument { .. } | CallError::Fault { .. } | CallError::Internal { .. } => None,
        }
    }
}

impl From<RunError> for CallError {
    fn from(error: RunError) -> CallError {
        CallError::Run(error)
    }
}

//! What can go wrong: when code is made, and when it runs.

use halide_sched::device::DeviceFault;
use halide_sched::ir::{BufId, FaultId};
use std::fmt;

/// Why a program could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuError {
    /// The machine cannot run generated code: an instruction set that the code generator does not know or that is too old.
    Host(String),
    /// The program is not in the form that this backend takes: a bug of whoever made it.
    Program(String),
    /// The code generator gave up: a limit (a function that is too large) or a bug.
    Codegen(String),
    /// There is no memory for the code.
    Memory(String),
}

impl fmt::Display for CpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuError::Host(why) => write!(f, "this machine cannot run compiled pipelines: {why}"),
            CpuError::Program(why) => write!(f, "the lowered program is malformed (a bug in halide): {why}"),
            CpuError::Codegen(why) => write!(f, "the code generator failed: {why}"),
            CpuError::Memory(why) => write!(f, "no memory for the compiled code: {why}"),
        }
    }
}

impl std::error::Error for CpuError {}

/// Why a run ended without a result. Outputs may have been written in part when the fault came after the checks on entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuFault {
    /// A check of the program failed.
    Check {
        /// Which one: a row of the program's faults.
        fault: FaultId,
        /// The values that its message shows.
        args: Vec<i64>,
    },
    /// An allocation failed, or would have exceeded the run's memory cap.
    OutOfMemory {
        /// What was to be allocated.
        buf: BufId,
        /// Its size; `u64::MAX` when that does not fit.
        bytes: u64,
    },
    /// The device that runs kernels failed.
    Device(DeviceFault),
    /// The arguments do not fit the program: wrong number, type or dimensions.
    Arguments(String),
    /// Code of the runtime panicked: a bug.
    Panic(String),
}

impl fmt::Display for CpuFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuFault::Check { fault, args } => write!(f, "check {fault:?} failed with {args:?}"),
            CpuFault::OutOfMemory { buf, bytes: u64::MAX } => write!(f, "the size of {buf:?} overflows"),
            CpuFault::OutOfMemory { buf, bytes } => write!(f, "no memory for {bytes} bytes of {buf:?}"),
            CpuFault::Device(fault) => write!(f, "{fault}"),
            CpuFault::Arguments(why) => write!(f, "{why}"),
            CpuFault::Panic(why) => write!(f, "the runtime panicked (a bug in halide): {why}"),
        }
    }
}

impl std::error::Error for CpuFault {}

//! The errors of making code and of running it.

use halide_core::externs::ExternFault;
use halide_core::limits::{OverCap, Stop};
use halide_ir::device::DeviceFault;
use halide_ir::{BufId, CalleeId, FaultId};
use std::fmt;

/// The reason that a program could not be compiled.
#[derive(Clone, PartialEq, Eq)]
pub enum CpuError {
    /// The machine cannot run generated code: an instruction set that the code generator does not know or that is too
    /// old.
    Host(String),
    /// The program is not in the form that this backend takes: a bug of whoever made it.
    Program(String),
    /// The code generator gave up: a limit (a function that is too large) or a bug.
    Codegen(String),
    /// There is no memory for the code.
    Memory(String),
    /// There would be more code than there may be.
    TooLarge {
        /// The function that was being made, by its loop, which names the stage.
        function: String,
        /// The measure that is exceeded.
        unit: CodeUnit,
        /// The count so far.
        count: u64,
        /// The most that the target's budget allows.
        most: u64,
    },
    /// The code would need more stack than it may.
    Stack {
        /// The function with the largest frame on the deepest chain of calls, by its loop, which names the stage.
        function: String,
        /// The size of that frame.
        frame: u64,
        /// The sum of all frames of the chain.
        bytes: u64,
        /// The most bytes that the target's budget allows.
        most: u64,
    },
}

/// A measure of the size of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeUnit {
    /// Instructions, before a code generator makes them fewer.
    Instructions,
    /// Bytes of machine code.
    Bytes,
}

impl CpuError {
    /// Returns true if the code, or its stack frames, are too large for the target's budget.
    pub fn is_of_budget(&self) -> bool {
        matches!(self, CpuError::TooLarge { .. } | CpuError::Stack { .. })
    }
}

impl fmt::Display for CpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuError::Host(why) => write!(f, "this machine cannot run compiled pipelines: {why}"),
            CpuError::Program(why) => write!(f, "the lowered program is malformed (a bug in halide): {why}"),
            CpuError::Codegen(why) => write!(f, "the code generator failed: {why}"),
            CpuError::Memory(why) => write!(f, "no memory for the compiled code: {why}"),
            CpuError::TooLarge { function, unit, count, most } => {
                let unit = match unit {
                    CodeUnit::Instructions => "instructions",
                    CodeUnit::Bytes => "bytes of machine code",
                };
                write!(f, "the code has {count} {unit} with `{function}`, more than the {most} allowed")
            }
            CpuError::Stack { function, frame, bytes, most } => write!(
                f,
                "`{function}` keeps {frame} bytes of values on the stack, with what calls it {bytes}, more than the {most} \
                 allowed"
            ),
        }
    }
}

halide_core::debug_is_display!(CpuError, CpuFault);

impl std::error::Error for CpuError {}

/// The reason that a run ended without a result. Outputs may have been written in part when the fault came after the
/// checks on entry.
#[derive(Clone, PartialEq, Eq)]
pub enum CpuFault {
    /// A check of the program failed.
    Check {
        /// The fault: a row of the program's faults.
        fault: FaultId,
        /// The values that its message shows.
        args: Vec<i64>,
    },
    /// An allocation failed.
    OutOfMemory {
        /// The buffer that was to be allocated.
        buf: BufId,
        /// Its size; `u64::MAX` when that does not fit.
        bytes: u64,
    },
    /// An allocation would have exceeded the run's cap on memory.
    OverCap {
        /// The allocation.
        buf: BufId,
        /// The bytes that it needs, and the cap.
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
            CpuFault::OverCap { buf, over } => write!(f, "{buf:?} {over}"),
            CpuFault::Stopped(stop) => write!(f, "{stop}"),
            CpuFault::Extern { callee, fault } => write!(f, "{callee:?}: {fault}"),
            CpuFault::Device(fault) => write!(f, "{fault}"),
            CpuFault::Arguments(why) => write!(f, "{why}"),
            CpuFault::Panic(why) => write!(f, "the runtime panicked (a bug in halide): {why}"),
        }
    }
}

impl std::error::Error for CpuFault {}

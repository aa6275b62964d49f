//! Failures of one variant of the code, as the engines report them.

use crate::error::Error;
use crate::fault::{CallFault, Defect, FaultKind};
use halide_core::externs::{ExternDef, ExternFault};
use halide_core::ids::Id;
use halide_core::interp::RunError;
#[cfg(feature = "cpu")]
use halide_ir::Fault;
#[cfg(any(feature = "cpu", feature = "gpu"))]
use halide_ir::device::DeviceFault;
use halide_ir::{CalleeId, FaultId, Program};

/// A reason that a run of one variant ends without a result.
pub(crate) enum Failure {
    Fault(FaultId, Vec<i64>),
    Other(Error),
}

/// Returns the failure for a fault of machine code.
#[cfg(feature = "cpu")]
pub(crate) fn of_cpu(fault: halide_cpu::CpuFault, program: &Program, callees: &[ExternDef]) -> Failure {
    use halide_cpu::CpuFault;
    match fault {
        CpuFault::Check { fault, args } => Failure::Fault(fault, args),
        CpuFault::OutOfMemory { buf, bytes } => {
            let args = [i64::try_from(bytes).unwrap_or(i64::MAX)];
            Failure::Other(Error::Fault(CallFault::of_program(&Fault::OutOfMemory { buf }, program, &args)))
        }
        CpuFault::OverCap { buf, over } => {
            Failure::Other(Error::Memory { func: program.buffers[buf].name.clone(), over })
        }
        CpuFault::Stopped(stop) => Failure::Other(RunError::Stopped(stop).into()),
        CpuFault::Extern { callee, fault } => Failure::Other(of_extern(callee, *fault, program, callees)),
        CpuFault::Device(fault) => Failure::Other(of_device(&fault, program)),
        CpuFault::Arguments(_) | CpuFault::Panic(_) => {
            Failure::Other(Error::Internal(Defect::Runtime { message: fault.to_string() }))
        }
    }
}

/// The error of a closure that a run called.
fn of_extern(callee: CalleeId, fault: ExternFault, program: &Program, callees: &[ExternDef]) -> Error {
    match callees.get(callee.index()) {
        Some(called) => called.fault(fault).into(),
        None => {
            let name = program.callees.get(callee).map_or("?", |row| &row.name);
            Error::Internal(Defect::Runtime { message: format!("no closure is given for `{name}`") })
        }
    }
}

/// The error of a device that cannot run what it was given.
#[cfg(any(feature = "cpu", feature = "gpu"))]
pub(crate) fn of_device(fault: &DeviceFault, program: &Program) -> Error {
    Error::Fault(CallFault::new(FaultKind::Device, fault.message(program)))
}

/// The error of a run of the evaluator, but for faults that another variant may not have.
pub(crate) fn of_evaluator(error: halide_ir::eval::EvalError, program: &Program, callees: &[ExternDef]) -> Error {
    use halide_ir::eval::EvalError;
    match error {
        EvalError::OverCap { buf, over } => Error::Memory { func: program.buffers[buf].name.clone(), over },
        EvalError::Stopped(stop) => RunError::Stopped(stop).into(),
        EvalError::Extern { callee, fault } => of_extern(callee, *fault, program, callees),
        EvalError::TooLarge { .. } => Error::Fault(CallFault::new(FaultKind::OutOfMemory, error.message(program))),
        error => Error::Internal(Defect::Check { message: error.message(program) }),
    }
}

//! The conventions between compiled code and the runtime, as Cranelift's types: see [`crate::abi`].

pub(super) use crate::abi::{ArgLayout, RuntimeFn, WORKER_ARGS, WORKER_COUNTERS, WORKER_MARK, WORKER_STOP};

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use halide_core::ops::MathFn;

impl RuntimeFn {
    /// The types of its parameters and of its results.
    pub(super) fn types(self) -> (&'static [Type], &'static [Type]) {
        use types::{F64, I64};
        match self {
            RuntimeFn::Allocate => (&[I64, I64, I64, I64], &[I64]),
            RuntimeFn::Release => (&[I64], &[]),
            RuntimeFn::FreeEarly => (&[I64, I64], &[]),
            RuntimeFn::Parallel => (&[I64, I64, I64, I64, I64], &[I64]),
            RuntimeFn::Fail => (&[I64, I64, I64, I64], &[]),
            RuntimeFn::Print => (&[I64, I64, I64, I64], &[]),
            RuntimeFn::Lock => (&[I64, I64, I64], &[]),
            RuntimeFn::Unlock => (&[I64, I64, I64], &[]),
            RuntimeFn::MathF64 => (&[I64, F64, F64], &[F64]),
            RuntimeFn::Fma => (&[I64, F64, F64, F64], &[F64]),
            RuntimeFn::HalfFromF64 => (&[I64, F64], &[I64]),
            RuntimeFn::HalfFromInt => (&[I64, I64, I64], &[I64]),
            RuntimeFn::Dispatch => (&[I64, I64, I64], &[I64]),
            RuntimeFn::Reside => (&[I64, I64, I64], &[I64]),
            RuntimeFn::DeviceBegin => (&[I64, I64, I64, I64, I64], &[I64]),
            RuntimeFn::DeviceEnd => (&[I64, I64], &[]),
            RuntimeFn::Call => (&[I64, I64, I64], &[I64]),
        }
    }
}

/// A signature over `params` and `results`.
pub(super) fn signature(conv: CallConv, params: &[Type], results: &[Type]) -> Signature {
    let mut signature = Signature::new(conv);
    signature.params.extend(params.iter().map(|t| AbiParam::new(*t)));
    signature.returns.extend(results.iter().map(|t| AbiParam::new(*t)));
    signature
}

/// Parameters of the entry.
pub(super) const ENTRY_PARAMS: [Type; 1] = [types::I64];
/// Parameters of a task.
pub(super) const TASK_PARAMS: [Type; 3] = [types::I64, types::I64, types::I64];

/// The signature of the function that computes one part.
pub(super) fn math_signature(f: MathFn) -> Signature {
    signature(CallConv::Fast, &[types::F32X4; 3][..f.arity()], &[types::F32X4])
}

//! Classes of errors that end lowering or a run: the case is refused, asks for other buffers, or has failed.

use crate::failure::{Failure, Outcome, failure};
use crate::sizes::Ruled;
use halide::buffer::Span;
use halide::ir::eval::EvalError;
use halide::ir::{BufId, Fault, Program};
use halide::lower::{KernelProblem, LowerError};
use halide_core::ids::{FuncId, Id};

pub(crate) fn refused_by_lowering(errors: &[LowerError]) -> Result<Outcome, Failure> {
    match errors.first() {
        Some(LowerError::Unbounded { .. }) => Ok(Outcome::Refused("unbounded".into())),
        Some(LowerError::NoConstantExtent { .. }) => Ok(Outcome::Refused("no constant extent".into())),
        Some(LowerError::NothingToPartition { .. }) => Ok(Outcome::Refused("nothing to partition".into())),
        Some(LowerError::Fold { .. }) => Ok(Outcome::Refused("fold".into())),
        Some(LowerError::TooLarge { .. }) => Ok(Outcome::Refused("too large".into())),
        Some(LowerError::Kernel { problem, .. }) => Ok(Outcome::Refused(format!("kernel: {}", word(problem)))),
        None => Err(failure("no reason", "lowering fails without a reason")),
    }
}

/// Returns the reason that there is no kernel, in a few words.
fn word(problem: &KernelProblem) -> &'static str {
    match problem {
        KernelProblem::ThreadExtent { .. } | KernelProblem::BlockExtent { .. } => "no bound",
        KernelProblem::TooManyThreads { .. } | KernelProblem::TooManyThreadLoops { .. } => "many threads",
        KernelProblem::NoConstantSize { .. } | KernelProblem::GlobalSize { .. } => "size",
        KernelProblem::SharedMemory { .. } => "shared memory",
        KernelProblem::NotPrivate { .. } => "not private",
        KernelProblem::Check { .. }
        | KernelProblem::Prints
        | KernelProblem::Calls { .. }
        | KernelProblem::Kept { .. } => "check",
        KernelProblem::BlocksInside { .. } => "blocks inside",
        KernelProblem::LoopBetweenThreads { .. } => "loop between threads",
        KernelProblem::ValueBetweenThreads { .. } => "value between threads",
        KernelProblem::DifferentLanes { .. } => "different lanes",
        KernelProblem::MoreThreadsThanLanes { .. } => "more threads than lanes",
        KernelProblem::LanesNotInnermost { .. } => "lanes not innermost",
        KernelProblem::NotOfLanes { .. } => "not of lanes",
        KernelProblem::LanesOfRows { .. } => "lanes of rows",
        KernelProblem::TooMuchForLanes { .. } => "too much for lanes",
        KernelProblem::LanesApart { .. } => "lanes apart",
    }
}

/// The meaning of a run that did not finish.
pub(crate) enum Class {
    Input(usize, usize, Span),
    /// An output, by position among output Funcs, whose region other Funcs need to be larger.
    Output(usize, usize, Span),
    OtherVariant,
    /// A rule for an input, or for an output by position, that does not hold.
    InputRule(usize, Ruled),
    OutputRule(usize, Ruled),
    Refused(String),
    Failure(Failure),
}

/// Decides it; of a pipeline whose coordinates may be anything (`far`), regions may be too large.
pub(crate) fn class(outputs: &[FuncId], program: &Program, e: &EvalError, far: bool) -> Class {
    let text = e.message(program);
    if let EvalError::TooLarge { .. } | EvalError::OverCap { .. } = e {
        return Class::Refused("large region".into());
    }
    if let EvalError::Stopped(_) = e {
        return Class::Refused("long run".into());
    }
    let EvalError::Fault { fault, args, .. } = e else {
        let kind = e.check().map_or("evaluator".to_string(), |c| format!("evaluator {c:?}"));
        return Class::Failure(failure(kind, text));
    };
    match &program.faults[*fault] {
        Fault::Access { .. } => Class::Failure(failure("access", text)),
        Fault::NotThisVariant | Fault::Unproved => Class::OtherVariant,
        Fault::InputTooSmall { buf, dim } => {
            let image = program.image_buffers.enumerate().find(|(_, b)| *b == buf).map_or(0, |(i, _)| i.index());
            Class::Input(image, *dim, span(args))
        }
        Fault::OutputRegion { buf, dim, reason } if reason.contains("reads or writes more") => {
            Class::Output(output_of(outputs, program, *buf), *dim, span(args))
        }
        Fault::OutputRegion { .. } => Class::Refused("output shape".into()),
        Fault::Promise { .. } => Class::Refused("promise".into()),
        // At a point that nobody needs: the interpreter finds that the requirements hold.
        Fault::Require { .. } => Class::Refused("false alarm".into()),
        Fault::Rule { buf, dim, field, multiple, .. } => {
            let rule =
                Ruled { dim: *dim, field: *field, multiple: *multiple, needed: args.first().copied().unwrap_or(0) };
            match program.image_buffers.enumerate().find(|(_, b)| *b == buf) {
                Some((image, _)) => Class::InputRule(image.index(), rule),
                None => Class::OutputRule(output_of(outputs, program, *buf), rule),
            }
        }
        // A buffer that is as rules for strides say may be none of those that the schedule's order of storage asks for.
        Fault::Stride { .. } if program.faults.iter().any(|f| matches!(f, Fault::Rule { .. })) => {
            Class::Refused("strides of rules".into())
        }
        Fault::Stride { .. } | Fault::IndexOverflow { .. } | Fault::OutOfMemory { .. } if far => {
            Class::Refused("coordinates beyond i32".into())
        }
        // Other coordinates are small, so nothing may come near these limits.
        Fault::Stride { .. } => Class::Failure(failure("stride", text)),
        Fault::IndexOverflow { .. } => Class::Failure(failure("coordinates beyond i32", text)),
        Fault::OutOfMemory { .. } => Class::Failure(failure("out of memory", text)),
    }
}

/// Returns the output that a buffer belongs to, by position.
fn output_of(outputs: &[FuncId], program: &Program, buf: BufId) -> usize {
    let func = program.func_buffers.enumerate().find(|(_, bufs)| bufs.contains(&buf)).map(|(f, _)| f);
    outputs.iter().position(|f| Some(*f) == func).unwrap_or(0)
}

/// Returns the coordinates that a fault says are needed.
fn span(args: &[i64]) -> Span {
    Span { min: args[0], extent: args[1].saturating_sub(args[0]).saturating_add(1) }
}

//! Runs a program of stage `Bounded`, `Flat`, `Shaped` or `Final`: the second oracle. It shares no code with the
//! backends and checks what they assume, so that a wrong answer is blamed on one pass:
//!
//! - Every access stays inside its buffer; before `Flat` in every dimension. Lanes that a mask turns off access
//!   nothing.
//! - Nothing observable depends on an element that was never written. Such a *hole* may be loaded, computed with,
//!   stored and thrown away (code computes more than it needs); it may not reach a condition, a mask, an address of a
//!   store, a size, a count, or the output at the end.
//! - A folded dimension wraps, and an element that holds another coordinate's value is a hole for those who ask.
//! - Index arithmetic does not overflow 64 bits.
//! - What one iteration of a parallel loop writes, no other reads; if others write it too, then the same value. Atomic
//!   steps of one Func wait for each other, not for those of other Funcs. Lanes of one store that meet store one value.
//! - Allocations have the sizes that were promised. Memory that was given back early is used by nobody any more.
//! - In a kernel, no thread of a block touches what another one writes before the next barrier, shared memory that
//!   other rows have overwritten is not read, and stores that are to be of whole words are.
//! - Host code and kernels see the newest copy of a buffer.
//!
//! Loops run serially, `Likely` is its operand, and a failed `Assert` ends the run. Nothing is written to the outputs
//! unless the whole run is good.
//!
//! `compile` turns statements into a tree whose expressions are straight-line code on numbered registers (`code`), and
//! `machine` runs it. Holes are rare, so code runs without tracking them and is run again with tracking when it meets
//! one.

mod call;
mod code;
mod compile;
mod error;
mod hosted;
mod kernel;
mod lanes;
mod machine;
mod parts;
mod race;
mod storage;
mod stores;
mod tell;
#[cfg(test)]
mod tests;
mod watch;

pub use error::{Check, EvalError};
pub use hosted::{AsyncDevice, Ended, run_on};
pub use watch::Event;

use crate::buffer_info::{BufferInfo, BufferRole};
use crate::program::{Program, Stage};
use crate::sym::{BufId, LoopId};
use halide_core::buffer::AnyBuffer;
use halide_core::externs::ExternDef;
use halide_core::ids::IdVec;
use halide_core::interp::PrintSink;
use halide_core::limits::Limits;
use halide_core::value::Scalar;
use storage::Storage;

/// The statistics of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvalStats {
    /// Per buffer of the program.
    pub buffers: IdVec<BufId, BufferStats>,
    /// The value of each counter.
    pub counters: Vec<i64>,
    /// The number of times that the body of each loop ran, outside of kernels.
    pub iterations: IdVec<LoopId, u64>,
    /// The most bytes that were allocated at one time, of all internal buffers.
    pub peak_bytes: u64,
    /// Executed instructions of expressions, where an operation on a vector is one.
    pub operations: u64,
    /// Instructions of expressions and statements in the program, however often they run.
    pub code: u64,
}

/// The statistics of one buffer in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BufferStats {
    /// Element stores.
    pub stores: u64,
    /// Allocations (none for inputs and outputs).
    pub allocations: u64,
    /// Elements of the largest allocation.
    pub peak_elements: u64,
    /// Outputs: elements that were never stored; the caller's values stay.
    pub unwritten: u64,
}

/// Runs the program; what it prints is dropped. `params` are in the order of its table, `images` in that of
/// `image_buffers`, and `outputs` in that of the positions of [`BufferRole::Output`].
pub fn run(
    program: &Program,
    params: &[Scalar],
    images: &[AnyBuffer],
    outputs: &mut [AnyBuffer],
) -> Result<EvalStats, EvalError> {
    run_with(program, params, images, outputs, &Options::default())
}

/// Optional arguments of a run.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Gets the lines that the program prints.
    pub print: Option<&'a PrintSink>,
    /// The limits of the run: memory for its copies of all buffers, nine bytes and more for an element, and the order
    /// to stop, which it follows soon.
    pub limits: Option<&'a Limits>,
    /// The closures that the program calls, in the order of its table.
    pub callees: &'a [ExternDef],
}

/// As [`run`], with options.
pub fn run_with(
    program: &Program,
    params: &[Scalar],
    images: &[AnyBuffer],
    outputs: &mut [AnyBuffer],
    options: &Options<'_>,
) -> Result<EvalStats, EvalError> {
    watched(program, params, images, outputs, options, None)
}

/// Runs a program of stage `Bounded` like [`run_with`], and tells `tell` of every step (see [`Event`]), of iterations
/// of loops only if `loops` is true.
pub fn run_watched(
    program: &Program,
    params: &[Scalar],
    images: &[AnyBuffer],
    outputs: &mut [AnyBuffer],
    options: &Options<'_>,
    tell: &mut dyn FnMut(Event),
    loops: bool,
) -> Result<EvalStats, EvalError> {
    watched(program, params, images, outputs, options, Some((tell, loops)))
}

fn watched(
    program: &Program,
    params: &[Scalar],
    images: &[AnyBuffer],
    outputs: &mut [AnyBuffer],
    options: &Options<'_>,
    tell: Option<(&mut dyn FnMut(Event), bool)>,
) -> Result<EvalStats, EvalError> {
    let unlimited = Limits::default();
    let limits = options.limits.unwrap_or(&unlimited);
    let external = external(program, params, images, outputs, limits)?;
    let compiled = compile::compile(program, params, &external).map_err(|e| *e)?;
    let mut machine = machine::Machine::new(program, &compiled, external, (params, options), limits);
    if let Some((tell, loops)) = tell {
        machine.watch = Some(watch::Watch::new(tell, loops));
    }
    machine.run(&compiled.body).map_err(|e| *e)?;
    let (stats, memory) = machine.finish().map_err(|e| *e)?;
    write_outputs(program, &memory, outputs)?;
    Ok(stats)
}

/// The storage of inputs and outputs at the start, if the arguments fit the program.
fn external(
    program: &Program,
    params: &[Scalar],
    images: &[AnyBuffer],
    outputs: &[AnyBuffer],
    limits: &Limits,
) -> Result<machine::Memory, EvalError> {
    if program.stage == Stage::Nest {
        return Err(EvalError::Arguments("a program at Nest has free bounds and cannot run".to_string()));
    }
    check_params(program, params)?;
    let mut external: machine::Memory = IdVec::new();
    let mut held = 0;
    for (id, info) in program.buffers.enumerate() {
        let mut copy = |given: &AnyBuffer, filled: bool| {
            let storage = Storage::of_caller(given, filled, &|bytes| limits.check(bytes, held, || 0));
            let storage = storage.map_err(|e| e.of(id))?;
            held += storage.taken();
            Ok::<_, EvalError>(Some(storage))
        };
        external.push(match info.role {
            BufferRole::Input(_) => {
                let image = program.image_buffers.enumerate().find(|(_, b)| **b == id).map(|(image, _)| image.0);
                let given = image.and_then(|i| images.get(i as usize));
                copy(checked(info, given, "input")?, true)?
            }
            BufferRole::Output(n) => copy(checked(info, outputs.get(n as usize), "output")?, info.keeps)?,
            BufferRole::Internal => None,
        });
    }
    Ok(external)
}

fn write_outputs(program: &Program, memory: &machine::Memory, outputs: &mut [AnyBuffer]) -> Result<(), EvalError> {
    for ((_, info), storage) in program.buffers.enumerate().zip(memory.iter()) {
        if let (BufferRole::Output(n), Some(storage)) = (info.role, storage) {
            storage.copy_to(&mut outputs[n as usize])?;
        }
    }
    Ok(())
}

fn check_params(program: &Program, params: &[Scalar]) -> Result<(), EvalError> {
    let expected: Vec<_> = program.params.iter().map(|(_, ty)| *ty).collect();
    let given: Vec<_> = params.iter().map(|v| v.ty()).collect();
    if expected == given {
        return Ok(());
    }
    Err(EvalError::Arguments(format!("parameters of types {given:?} for {expected:?}")))
}

/// The caller's buffer, if it has the type and dimensions of `info`.
fn checked<'a>(info: &BufferInfo, given: Option<&'a AnyBuffer>, what: &str) -> Result<&'a AnyBuffer, EvalError> {
    let name = &info.name;
    match given {
        None => Err(EvalError::Arguments(format!("no buffer is given for {what} `{name}`"))),
        Some(b) if b.ty() != info.elem || b.dims().len() != info.dims => Err(EvalError::Arguments(format!(
            "{what} `{name}` is {} in {} dimensions, and {} in {} dimensions is given",
            info.elem,
            info.dims,
            b.ty(),
            b.dims().len()
        ))),
        Some(b) => Ok(b),
    }
}

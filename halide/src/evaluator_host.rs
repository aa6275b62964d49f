//! Runs on a GPU with the evaluator of loops as host: needs no machine code and never waits, as a page
//! in a browser must not. Slow where much is left to the host, and otherwise as fast as the device.

use crate::error::Error;
use crate::failure::{Failure, of_device, of_evaluator};
use crate::fault::Defect;
use crate::memory::{copies_of, hold_copies};
use crate::run_options::{How, RunStats};
use halide_core::buffer::{AnyBuffer, AnyBufferMut};
use halide_core::externs::ExternDef;
use halide_core::interp::Bound;
use halide_core::value::Scalar;
use halide_gpu::GpuError;
use halide_gpu::runtime::{Gpu, GpuProgram};
use halide_ir::eval::{self, Ended, EvalError, Options};
use halide_ir::{BufId, BufferRole, Program};

/// The kernels of a program, whose host code is evaluated.
pub(crate) struct Hosted {
    pub(crate) kernels: GpuProgram,
}

impl Hosted {
    /// Has the driver compile the kernels.
    pub(crate) async fn new(program: &Program, gpu: &Gpu) -> Result<Hosted, Error> {
        Ok(Hosted { kernels: GpuProgram::new_async(gpu, program).await? })
    }

    /// Runs the program on copies of the caller's buffers.
    pub(crate) async fn run(
        &self,
        (program, callees): (&Program, &[ExternDef]),
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
    ) -> Result<RunStats, Failure> {
        let failed = |error: GpuError| Failure::Other(of_gpu(error, program));
        let params: Vec<Scalar> = bound.params.iter().copied().collect();
        let images: Vec<AnyBuffer> = bound.images.iter().cloned().collect();
        let _held = hold_copies(outputs, how)?;
        let mut buffers = copies_of(program, outputs).map_err(of_buffer)?;
        let mut run = if how.profile.is_some() { self.kernels.start_timed() } else { self.kernels.start() };
        for (id, buffer) in bound.images.enumerate() {
            run.bind_input(program.image_buffers[id], buffer).map_err(failed)?;
        }
        for (buf, position) in outputs_of(program) {
            let buffer = buffers.get(position).ok_or_else(|| missing(program, buf))?;
            run.bind_output(buf, buffer.dims()).map_err(failed)?;
        }
        let options = Options { print: how.print.get(), limits: how.limits(), callees };
        let stats = eval::run_on(program, &params, &images, &mut buffers, &mut run, &options).await;
        let stats = stats.map_err(|error| match error {
            Ended::Host(EvalError::Fault { fault, args, .. }) => Failure::Fault(fault, args),
            Ended::Host(error) => Failure::Other(of_evaluator(error, program, callees)),
            Ended::Device(fault) => Failure::Other(of_device(&fault, program)),
        })?;
        for (view, buffer) in outputs.iter_mut().zip(&buffers) {
            view.copy_from(buffer).map_err(of_buffer)?;
        }
        let gpu = run.finish_async().await.map_err(failed)?;
        Ok(RunStats { gpu: Some(gpu), ..RunStats::of_evaluator(stats) })
    }
}

/// The buffers of the outputs, each with its position.
pub(crate) fn outputs_of(program: &Program) -> impl Iterator<Item = (BufId, usize)> {
    program.buffers.enumerate().filter_map(|(buf, info)| match info.role {
        BufferRole::Output(position) => Some((buf, position as usize)),
        _ => None,
    })
}

fn missing(program: &Program, buf: BufId) -> Failure {
    Failure::Other(Error::Internal(Defect::NoBuffer { output: program.buffers[buf].name.clone() }))
}

fn of_buffer(error: halide_core::buffer::BufferError) -> Failure {
    Failure::Other(Error::Buffer(error))
}

/// A failure of the device, with the names that the program gives to buffers and kernels.
pub(crate) fn of_gpu(error: GpuError, program: &Program) -> Error {
    match error {
        GpuError::Fault(fault) => of_device(&fault, program),
        other => Error::Gpu(other),
    }
}

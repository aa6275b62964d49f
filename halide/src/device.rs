//! Runs on a GPU: host code on this CPU, kernels on the device.

use crate::error::Error;
use crate::evaluator_host::{of_gpu, outputs_of};
use crate::failure::{Failure, of_cpu};
use crate::residents::Residents;
use crate::run_options::{How, RunStats};
use halide_core::buffer::{AnyBuffer, AnyBufferMut, BufferError, Region, Span};
use halide_core::externs::ExternDef;
use halide_core::interp::Bound;
use halide_core::shape::dense_strides;
use halide_core::value::Scalar;
use halide_cpu::{Activity, CpuOptions, Executable, RunArgs, Sampler};
use halide_gpu::GpuError;
use halide_gpu::runtime::{Gpu, GpuProgram, GpuRun, GpuStats};
use halide_ir::memory_uses::MemoryUses;
use halide_ir::{BufId, DimField, Fault, Program};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Kernels store whole words of this many bytes where rows begin at multiples of it.
const WORD: i64 = 4;

/// A program's host code and its kernels.
pub(crate) struct OnDevice {
    pub(crate) host: Executable,
    pub(crate) kernels: GpuProgram,
    /// The buffers of the caller that only kernels use: their contents may stay where they are.
    stays: BTreeSet<BufId>,
}

impl OnDevice {
    /// Compiles both halves of a program.
    pub(crate) fn new(program: &Program, options: &CpuOptions, gpu: &Gpu) -> Result<OnDevice, Error> {
        let kernels = GpuProgram::new(gpu, program).map_err(Error::Gpu)?;
        let host = halide_cpu::compile(program, options).map_err(Error::Cpu)?;
        let uses = MemoryUses::of_host(program);
        let by_kernels: BTreeSet<BufId> =
            program.kernels.iter().flat_map(|kernel| kernel.buffers.iter().map(|used| used.buf)).collect();
        let stays = by_kernels.into_iter().filter(|buf| !uses.has(*buf) && !program.buffers[*buf].keeps).collect();
        Ok(OnDevice { host, kernels, stays })
    }

    /// Runs the program on the caller's buffers. An output whose rows do not begin at whole words is computed in a copy
    /// in which they do: other rows would be stored piece by piece, which takes several times as long. Not so where the
    /// algorithm makes rules for strides, which a copy would break.
    pub(crate) fn run(
        &self,
        (program, callees): (&Program, &[ExternDef]),
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        sampler: Option<&Sampler>,
    ) -> Result<RunStats, Failure> {
        let ruled = |buf: &BufId| {
            let is_rule = |f: &Fault| matches!(f, Fault::Rule { buf: b, field: DimField::Stride, .. } if b == buf);
            program.faults.iter().any(is_rule)
        };
        let buffers = output_buffers(program);
        let stays =
            |view: &AnyBufferMut<'_>, buf: &BufId| self.is_left(how, view, *buf) || has_whole_words(view) || ruled(buf);
        let both = outputs.iter().zip(&buffers);
        let own = both.map(|(view, buf)| match stays(view, buf) {
            true => Ok(None),
            false => {
                // As much, and a word a row: the rows of what is worth a copy are far longer.
                how.charge(view.used_bytes() as u64, &program.buffers[*buf].name).map_err(Failure::Other)?;
                padded(view, program.buffers[*buf].keeps).map_err(of_buffer)
            }
        });
        let mut own: Vec<Option<AnyBuffer>> = own.collect::<Result<_, Failure>>()?;
        let views = outputs.iter_mut().zip(&mut own).map(|(view, own)| match own {
            Some(own) => own.view_mut(),
            None => Ok(view.reborrow()),
        });
        let mut views: Vec<AnyBufferMut<'_>> = views.collect::<Result<_, _>>().map_err(of_buffer)?;
        let stats = self.run_in_place((program, callees), bound, &mut views, how, sampler)?;
        drop(views);
        for (view, own) in outputs.iter_mut().zip(&own) {
            if let Some(own) = own {
                view.copy_from(own).map_err(of_buffer)?;
            }
        }
        Ok(stats)
    }

    /// Returns true if an output stays on the device: only kernels use it, and it has the strides of a buffer there.
    fn is_left(&self, how: &How, view: &AnyBufferMut<'_>, buf: BufId) -> bool {
        let strides =
            || view.dims().iter().map(|d| d.stride).eq(dense_strides(view.region().spans(), &|_| None, &|_| 1));
        how.residents.is_some() && self.stays.contains(&buf) && strides()
    }

    fn run_in_place(
        &self,
        (program, callees): (&Program, &[ExternDef]),
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        sampler: Option<&Sampler>,
    ) -> Result<RunStats, Failure> {
        let failed = |error: GpuError| Failure::Other(of_gpu(error, program));
        let mut run = if how.profile.is_some() { self.kernels.start_timed() } else { self.kernels.start() };
        let residents = how.residents.as_ref();
        let (mut images, mut brought) = (Vec::new(), 0);
        for (id, buffer) in bound.images.enumerate() {
            let buf = program.image_buffers[id];
            match residents.and_then(|residents| residents.input(&program.buffers[buf].name)) {
                Some(resident) if self.stays.contains(&buf) => {
                    run.bind_device_input(buf, resident).map_err(failed)?;
                    images.push(buffer.clone());
                }
                Some(resident) => {
                    let was_there = resident.has_host_copy();
                    let host = resident.to_host().map_err(failed)?;
                    brought += if was_there { 0 } else { host.memory().used.len() as u64 };
                    run.bind_input(buf, &host).map_err(failed)?;
                    images.push(host);
                }
                None => {
                    run.bind_input(buf, buffer).map_err(failed)?;
                    images.push(buffer.clone());
                }
            }
        }
        let buffers = output_buffers(program);
        let left: Vec<bool> =
            buffers.iter().zip(outputs.iter()).map(|(buf, view)| self.is_left(how, view, *buf)).collect();
        for ((&buf, view), left) in buffers.iter().zip(outputs.iter()).zip(&left) {
            match left {
                true => drop(run.bind_device_output(buf, &view.region()).map_err(failed)?),
                false => run.bind_output(buf, view.dims()).map_err(failed)?,
            }
        }
        let params: Vec<Scalar> = bound.params.iter().copied().collect();
        let inputs = images.iter().map(AnyBuffer::raw);
        let raws: Vec<_> = inputs.chain(outputs.iter_mut().map(AnyBufferMut::raw_mut)).collect();
        let run: Mutex<GpuRun> = Mutex::new(run);
        let args = RunArgs {
            params: &params,
            buffers: &raws,
            threads: how.threads,
            device: Some(&run),
            print: how.print.get(),
            limits: how.limits(),
            sampler,
            callees,
            ..RunArgs::default()
        };
        let stats = self.host.run(&args).map_err(|fault| of_cpu(fault, program, callees))?;
        let run = run.into_inner().unwrap_or_else(PoisonError::into_inner);
        let finish = || finished(run, &buffers, outputs, residents.map(|r| (r, &left[..])), &failed);
        let gpu = match sampler {
            Some(sampler) => sampler.end_of_run(Activity::Device, finish),
            None => finish(),
        };
        let mut gpu = gpu?;
        gpu.download_bytes += brought;
        Ok(RunStats { gpu: Some(gpu), ..RunStats::of_code(stats) })
    }
}

/// Waits for the device, and takes the outputs that are there. Those that are left there become residents.
fn finished(
    mut run: GpuRun,
    buffers: &[BufId],
    outputs: &mut [AnyBufferMut<'_>],
    residents: Option<(&Residents, &[bool])>,
    failed: &impl Fn(GpuError) -> Failure,
) -> Result<GpuStats, Failure> {
    for (number, (&buf, view)) in buffers.iter().zip(outputs.iter_mut()).enumerate() {
        if let Some((residents, _)) = residents.filter(|(_, left)| left[number]) {
            residents.keep(number, run.take_output(buf, &view.region()).map_err(failed)?);
            continue;
        }
        // What host code wrote last is in its place.
        if !run.is_on_device(buf) {
            continue;
        }
        match view.bytes_mut() {
            Some(bytes) => run.finish_output(buf, bytes).map_err(failed)?,
            None => {
                let mut bytes = vec![0; view.used_bytes()];
                run.finish_output(buf, &mut bytes).map_err(failed)?;
                view.copy_from_bytes(&bytes).map_err(of_buffer)?;
            }
        }
    }
    run.finish().map_err(failed)
}

/// The buffers of the outputs, in order.
fn output_buffers(program: &Program) -> Vec<BufId> {
    let mut all: Vec<(BufId, usize)> = outputs_of(program).collect();
    all.sort_unstable_by_key(|(_, position)| *position);
    all.into_iter().map(|(buf, _)| buf).collect()
}

/// Returns true if every row begins at a multiple of a word from the first element.
fn has_whole_words(view: &AnyBufferMut<'_>) -> bool {
    let size = view.ty().bytes() as i64;
    let dense = view.dims().iter().position(|d| d.stride == 1);
    let rows = view.dims().iter().enumerate().filter(|(i, d)| Some(*i) != dense && d.extent > 1);
    size >= WORD || dense.is_none() || rows.into_iter().all(|(_, d)| d.stride * size % WORD == 0)
}

/// A buffer over the same region whose rows, along the dense dimension of `view`, are whole words long, with what
/// `view` holds where the program `keeps` some of that; `None` where that would take coordinates that there are not.
fn padded(view: &AnyBufferMut<'_>, keeps: bool) -> Result<Option<AnyBuffer>, BufferError> {
    let mut order: Vec<usize> = (0..view.dims().len()).collect();
    order.sort_by_key(|&d| view.dims()[d].stride.abs());
    let region = view.region();
    let mut spans: Vec<Span> = region.spans().to_vec();
    if let Some(&first) = order.first() {
        let elements = WORD / view.ty().bytes() as i64;
        spans[first].extent = (spans[first].extent + elements - 1) / elements * elements;
    }
    match AnyBuffer::with_layout(view.ty(), &Region::new(spans), &order) {
        Err(BufferError::CoordinateRange { .. }) => Ok(None),
        made => {
            let mut made = made?.crop(&region)?;
            if keeps {
                made.view_mut()?.copy_from(&view.to_buffer()?)?;
            }
            Ok(Some(made))
        }
    }
}

fn of_buffer(error: BufferError) -> Failure {
    Failure::Other(Error::Buffer(error))
}

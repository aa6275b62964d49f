//! The variants of one compiled pipeline.
//!
//! The main variant is made at once. It is fast and assumes what is so for nearly every call: outputs at least as large as
//! the factors of splits, inputs with room for rounded-up reads, rows without gaps. A call that it does not serve ends
//! with a fault before anything is written; then the variant for such calls is made, once, and serves this one.
//!
//! The *exact* variant has guards in place of shifted tails, others take any stride. A requirement that fails may be at
//! a point that was computed and that nobody needs: the interpreter decides and words the error, and if all is well the
//! *unchecked* variant runs. The variant that checks accesses in place runs where a check outside of loops asked too
//! much (`Fault::Unproved`).

use crate::call::{How, RunStats};
use crate::compile::regions_of;
use crate::error::Error;
use crate::memory::{self, hold_copies};
use crate::variant_key::{VariantKey, fault_error, next};
use halide_core::buffer::{AnyBuffer, AnyBufferMut, BufferError, Region};
use halide_core::ids::ImageId;
use halide_core::interp::{Bound, RunError};
use halide_ir::footprint::Footprint;
use halide_ir::{BufferRole, Fault, FaultId, Program};
use halide_sched::lower::{Lowered, lower};
use halide_sched::plan::Plan;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The buffers of a call that are in the same memory.
#[derive(Default)]
pub(crate) struct Aliases {
    /// Inputs with the number of the output buffer that they are in.
    pub(crate) shared: Vec<(ImageId, usize)>,
    /// Outputs, as bits by position, whose first definition is in memory already.
    pub(crate) in_memory: u64,
}

/// One variant.
struct Variant {
    program: Program,
    footprint: Footprint,
    code: Code,
}

/// The code of a program.
enum Code {
    Evaluator,
    #[cfg(feature = "cpu")]
    Cpu(halide_cpu::Executable),
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    Gpu(crate::device::OnDevice),
    #[cfg(feature = "gpu")]
    Hosted(crate::evaluator_host::Hosted),
}

/// The machines that programs are compiled for.
#[derive(Clone)]
pub(crate) enum Machine {
    /// The evaluator of loops.
    Evaluator,
    /// This CPU.
    #[cfg(feature = "cpu")]
    Cpu,
    /// This CPU with a graphics processor.
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    Gpu(halide_gpu::runtime::Gpu),
    /// A graphics processor, with the evaluator of loops for what is left to the host.
    #[cfg(feature = "gpu")]
    Hosted(halide_gpu::runtime::Gpu),
}

/// Says what of the algorithm's requirements does not hold where regions of the outputs need it.
type Required<'r> = &'r dyn Fn(&[Region]) -> Result<(), RunError>;

/// A cache of variants.
pub(crate) struct Variants {
    machine: Machine,
    main: Arc<Variant>,
    others: Mutex<BTreeMap<VariantKey, Result<Arc<Variant>, Error>>>,
}

/// A reason that a run of one variant ends without a result.
pub(crate) enum Failure {
    Fault(FaultId, Vec<i64>),
    Other(Error),
}

impl Variants {
    /// Makes the main variant.
    pub(crate) fn new(plan: &Plan, machine: Machine) -> Result<Variants, Error> {
        let main = Arc::new(Variant::new(plan, &machine, VariantKey::default())?);
        Ok(Variants { machine, main, others: Mutex::default() })
    }
    /// The program and the kernels of the main variant.
    #[cfg(feature = "gpu")]
    pub(crate) fn on_device(&self) -> Option<(&Program, &halide_gpu::runtime::GpuProgram)> {
        match &self.main.code {
            Code::Hosted(code) => Some((&self.main.program, &code.kernels)),
            #[cfg(feature = "cpu")]
            Code::Gpu(code) => Some((&self.main.program, &code.kernels)),
            _ => None,
        }
    }

    /// The variants made so far, the main one first.
    pub(crate) fn made(&self) -> Vec<VariantKey> {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let made = others.iter().filter(|(_, variant)| variant.is_ok()).map(|(key, _)| *key);
        std::iter::once(VariantKey::default()).chain(made).collect()
    }

    /// [`Variants::new`], without waiting for the driver.
    #[cfg(feature = "gpu")]
    pub(crate) async fn new_async(plan: &Plan, machine: Machine) -> Result<Variants, Error> {
        let main = Arc::new(Variant::new_async(plan, &machine, VariantKey::default()).await?);
        Ok(Variants { machine, main, others: Mutex::default() })
    }
    /// [`Variants::run`], without waiting for the device.
    #[cfg(feature = "gpu")]
    pub(crate) async fn run_async(
        &self,
        plan: &Plan,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        required: Required<'_>,
    ) -> Result<RunStats, Error> {
        let mut key = VariantKey::default();
        loop {
            let variant = self.get_async(plan, key).await?;
            if !key.checks_in_place && variant.may_end_midway() && variant.cannot_run_twice() {
                key.checks_in_place = true;
                continue;
            }
            match variant.run_async(bound, outputs, how).await {
                Ok(stats) => return Ok(stats),
                Err(failure) => key = variant.after(key, failure, || required(&regions_of(&plan.pipeline, outputs)))?,
            }
        }
    }
    #[cfg(feature = "gpu")]
    async fn get_async(&self, plan: &Plan, key: VariantKey) -> Result<Arc<Variant>, Error> {
        let others = || self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if key == VariantKey::default() {
            return Ok(self.main.clone());
        }
        if let Some(made) = others().get(&key) {
            return made.clone();
        }
        // Nothing is held meanwhile, since nobody may wait; who comes second uses what is there by then.
        let made = Variant::new_async(plan, &self.machine, key).await.map(Arc::new);
        others().entry(key).or_insert(made).clone()
    }

    /// Runs with the first variant that serves the call.
    pub(crate) fn run(
        &self,
        plan: &Plan,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        required: Required<'_>,
        aliases: &Aliases,
    ) -> Result<RunStats, Error> {
        // Where memory is shared, no point may be computed twice.
        let in_memory = aliases.in_memory;
        let exact_tails = !aliases.shared.is_empty();
        let mut key = VariantKey { exact_tails, in_memory, ..VariantKey::default() };
        loop {
            let variant = self.get(plan, key)?;
            if !key.checks_in_place && variant.may_end_midway() && (exact_tails || variant.cannot_run_twice()) {
                key.checks_in_place = true;
                continue;
            }
            match variant.run(bound, outputs, how, aliases) {
                Ok(stats) => return Ok(stats),
                Err(failure) => key = variant.after(key, failure, || required(&regions_of(&plan.pipeline, outputs)))?,
            }
        }
    }

    fn get(&self, plan: &Plan, key: VariantKey) -> Result<Arc<Variant>, Error> {
        if key == VariantKey::default() {
            return Ok(self.main.clone());
        }
        // Held while compiling, so that callers that need the same variant at once wait for one.
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let made = others.entry(key).or_insert_with(|| Variant::new(plan, &self.machine, key).map(Arc::new));
        made.clone()
    }
}

fn lowered(plan: &Plan, key: VariantKey) -> Result<Lowered, Error> {
    lower(plan, &key.options()).map_err(Error::Lower)
}

impl Variant {
    /// The variant to try when this one's run, of `key`, ended without a result.
    fn after(
        &self,
        key: VariantKey,
        failure: Failure,
        required: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<VariantKey, Error> {
        let (fault, args) = match failure {
            Failure::Other(error) => return Err(error),
            Failure::Fault(fault, args) => (fault, args),
        };
        if let Some(Fault::Require { .. }) = self.program.faults.get(fault) {
            // The interpreter evaluates only what is needed, and knows all that the message says.
            required()?;
            return Ok(VariantKey { unchecked: true, ..key });
        }
        let other = self.program.faults.get(fault).and_then(|fault| next(key, fault));
        other.ok_or_else(|| fault_error(&self.program, fault, &args))
    }
    /// Returns true if a run may end for the sake of another variant when it has computed something.
    fn may_end_midway(&self) -> bool {
        self.program.faults.iter().any(|fault| *fault == Fault::Unproved)
    }
    /// Returns true if a second run differs from the first: it prints again, or updates what the first has updated.
    fn cannot_run_twice(&self) -> bool {
        !self.program.prints.is_empty() || self.program.buffers.iter().any(|info| info.keeps)
    }
    /// Checks, before anything is written, that the memory is within the cap that is known to be needed.
    fn check_memory(&self, bound: &Bound, outputs: &[AnyBufferMut<'_>], how: &How) -> Result<(), Failure> {
        let Some(limits) = how.limits() else { return Ok(()) };
        let spare = || self.spare();
        memory::check(&self.program, &self.footprint, bound, outputs, limits, &spare).map_err(Failure::Other)
    }
    /// Bytes that are kept from earlier runs.
    fn spare(&self) -> u64 {
        match &self.code {
            #[cfg(feature = "cpu")]
            Code::Cpu(executable) => executable.retained_bytes() as u64,
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            Code::Gpu(code) => code.host.retained_bytes() as u64,
            _ => 0,
        }
    }
    #[cfg(feature = "gpu")]
    async fn new_async(plan: &Plan, machine: &Machine, key: VariantKey) -> Result<Variant, Error> {
        match machine {
            Machine::Hosted(gpu) => {
                let Lowered { program, .. } = lowered(plan, key)?;
                let code = Code::Hosted(crate::evaluator_host::Hosted::new(&program, gpu).await?);
                Ok(Variant { footprint: Footprint::new(&program), program, code })
            }
            other => Variant::new(plan, other, key),
        }
    }
    #[cfg(feature = "gpu")]
    async fn run_async(&self, bound: &Bound, outputs: &mut [AnyBufferMut<'_>], how: &How) -> Result<RunStats, Failure> {
        self.check_memory(bound, outputs, how)?;
        match &self.code {
            Code::Hosted(code) => code.run(&self.program, bound, outputs, how).await,
            _ => self.run(bound, outputs, how, &Aliases::default()),
        }
    }

    fn new(plan: &Plan, machine: &Machine, key: VariantKey) -> Result<Variant, Error> {
        let lowered = lowered(plan, key)?;
        let code = Variant::code(plan, machine, &lowered.program);
        #[cfg(feature = "cpu")]
        let code = code.map_err(|error| error.caused_by(&lowered.causes));
        let program = lowered.program;
        Ok(Variant { footprint: Footprint::new(&program), program, code: code? })
    }
    /// Compiles a program for `machine`.
    fn code(plan: &Plan, machine: &Machine, program: &Program) -> Result<Code, Error> {
        Ok(match machine {
            #[cfg(feature = "gpu")]
            Machine::Hosted(gpu) => {
                Code::Hosted(crate::gpu::waiting(gpu, crate::evaluator_host::Hosted::new(program, gpu))??)
            }
            Machine::Evaluator => Code::Evaluator,
            #[cfg(feature = "cpu")]
            Machine::Cpu => {
                if let Some(kernel) = program.kernels.iter().next() {
                    return Err(Error::NoDevice { kernel: kernel.name.clone() });
                }
                let options = halide_cpu::CpuOptions::for_target(&plan.target);
                Code::Cpu(halide_cpu::compile(program, &options).map_err(Error::Cpu)?)
            }
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            Machine::Gpu(gpu) => Code::Gpu(crate::device::OnDevice::new(program, &plan.target, gpu)?),
        })
    }

    fn run(
        &self,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        aliases: &Aliases,
    ) -> Result<RunStats, Failure> {
        self.check_memory(bound, outputs, how)?;
        // The evaluator works on copies.
        #[cfg(not(feature = "cpu"))]
        let _ = aliases;
        match &self.code {
            Code::Evaluator => evaluate(&self.program, bound, outputs, how),
            #[cfg(feature = "cpu")]
            Code::Cpu(executable) => execute(&self.program, executable, bound, outputs, how, aliases),
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            Code::Gpu(code) => code.run(&self.program, bound, outputs, how),
            #[cfg(feature = "gpu")]
            Code::Hosted(code) => {
                let run = code.run(&self.program, bound, outputs, how);
                crate::gpu::waiting(code.kernels.gpu(), run).map_err(Failure::Other)?
            }
        }
    }
}

/// Runs machine code on the caller's buffers.
#[cfg(feature = "cpu")]
fn execute(
    program: &Program,
    executable: &halide_cpu::Executable,
    bound: &Bound,
    outputs: &mut [AnyBufferMut<'_>],
    how: &How,
    aliases: &Aliases,
) -> Result<RunStats, Failure> {
    let params: Vec<_> = bound.params.iter().copied().collect();
    // Inputs in the order of their images, then outputs. The borrows of both last until the run ends.
    let results: Vec<_> = outputs.iter_mut().map(AnyBufferMut::raw_mut).collect();
    let input = |(id, image): (ImageId, &AnyBuffer)| match aliases.shared.iter().find(|(shared, _)| *shared == id) {
        Some((_, buffer)) => results[*buffer].clone(),
        None => image.raw(),
    };
    let buffers: Vec<_> = bound.images.enumerate().map(input).chain(results.iter().cloned()).collect();
    let args = halide_cpu::RunArgs {
        params: &params,
        buffers: &buffers,
        threads: how.threads,
        print: how.print.get(),
        limits: how.limits(),
        ..Default::default()
    };
    match executable.run(&args) {
        Ok(stats) => Ok(RunStats::on_host(stats.peak_bytes)),
        Err(fault) => Err(of_cpu(fault, program)),
    }
}

/// Returns the failure for a fault of machine code.
#[cfg(feature = "cpu")]
pub(crate) fn of_cpu(fault: halide_cpu::CpuFault, program: &Program) -> Failure {
    use halide_cpu::CpuFault;
    match fault {
        CpuFault::Check { fault, args } => Failure::Fault(fault, args),
        CpuFault::OutOfMemory { buf, bytes } => {
            let args = [i64::try_from(bytes).unwrap_or(i64::MAX)];
            Failure::Other(Error::Fault(Fault::OutOfMemory { buf }.message(program, &args)))
        }
        CpuFault::OverCap { buf, over } => {
            Failure::Other(Error::Memory { func: program.buffers[buf].name.clone(), over })
        }
        CpuFault::Stopped(stop) => Failure::Other(RunError::Stopped(stop).into()),
        CpuFault::Device(fault) => Failure::Other(Error::Fault(fault.message(program))),
        CpuFault::Arguments(_) | CpuFault::Panic(_) => Failure::Other(Error::Internal(fault.to_string())),
    }
}

/// Buffers to compute outputs in that are not written where the caller's are: with their strides, since rules may speak of
/// them, and with what they hold where the program keeps some of that.
pub(crate) fn copies_of(program: &Program, outputs: &[AnyBufferMut<'_>]) -> Result<Vec<AnyBuffer>, BufferError> {
    let keeps = program.buffers.iter().any(|info| info.keeps);
    let copy = |view: &AnyBufferMut<'_>| match keeps {
        true => view.to_buffer(),
        false => AnyBuffer::like(view.ty(), view.dims()),
    };
    outputs.iter().map(copy).collect()
}

/// The error of a run of the evaluator, but for faults that another variant may not have.
pub(crate) fn of_evaluator(error: halide_ir::eval::EvalError, program: &Program) -> Error {
    use halide_ir::eval::EvalError;
    match error {
        EvalError::OverCap { buf, over } => Error::Memory { func: program.buffers[buf].name.clone(), over },
        EvalError::Stopped(stop) => RunError::Stopped(stop).into(),
        EvalError::TooLarge { .. } => Error::Fault(error.message(program)),
        error => Error::Internal(error.message(program)),
    }
}

/// Runs the checked evaluator, which works on buffers of its own.
fn evaluate(
    program: &Program,
    bound: &Bound,
    outputs: &mut [AnyBufferMut<'_>],
    how: &How,
) -> Result<RunStats, Failure> {
    use halide_ir::eval::{EvalError, Options, run_with};
    let failed = |error| Failure::Other(Error::Buffer(error));
    let params: Vec<_> = bound.params.iter().copied().collect();
    let images: Vec<_> = bound.images.iter().cloned().collect();
    let _held = hold_copies(outputs, how)?;
    let mut buffers = copies_of(program, outputs).map_err(failed)?;
    let options = Options { print: how.print.get(), limits: how.limits() };
    let stats = run_with(program, &params, &images, &mut buffers, &options).map_err(|error| match error {
        EvalError::Fault { fault, args, .. } => Failure::Fault(fault, args),
        error => Failure::Other(of_evaluator(error, program)),
    })?;
    for (view, buffer) in outputs.iter_mut().zip(&buffers) {
        view.copy_from(buffer).map_err(failed)?;
    }
    let unwritten: Vec<&str> = program
        .buffers
        .enumerate()
        .filter(|(id, info)| matches!(info.role, BufferRole::Output(_)) && stats.buffers[*id].unwritten > 0)
        .map(|(_, info)| info.name.as_str())
        .collect();
    if !unwritten.is_empty() {
        let text = format!("the lowered program leaves parts of {} unwritten", unwritten.join(", "));
        return Err(Failure::Other(Error::Internal(text)));
    }
    Ok(RunStats::on_host(stats.peak_bytes))
}

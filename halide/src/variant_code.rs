//! The code of one variant, and its runs.

use crate::aliases::Aliases;
#[cfg(feature = "cpu")]
use crate::code_cache::{CachedCode, CodeOrigin, Keeping, Subject};
use crate::engine::Machine;
use crate::error::Error;
#[cfg(feature = "cpu")]
use crate::failure::of_cpu;
use crate::failure::{Failure, of_evaluator};
use crate::fault::Defect;
use crate::memory::{self, copies_of, hold_copies};
#[cfg(feature = "cpu")]
use crate::perf::{self, Told};
#[cfg(feature = "cpu")]
use crate::profile::Profile;
use crate::run_options::{How, RunStats};
#[cfg(feature = "cpu")]
use crate::used;
use crate::variant_key::{VariantKey, cannot_run_twice, fault_error, may_end_midway, next};
#[cfg(feature = "cpu")]
use halide_core::buffer::AnyBuffer;
use halide_core::buffer::AnyBufferMut;
use halide_core::externs::ExternDef;
#[cfg(feature = "cpu")]
use halide_core::ids::ImageId;
use halide_core::interp::Bound;
#[cfg(feature = "cpu")]
use halide_cpu::CpuOptions;
use halide_ir::footprint::Footprint;
use halide_ir::{BufferRole, Fault, FaultId, Program};
use halide_sched::lower::{Lowered, Pixels, lower};
use halide_sched::plan::Plan;
#[cfg(feature = "cpu")]
use std::time::Instant;

/// One variant.
pub(crate) struct Variant {
    /// Keeps the code known to profilers or debuggers, if the environment asks for that. It is dropped before the code.
    #[cfg(feature = "cpu")]
    _told: Option<Told>,
    pub(crate) program: Program,
    /// The reason that the variant before it did not serve the call that this one was made for.
    pub(crate) because: Option<String>,
    #[cfg(feature = "cpu")]
    pub(crate) origin: CodeOrigin,
    footprint: Footprint,
    pub(crate) code: Code,
    /// True if it stores nothing.
    only_counts: bool,
}

/// The code of a program.
pub(crate) enum Code {
    Evaluator,
    #[cfg(feature = "cpu")]
    Cpu(halide_cpu::Executable),
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    Gpu(crate::device::OnDevice),
    #[cfg(feature = "gpu")]
    Hosted(crate::evaluator_host::Hosted),
}

/// Checks that the code of the main variant has the instructions that its plan uses; others serve small calls.
#[cfg(feature = "cpu")]
fn used_as_said(plan: &Plan, code: &halide_cpu::Executable, key: VariantKey) -> Result<(), Error> {
    match key == VariantKey::default() {
        true => used::check(plan, code).map_err(|missing| Error::NotEmitted(Box::new(missing))),
        false => Ok(()),
    }
}

/// Checks that the host runs all of a program.
#[cfg(feature = "cpu")]
fn on_host(program: &Program) -> Result<(), Error> {
    match program.kernels.iter().next() {
        Some(kernel) => Err(Error::NoDevice { kernel: kernel.name.clone() }),
        None => Ok(()),
    }
}

/// Lowers the program of a variant.
pub(crate) fn lowered(plan: &Plan, key: VariantKey) -> Result<Lowered, Error> {
    lower(plan, &key.options()).map_err(Error::Lower)
}

impl Variant {
    /// The variant to try when this one's run, of `key`, ended without a result, with the fault and its arguments.
    /// `pixels` says which buffers of the call are interleaved.
    pub(crate) fn after(
        &self,
        key: VariantKey,
        failure: Failure,
        required: impl FnOnce() -> Result<(), Error>,
        pixels: impl FnOnce() -> Option<Pixels>,
    ) -> Result<(VariantKey, FaultId, Vec<i64>), Error> {
        let (fault, args) = match failure {
            Failure::Other(error) => return Err(error),
            Failure::Fault(fault, args) => (fault, args),
        };
        if let Some(Fault::Require { .. }) = self.program.faults.get(fault) {
            // The interpreter evaluates only what is needed, and knows all that the message says.
            required()?;
            return Ok((VariantKey { unchecked: true, ..key }, fault, args));
        }
        let other = self.program.faults.get(fault).and_then(|fault| next(key, fault, pixels));
        match other {
            Some(key) => Ok((key, fault, args)),
            None => Err(fault_error(&self.program, fault, &args)),
        }
    }
    /// Says why a run of this variant ended with a fault.
    pub(crate) fn reason(&self, fault: FaultId, args: &[i64]) -> Option<String> {
        Some(self.program.faults.get(fault)?.reason(&self.program, args))
    }
    /// Returns true if a run may end for the sake of another variant when it has computed something.
    pub(crate) fn may_end_midway(&self) -> bool {
        may_end_midway(&self.program)
    }
    /// Returns true if a second run differs from the first: it prints again, or updates what the first has updated.
    pub(crate) fn cannot_run_twice(&self) -> bool {
        cannot_run_twice(&self.program)
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
    pub(crate) async fn new_async(plan: &Plan, machine: &Machine, key: VariantKey) -> Result<Variant, Error> {
        match machine {
            Machine::Hosted(gpu) => {
                let Lowered { program, .. } = lowered(plan, key)?;
                let code = Code::Hosted(crate::evaluator_host::Hosted::new(&program, gpu).await?);
                Ok(Variant::of_code(program, code))
            }
            other => Variant::new(plan, other, key),
        }
    }
    #[cfg(feature = "gpu")]
    pub(crate) async fn run_async(
        &self,
        plan: &Plan,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
    ) -> Result<RunStats, Failure> {
        self.check_memory(bound, outputs, how)?;
        match &self.code {
            Code::Hosted(code) => code.run((&self.program, &plan.callees), bound, outputs, how).await,
            _ => self.run(plan, bound, outputs, how, &Aliases::default()),
        }
    }

    pub(crate) fn new(plan: &Plan, machine: &Machine, key: VariantKey) -> Result<Variant, Error> {
        #[cfg(feature = "cpu")]
        if let Machine::Cpu(Some(kept)) = machine {
            return Variant::kept(plan, kept, key);
        }
        let lowered = lowered(plan, key)?;
        let code = Variant::code(plan, machine, &lowered.program, key.marks);
        #[cfg(feature = "cpu")]
        let code = code.map_err(|error| error.caused_by(&lowered.causes));
        let variant = Variant::of_code(lowered.program, code?);
        match &variant.code {
            #[cfg(feature = "cpu")]
            Code::Cpu(executable) => {
                used_as_said(plan, executable, key)?;
                Ok(Variant { _told: perf::tell(plan, executable)?, ..variant })
            }
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            Code::Gpu(code) => used_as_said(plan, &code.host, key).map(|()| variant),
            _ => Ok(variant),
        }
    }
    /// A variant whose code is read, or kept for others.
    #[cfg(feature = "cpu")]
    fn kept(plan: &Plan, kept: &Keeping, key: VariantKey) -> Result<Variant, Error> {
        let options = Variant::options(plan, key.marks)?;
        let subject = Subject { plan, schedule: &kept.schedule, variant: key, options: &options };
        let lower = || lowered(plan, key).and_then(|lowered| on_host(&lowered.program).map(|()| lowered));
        let CachedCode { program, footprint, code, origin } = kept.cache.code(subject, lower)?;
        used_as_said(plan, &code, key)?;
        let told = perf::tell(plan, &code)?;
        let (code, because, only_counts) = (Code::Cpu(code), None, false);
        Ok(Variant { _told: told, program, because, origin, footprint, code, only_counts })
    }
    /// The options for machine code of a variant.
    #[cfg(feature = "cpu")]
    pub(crate) fn options(plan: &Plan, marks: bool) -> Result<CpuOptions, Error> {
        let note_mnemonics = used::used(plan).next().is_some();
        Ok(CpuOptions { marks, note_mnemonics, keep_text: perf::is_asked()?, ..CpuOptions::for_target(&plan.target) })
    }
    /// Compiles a program of a plan for `machine`.
    pub(crate) fn of_program(plan: &Plan, machine: &Machine, program: Program) -> Result<Variant, Error> {
        let code = Variant::code(plan, machine, &program, false)?;
        Ok(Variant::of_code(program, code))
    }
    fn of_code(program: Program, code: Code) -> Variant {
        Variant {
            footprint: Footprint::new(&program),
            because: None,
            program,
            code,
            only_counts: false,
            #[cfg(feature = "cpu")]
            origin: CodeOrigin::Compiled,
            #[cfg(feature = "cpu")]
            _told: None,
        }
    }
    /// The same variant, which stores nothing if it only counts.
    pub(crate) fn counting(self, only_counts: bool) -> Variant {
        Variant { only_counts, ..self }
    }
    /// Compiles a program for `machine`.
    fn code(plan: &Plan, machine: &Machine, program: &Program, marks: bool) -> Result<Code, Error> {
        // Who evaluates asks none of these.
        #[cfg(not(feature = "cpu"))]
        let _ = (plan, program, marks);
        #[cfg(feature = "cpu")]
        let options = Variant::options(plan, marks)?;
        Ok(match machine {
            #[cfg(feature = "gpu")]
            Machine::Hosted(gpu) => {
                Code::Hosted(crate::gpu::waiting(gpu, crate::evaluator_host::Hosted::new(program, gpu))??)
            }
            Machine::Evaluator => Code::Evaluator,
            #[cfg(feature = "cpu")]
            Machine::Cpu(_) => {
                on_host(program)?;
                Code::Cpu(halide_cpu::compile(program, &options).map_err(Error::Cpu)?)
            }
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            Machine::Gpu(gpu) => Code::Gpu(crate::device::OnDevice::new(program, &options, gpu)?),
        })
    }

    /// Does runs of machine code under a sampler, if one was asked for: one, or more where that says the same.
    #[cfg(feature = "cpu")]
    fn sampled(
        &self,
        plan: &Plan,
        code: &halide_cpu::Executable,
        how: &How,
        may_repeat: bool,
        mut run: impl FnMut(Option<&halide_cpu::Sampler>) -> Result<RunStats, Failure>,
    ) -> Result<RunStats, Failure> {
        let threads = code.threads(how.threads.unwrap_or(usize::MAX));
        let Some((until, sampler)) = how.profile.and_then(|until| Some((until, halide_cpu::Sampler::start(threads)?)))
        else {
            return run(None);
        };
        let begun = Instant::now();
        let mut stats = run(Some(&sampler));
        let may_repeat = may_repeat && !self.cannot_run_twice();
        while stats.is_ok() && may_repeat && sampler.samples() < until.samples && begun.elapsed() < until.time {
            stats = run(Some(&sampler));
        }
        let profile = code.profile(sampler);
        Ok(RunStats { profile: Some(Profile::of_run(plan, &self.program, profile)), ..stats? })
    }

    pub(crate) fn run(
        &self,
        plan: &Plan,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        aliases: &Aliases,
    ) -> Result<RunStats, Failure> {
        self.check_memory(bound, outputs, how)?;
        let callees = &plan.callees;
        // The evaluator works on copies, and has no profiles.
        #[cfg(not(feature = "cpu"))]
        let _ = aliases;
        match &self.code {
            Code::Evaluator => evaluate(&self.program, callees, bound, outputs, (how, self.only_counts)),
            #[cfg(feature = "cpu")]
            // Where an output is in the memory of an input, a second run would read what the first one wrote.
            Code::Cpu(executable) => self.sampled(plan, executable, how, aliases.shared.is_empty(), |sampler| {
                execute((&self.program, callees), executable, bound, outputs, (how, sampler), aliases)
            }),
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            Code::Gpu(code) => {
                let program = (&self.program, callees.as_slice());
                let run = |sampler: Option<&halide_cpu::Sampler>| code.run(program, bound, outputs, how, sampler);
                self.sampled(plan, &code.host, how, true, run)
            }
            #[cfg(feature = "gpu")]
            Code::Hosted(code) => {
                let run = code.run((&self.program, callees), bound, outputs, how);
                crate::gpu::waiting(code.kernels.gpu(), run).map_err(Failure::Other)?
            }
        }
    }
}

/// Runs machine code on the caller's buffers.
#[cfg(feature = "cpu")]
fn execute(
    (program, callees): (&Program, &[ExternDef]),
    executable: &halide_cpu::Executable,
    bound: &Bound,
    outputs: &mut [AnyBufferMut<'_>],
    (how, sampler): (&How, Option<&halide_cpu::Sampler>),
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
        sampler,
        callees,
        ..Default::default()
    };
    match executable.run(&args) {
        Ok(stats) => Ok(RunStats::of_code(stats)),
        Err(fault) => Err(of_cpu(fault, program, callees)),
    }
}

/// Runs the checked evaluator, which works on buffers of its own. Outputs stay as they are if the program only counts.
fn evaluate(
    program: &Program,
    callees: &[ExternDef],
    bound: &Bound,
    outputs: &mut [AnyBufferMut<'_>],
    (how, only_counts): (&How, bool),
) -> Result<RunStats, Failure> {
    use halide_ir::eval::{EvalError, Options, run_with};
    let failed = |error| Failure::Other(Error::Buffer(error));
    let params: Vec<_> = bound.params.iter().copied().collect();
    let images: Vec<_> = bound.images.iter().cloned().collect();
    let _held = hold_copies(outputs, how)?;
    let mut buffers = copies_of(program, outputs).map_err(failed)?;
    let options = Options { print: how.print.get(), limits: how.limits(), callees };
    let stats = run_with(program, &params, &images, &mut buffers, &options).map_err(|error| match error {
        EvalError::Fault { fault, args, .. } => Failure::Fault(fault, args),
        error => Failure::Other(of_evaluator(error, program, callees)),
    })?;
    if only_counts {
        return Ok(RunStats::of_evaluator(stats));
    }
    for (view, buffer) in outputs.iter_mut().zip(&buffers) {
        view.copy_from(buffer).map_err(failed)?;
    }
    let outputs: Vec<String> = program
        .buffers
        .enumerate()
        .filter(|(id, info)| matches!(info.role, BufferRole::Output(_)) && stats.buffers[*id].unwritten > 0)
        .map(|(_, info)| info.name.clone())
        .collect();
    if !outputs.is_empty() {
        return Err(Failure::Other(Error::Internal(Defect::Unwritten { outputs })));
    }
    Ok(RunStats::of_evaluator(stats))
}

//! Every engine gives the same values: the interpreter, the evaluator on the program with bounds and on the final one
//! (in both variants), machine code, and the graphics processor.

use crate::case::Case;
use crate::device::{self, OnDevice};
use crate::sizes::{MOST_ELEMENTS, Sizes, hull};
use halide::buffer::BufferError;
use halide::buffer::Span;
use halide::ir::eval::{self, EvalError};
use halide::ir::{BufferRole, Fault, Program, Stage, verify::verify};
use halide::lower::{KernelProblem, LowerError, LowerOptions, Lowered, lower, lower_to_bounded};
use halide::plan::{self, Plan};
use halide::prelude::*;
use halide_core::ids::{FuncId, Id};
use halide_core::interp::{self, RunError};
use halide_cpu::{CpuOptions, Executable, RunArgs, Tier};

/// How a case that did not fail ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All engines gave the same values; there were no kernels.
    Compared,
    /// All engines gave the same values, a graphics processor among them.
    ComparedOnDevice,
    /// It was refused, as it should be; in a word or two, why.
    Refused(String),
}

/// How a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In a few words, the same for all cases that fail alike.
    pub kind: String,
    /// All of it.
    pub text: String,
}

/// Runs a case on all engines. What the schedule may not do is refused; everything else that keeps values from being
/// compared is a failure.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    let mut case = case.clone();
    let plan = match plan::resolve(&case.pipeline, &case.schedule, &case.target) {
        Ok(plan) => plan,
        Err(_) => return Ok(Outcome::Refused("illegal schedule".into())),
    };
    let mut programs = Vec::new();
    for exact_tails in [true, false] {
        match lower_both(&plan, exact_tails) {
            Ok([bounded, last]) => programs.extend([(exact_tails, bounded), (exact_tails, last)]),
            Err(errors) => return refused_by_lowering(&errors),
        }
    }
    for (exact, program) in &programs {
        if let Err(errors) = verify(program) {
            return Err(failure(format!("malformed {:?}", program.stage), format!("exact {exact}: {errors:?}")));
        }
    }
    let mut inputs = Sizes::new(&case);
    let (outputs, expected) = loop {
        let outputs = match evaluate(&case, &plan.pipeline.outputs, &programs, &inputs)? {
            Evaluated::Done(outputs) => outputs,
            Evaluated::Regions(regions) => {
                case.regions = regions;
                continue;
            }
            Evaluated::Grow(image, dim, span) if inputs.grow(image, dim, span) => continue,
            Evaluated::Grow(..) => return Ok(Outcome::Refused("large input".into())),
            Evaluated::Refused(why) => return Ok(Outcome::Refused(why)),
        };
        match interp::run(&case.pipeline, &inputs.given(&case), &case.regions) {
            Ok(expected) => break (outputs, expected),
            Err(RunError::IndexOverflow { .. }) => return Ok(Outcome::Refused("index overflow".into())),
            // It evaluates also what inlining drops: arguments that are ignored, other elements of tuples.
            Err(RunError::ReadOutside { image, dim, at, .. }) => {
                let image = case.pipeline.images.iter().position(|i| i.name == image).unwrap_or(0);
                if !inputs.grow(image, dim, Span { min: at, extent: 1 }) {
                    return Ok(Outcome::Refused("large input".into()));
                }
            }
            Err(e) => return Err(failure("interpreter", e.to_string())),
        }
    };
    for (n, got) in &outputs {
        compare(&name(&programs[*n]), got, &expected)?;
    }
    let finals = outputs.iter().map(|(n, _)| &programs[*n]).filter(|(_, p)| p.stage == Stage::Final);
    let (on_device, on_host): (Vec<_>, Vec<_>) = finals.partition(|(_, p)| !p.kernels.is_empty());
    for (exact, program) in on_host {
        for (tier, threads) in Tier::ALL.into_iter().filter(|t| t.available()).flat_map(|t| [(t, 1), (t, 2)]) {
            let code = halide_cpu::compile(program, &CpuOptions { tier, ..CpuOptions::default() });
            let code = code.map_err(|e| failure("cpu refuses", format!("{e}\n{program}")))?;
            let got = run_code(&case, program, &code, &inputs, threads);
            let got = got.map_err(|e| failure("cpu fault", format!("{tier:?}, exact {exact}: {e}\n{program}")))?;
            compare(&format!("cpu {tier:?}, exact {exact}, {threads} threads"), &got, &expected)?;
        }
    }
    if case.seed.is_multiple_of(8) && case.target.gpu.is_none() {
        with_facade(&case, &inputs, &expected)?;
    }
    if on_device.is_empty() {
        return Ok(Outcome::Compared);
    }
    Ok(match device::check(&case, &inputs, &expected)? {
        OnDevice::Compared => Outcome::ComparedOnDevice,
        OnDevice::Refused(why) => Outcome::Refused(why),
    })
}

/// As users run it: the variant that serves the call is found on the way.
fn with_facade(case: &Case, inputs: &Sizes, expected: &[AnyBuffer]) -> Result<(), Failure> {
    let compiled =
        case.pipeline.compile(&case.schedule, &case.target).map_err(|e| failure("cpu refuses", e.to_string()))?;
    for threads in [1, 2] {
        let images = case.pipeline.images.iter().zip(&inputs.buffers);
        let call = compiled.inputs().threads(threads);
        let call = images.fold(call, |call, (i, buffer)| call.image_named(&i.name, buffer.clone()));
        let call = case.pipeline.params.iter().fold(call, |call, p| call.param_named(&p.name, case.param(p)));
        let got = call.realize_all(&case.regions).map_err(|e| failure("cpu fault", e.to_string()))?;
        compare(&format!("facade, {threads} threads"), &got, expected)?;
    }
    Ok(())
}

fn run_code(
    case: &Case,
    program: &Program,
    code: &Executable,
    inputs: &Sizes,
    threads: usize,
) -> Result<Vec<AnyBuffer>, String> {
    let failed = |e: BufferError| e.to_string();
    let params = params(case);
    let mut outputs = outputs_for(case, program).map_err(failed)?;
    let mut views = outputs.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    // The borrows of inputs and outputs last until the run ends.
    let buffers: Vec<_> =
        inputs.buffers.iter().map(AnyBuffer::raw).chain(views.iter_mut().map(|v| v.raw_mut())).collect();
    let args = RunArgs { params: &params, buffers: &buffers, threads: Some(threads), ..RunArgs::default() };
    code.run(&args).map_err(|fault| fault.to_string())?;
    drop(views);
    Ok(outputs)
}

fn params(case: &Case) -> Vec<Scalar> {
    case.pipeline.params.iter().map(|p| case.param(p)).collect()
}

/// Outputs that lie in memory as the program wants.
fn outputs_for(case: &Case, program: &Program) -> Result<Vec<AnyBuffer>, BufferError> {
    let mut outputs = Vec::new();
    for (&func, region) in case.pipeline.outputs.iter().zip(&case.regions) {
        for &ty in &case.pipeline.funcs[func].types {
            let own = program.buffers.iter().find(|b| b.role == BufferRole::Output(outputs.len() as u32));
            outputs.push(match own {
                Some(info) => AnyBuffer::with_layout(ty, region, &info.order)?,
                None => AnyBuffer::with_region(ty, region)?,
            });
        }
    }
    Ok(outputs)
}

/// A program in words.
fn name((exact, program): &(bool, Program)) -> String {
    format!("{:?}, exact {exact}", program.stage)
}

/// The first pass of lowering after which the program is wrong, by evaluating it after each; for the report of a
/// failure. `None` if the evaluator agrees all along or nothing can be said.
pub fn blame(case: &Case) -> Option<String> {
    let plan = plan::resolve(&case.pipeline, &case.schedule, &case.target).ok()?;
    let sizes = sizes_for(case, &plan)?;
    let given = sizes.given(case);
    let expected = interp::run(&case.pipeline, &given, &case.regions).ok()?;
    for exact_tails in [true, false] {
        let options = LowerOptions { exact_tails, keep_programs: true, ..LowerOptions::default() };
        let lowered = lower(&plan, &options).ok()?;
        for pass in lowered.trace.passes {
            let Some(program) = pass.after else { continue };
            let problem = match run(case, &program, &sizes) {
                Ok(got) => compare("", &got, &expected).err().map(|f| f.text),
                Err(e) => match class(&plan.pipeline.outputs, &program, &e) {
                    Class::Failure(failure) => Some(failure.text),
                    _ => None,
                },
            };
            if let Some(text) = problem {
                return Some(format!("wrong after {} (exact {exact_tails}): {text}\n{program}", pass.name));
            }
        }
    }
    None
}

fn sizes_for(case: &Case, plan: &Plan) -> Option<Sizes> {
    let [bounded, _] = lower_both(plan, true).ok()?;
    let mut sizes = Sizes::new(case);
    loop {
        match run(case, &bounded, &sizes) {
            Err(e) => match class(&plan.pipeline.outputs, &bounded, &e) {
                Class::Input(image, dim, span) if sizes.grow(image, dim, span) => {}
                _ => return Some(sizes),
            },
            Ok(_) => return Some(sizes),
        }
    }
}

fn lower_both(plan: &Plan, exact_tails: bool) -> Result<[Program; 2], Vec<LowerError>> {
    let options = LowerOptions { exact_tails, ..LowerOptions::default() };
    let Lowered { program: bounded, .. } = lower_to_bounded(plan, &options)?;
    let Lowered { program: last, .. } = lower(plan, &options)?;
    Ok([bounded, last])
}

fn refused_by_lowering(errors: &[LowerError]) -> Result<Outcome, Failure> {
    match errors.first() {
        Some(LowerError::Unbounded { .. }) => Ok(Outcome::Refused("unbounded".into())),
        Some(LowerError::NoConstantExtent { .. }) => Ok(Outcome::Refused("no constant extent".into())),
        Some(LowerError::NothingToPartition { .. }) => Ok(Outcome::Refused("nothing to partition".into())),
        Some(LowerError::Fold { .. }) => Ok(Outcome::Refused("fold".into())),
        Some(LowerError::Kernel { problem, .. }) => Ok(Outcome::Refused(format!("kernel: {}", word(problem)))),
        None => Err(failure("no reason", "lowering fails without a reason")),
    }
}

/// Why there is no kernel, in a few words.
fn word(problem: &KernelProblem) -> &'static str {
    match problem {
        KernelProblem::ThreadExtent { .. } | KernelProblem::BlockExtent { .. } => "no bound",
        KernelProblem::TooManyThreads { .. } | KernelProblem::TooManyThreadLoops { .. } => "many threads",
        KernelProblem::NoConstantSize { .. } | KernelProblem::GlobalSize { .. } => "size",
        KernelProblem::SharedMemory { .. } => "shared memory",
        KernelProblem::NotPrivate { .. } => "not private",
        KernelProblem::Check { .. } | KernelProblem::Prints | KernelProblem::Kept { .. } => "check",
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

/// What one round of evaluation came to.
enum Evaluated {
    /// An input must hold this too.
    Grow(usize, usize, Span),
    /// Outputs must have these regions.
    Regions(Vec<Region>),
    Refused(String),
    /// The outputs of every program that serves the call, by position.
    Done(Vec<(usize, Vec<AnyBuffer>)>),
}

fn evaluate(
    case: &Case,
    outputs: &[FuncId],
    programs: &[(bool, Program)],
    inputs: &Sizes,
) -> Result<Evaluated, Failure> {
    let mut all = Vec::new();
    for (n, entry) in programs.iter().enumerate() {
        let ((exact, program), name) = (entry, name(entry));
        match run(case, program, inputs) {
            Ok(got) => all.push((n, got)),
            Err(e) => match class(outputs, program, &e) {
                Class::OtherVariant if !exact => {}
                Class::Input(image, dim, span) if *exact || (case.roomy && inputs.fits(image, dim, span)) => {
                    return Ok(Evaluated::Grow(image, dim, span));
                }
                Class::Input(..) => {}
                Class::Output(output, dim, span) => {
                    return Ok(match larger_output(case, output, dim, span) {
                        Some(regions) => Evaluated::Regions(regions),
                        None => Evaluated::Refused("large output".into()),
                    });
                }
                Class::Refused(why) => return Ok(Evaluated::Refused(why)),
                Class::OtherVariant => {
                    return Err(failure("no variant", format!("{name} is for other shapes\n{program}")));
                }
                Class::Failure(f) => return Err(Failure { text: format!("{name}: {}\n{program}", f.text), ..f }),
            },
        }
    }
    Ok(Evaluated::Done(all))
}

fn run(case: &Case, program: &Program, inputs: &Sizes) -> Result<Vec<AnyBuffer>, EvalError> {
    let params = params(case);
    let mut outputs = outputs_for(case, program)?;
    let stats = eval::run(program, &params, &inputs.buffers, &mut outputs)?;
    for (id, info) in program.buffers.enumerate() {
        if matches!(info.role, BufferRole::Output(_)) && stats.buffers[id].unwritten > 0 {
            return Err(EvalError::Arguments(format!("unwritten parts of {}", info.name)));
        }
    }
    Ok(outputs)
}

/// What it means that a run did not finish.
enum Class {
    Input(usize, usize, Span),
    /// An output, by position among output Funcs, whose region other Funcs need to be larger.
    Output(usize, usize, Span),
    OtherVariant,
    Refused(String),
    Failure(Failure),
}

fn class(outputs: &[FuncId], program: &Program, e: &EvalError) -> Class {
    let text = e.message(program);
    let EvalError::Fault { fault, args, .. } = e else {
        let kind = e.check().map_or("evaluator".to_string(), |c| format!("evaluator {c:?}"));
        return Class::Failure(failure(kind, text));
    };
    match &program.faults[*fault] {
        Fault::NotThisVariant => Class::OtherVariant,
        Fault::InputTooSmall { buf, dim } => {
            let image = program.image_buffers.enumerate().find(|(_, b)| *b == buf).map_or(0, |(i, _)| i.index());
            Class::Input(image, *dim, span(args))
        }
        Fault::OutputRegion { buf, dim, reason } if reason.contains("reads or writes more") => {
            let func = program.func_buffers.enumerate().find(|(_, bufs)| bufs.contains(buf)).map(|(f, _)| f);
            let output = outputs.iter().position(|f| Some(*f) == func).unwrap_or(0);
            Class::Output(output, *dim, span(args))
        }
        Fault::OutputRegion { .. } => Class::Refused("output shape".into()),
        Fault::Promise { .. } => Class::Refused("promise".into()),
        // At a point that nobody needs: the interpreter finds that the requirements hold.
        Fault::Require { .. } => Class::Refused("false alarm".into()),
        // Coordinates are small, so nothing may come near these limits.
        Fault::Stride { .. } => Class::Failure(failure("stride", text)),
        // Random pipelines have no rules.
        Fault::Rule { .. } => Class::Failure(failure("a rule that nobody made", text)),
        Fault::IndexOverflow { .. } => Class::Failure(failure("coordinates beyond i32", text)),
        Fault::OutOfMemory { .. } => Class::Failure(failure("out of memory", text)),
    }
}

/// What a fault says is needed.
fn span(args: &[i64]) -> Span {
    Span { min: args[0], extent: args[1].saturating_sub(args[0]).saturating_add(1) }
}

/// The regions of a case with one output that holds `span` too; `None` if that is too much.
fn larger_output(case: &Case, output: usize, dim: usize, span: Span) -> Option<Vec<Region>> {
    let mut regions = case.regions.clone();
    regions[output] = hull(&regions[output], dim, span);
    let fits = regions[output].points().is_some_and(|n| n <= MOST_ELEMENTS) && regions != case.regions;
    fits.then_some(regions)
}

pub(crate) fn failure(kind: impl Into<String>, text: impl Into<String>) -> Failure {
    Failure { kind: kind.into(), text: text.into() }
}

pub(crate) fn compare(name: &str, got: &[AnyBuffer], expected: &[AnyBuffer]) -> Result<(), Failure> {
    for (n, (got, want)) in got.iter().zip(expected).enumerate() {
        if let Some((at, a, b)) = got.first_difference(want) {
            return Err(failure(
                format!("wrong value: {name}"),
                format!("{name}: output {n} at {at:?} is {a}, not {b}"),
            ));
        }
    }
    Ok(())
}

//! Every engine gives the same values: the interpreter, the evaluator on the program with bounds and on the final one
//! (in both variants), machine code, and the GPU.

use crate::case::Case;
use crate::class::{Class, class, refused_by_lowering};
use crate::device::{self, OnDevice};
use crate::facade;
use crate::failure::{Failure, Outcome, compare, failure};
use crate::sizes::{MOST_ELEMENTS, Ruled, Sizes, hull};
use crate::tiers::tiers;
use crate::watch::for_seconds;
use halide::buffer::BufferError;
use halide::buffer::Span;
use halide::ir::eval::{self, EvalError, EvalStats};
use halide::ir::{BufferRole, Program, Stage, verify::verify};
use halide::lower::{LowerError, LowerOptions, Lowered, Snapshots, lower, lower_to_bounded};
use halide::plan::{self, Plan};
use halide::prelude::*;
use halide_core::ids::FuncId;
use halide_core::interp::{self, RunError};
use halide_core::limits::Limits;
use halide_core::pipeline::DimField;
use halide_core::shape::{BufferOf, Law, dense_strides};
use halide_cpu::{CpuError, CpuFault, CpuOptions, Executable, RunArgs, Tier};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The most bytes that an allocation may have more than its elements.
const SLACK: u64 = 256;

/// The most bytes that the evaluator may take for one program of a case: what needs more is refused.
const MEMORY: u64 = 32 << 20;

/// The longest that it may run: what takes longer is refused, and counted as such.
const SECONDS: Duration = Duration::from_secs(10);

/// The most times that buffers are made to suit a pipeline with rules.
const MOST_ROUNDS: usize = 40;

/// The most times that buffers are made to suit any pipeline.
const MANY_ROUNDS: usize = 400;

/// Runs a case on all engines. What the schedule may not do is refused; everything else that keeps values from being
/// compared is a failure.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    let outcome = check_main(case.main_part())?;
    let alone = case.pipeline.externs.is_empty() || case.schedule.reassociates();
    match alone || matches!(outcome, Outcome::Refused(_)) {
        true => Ok(outcome),
        false => facade::with_externs(case),
    }
}

/// Checks a case without machine code: the evaluator runs one variant at `Bounded` and the other one at `Final`. A case
/// takes a small part of the time of [`check`].
pub fn check_lowering(case: &Case) -> Result<Outcome, Failure> {
    let programs = if case.seed.is_multiple_of(2) { BOUNDED_EXACT } else { BOUNDED_MAIN };
    Ok(match lowered(case.main_part(), programs)? {
        Ok(_) => Outcome::Compared,
        Err(refused) => refused,
    })
}

/// Checks the final programs of a case in both variants, without machine code.
pub(crate) fn check_final(case: Case) -> Result<Outcome, Failure> {
    Ok(match lowered(case.main_part(), FINAL)? {
        Ok(_) => Outcome::Compared,
        Err(refused) => refused,
    })
}

/// The programs of a case that run: those with exact tails, and those of the main variant, each with bounds only and in
/// the end.
type Programs = [(bool, &'static [Stage]); 2];

const ALL_PROGRAMS: Programs = [(true, &[Stage::Bounded, Stage::Final]), (false, &[Stage::Bounded, Stage::Final])];
const FINAL: Programs = [(true, &[Stage::Final]), (false, &[Stage::Final])];
const BOUNDED_EXACT: Programs = [(true, &[Stage::Bounded]), (false, &[Stage::Final])];
const BOUNDED_MAIN: Programs = [(true, &[Stage::Final]), (false, &[Stage::Bounded])];

/// A case whose programs all give the values of the interpreter.
struct Compared {
    case: Case,
    /// The programs, each with true if its tails are exact.
    programs: Vec<(bool, Program)>,
    inputs: Sizes,
    /// The results of programs, by their position.
    outputs: Vec<(usize, Ran)>,
    expected: Vec<AnyBuffer>,
    /// True where machine code may round floats in another way than the interpreter.
    rounds: bool,
}

/// Lowers a case, and compares what the evaluator gives with the interpreter.
fn lowered(mut case: Case, asked: Programs) -> Result<Result<Compared, Outcome>, Failure> {
    let plan = match plan::resolve(&case.pipeline, &case.schedule, &case.target) {
        Ok(plan) => plan,
        Err(_) => return Ok(Err(Outcome::Refused("illegal schedule".into()))),
    };
    let mut programs = Vec::new();
    for (exact_tails, stages) in asked {
        match lower_to(&plan, exact_tails, stages) {
            Ok(made) => programs.extend(made.into_iter().map(|program| (exact_tails, program))),
            Err(errors) => return refused_by_lowering(&errors).map(Err),
        }
    }
    for (exact, program) in &programs {
        if let Err(errors) = verify(program) {
            return Err(failure(format!("malformed {:?}", program.stage), format!("exact {exact}: {errors:?}")));
        }
    }
    let mut inputs = Sizes::new(&case);
    let (outputs, expected) = match settled(&mut case, &plan, &programs, &mut inputs)? {
        Settled::Values(outputs, expected) => (outputs, expected),
        Settled::Refused(why) => return Ok(Err(Outcome::Refused(why))),
    };
    // Where floats may be rounded in another way, machine code does what the evaluator does with the same program.
    let rounds = case.schedule.reassociates() && case.pipeline.exprs.iter().any(|node| node.ty.is_float());
    for (n, got) in outputs.iter().filter(|_| !rounds) {
        compare(&name(&programs[*n]), &got.outputs, &expected)?;
    }
    Ok(Ok(Compared { case, programs, inputs, outputs, expected, rounds }))
}

/// As [`check`], of what computes the outputs: results of extern stages are inputs like others.
fn check_main(case: Case) -> Result<Outcome, Failure> {
    let compared = match lowered(case, ALL_PROGRAMS)? {
        Ok(compared) => compared,
        Err(refused) => return Ok(refused),
    };
    let Compared { case, programs, inputs, outputs, expected, rounds } = &compared;
    let finals = outputs.iter().filter(|(n, _)| programs[*n].1.stage == Stage::Final);
    let (on_device, on_host): (Vec<_>, Vec<_>) = finals.partition(|(n, _)| !programs[*n].1.kernels.is_empty());
    for (n, evaluated) in on_host {
        for tier in tiers() {
            // In parts of a sum that several threads add up, the order is left open.
            if let Some(refused) = compared.run_code(*n, evaluated, tier, if *rounds { 1..=1 } else { 1..=2 })? {
                return Ok(refused);
            }
        }
    }
    if *rounds {
        return Ok(Outcome::Compared);
    }
    let ruled = !case.pipeline.shapes.is_empty() || !case.pipeline.alignments.is_empty();
    if (ruled || case.seed.is_multiple_of(8)) && case.target.gpu.is_none() {
        facade::check(case, inputs, expected)?;
    }
    if case.target.gpu.is_none() {
        facade::in_place(case, inputs)?;
    }
    if on_device.is_empty() {
        return Ok(Outcome::Compared);
    }
    Ok(match device::check(case, inputs, expected)? {
        OnDevice::Compared => Outcome::ComparedOnDevice,
        OnDevice::Refused(why) => Outcome::Refused(why),
    })
}

/// Checks the final programs of a case without kernels in both variants, and the main one as machine code of one family
/// of instructions, which is another one for each number. Returns also whether the main variant served the run.
pub(crate) fn check_in_turn(case: Case, number: u64) -> Result<(Outcome, bool), Failure> {
    let compared = match lowered(case, FINAL)? {
        Ok(compared) => compared,
        Err(refused) => return Ok((refused, false)),
    };
    let Some((n, evaluated)) = compared.outputs.iter().find(|(n, _)| !compared.programs[*n].0) else {
        return Ok((Outcome::Compared, false));
    };
    let all: Vec<Tier> = tiers().collect();
    let tier = all[number as usize % all.len()];
    let most = if compared.rounds { 1 } else { 2 };
    let refused = compared.run_code(*n, evaluated, tier, 1..=most)?;
    Ok((refused.unwrap_or(Outcome::Compared), true))
}

impl Compared {
    /// Compares what machine code of a program gives, on several numbers of threads. Returns the refusal, if it is
    /// refused.
    fn run_code(
        &self,
        n: usize,
        evaluated: &Ran,
        tier: Tier,
        threads: RangeInclusive<usize>,
    ) -> Result<Option<Outcome>, Failure> {
        let (exact, program) = &self.programs[n];
        let expected = if self.rounds { &evaluated.outputs } else { &self.expected };
        let code = match halide_cpu::compile(program, &CpuOptions { tier, ..CpuOptions::default() }) {
            Ok(code) => code,
            Err(e @ (CpuError::TooLarge { .. } | CpuError::Stack { .. })) => return Ok(Some(beyond_budget(&e))),
            Err(e) => return Err(failure("cpu refuses", format!("{e}\n{program}"))),
        };
        for threads in threads {
            let got = run_code(&self.case, program, &code, &self.inputs, threads);
            let got = got.map_err(|e| failure("cpu fault", format!("{tier:?}, exact {exact}: {e}\n{program}")))?;
            compare(&format!("cpu {tier:?}, exact {exact}, {threads} threads"), &got.outputs, expected)?;
            // Rows of lanes run over the end of what is allocated.
            let most = evaluated.peak_bytes + SLACK * program.buffers.len() as u64;
            if threads == 1 && got.peak_bytes > most {
                let text =
                    format!("{} bytes, and the program says {}\n{program}", got.peak_bytes, evaluated.peak_bytes);
                return Err(failure("memory", text));
            }
        }
        Ok(None)
    }
}

/// The values of programs, by position, and those that they should give.
pub(crate) enum Settled {
    Values(Vec<(usize, Ran)>, Vec<AnyBuffer>),
    Refused(String),
}

/// Evaluates programs with inputs that hold what they read, and interprets the algorithm with the same.
pub(crate) fn settled(
    case: &mut Case,
    plan: &Plan,
    programs: &[(bool, Program)],
    inputs: &mut Sizes,
) -> Result<Settled, Failure> {
    let refused = |why: &str| Ok(Settled::Refused(why.into()));
    let mut rounds = 0;
    loop {
        rounds += 1;
        if rounds > MOST_ROUNDS && !case.pipeline.shapes.is_empty() {
            return refused("rules at odds");
        }
        // What inlining drops may be read one element at a time.
        if rounds > MANY_ROUNDS {
            return refused("large input");
        }
        let outputs = match evaluate(case, &plan.pipeline.outputs, programs, inputs)? {
            Evaluated::Done(outputs) => outputs,
            Evaluated::Regions(regions) => {
                case.regions = regions;
                continue;
            }
            Evaluated::Grow(image, dim, span) if inputs.grow(image, dim, span) => continue,
            Evaluated::Grow(..) => return refused("large input"),
            Evaluated::Obey(image, rule) if inputs.obey(image, rule) => continue,
            Evaluated::Obey(..) => return refused("rules at odds"),
            Evaluated::Refused(why) => return refused(&why),
        };
        match interp::run(&case.pipeline, &inputs.given(case), &case.regions) {
            Ok(expected) => return Ok(Settled::Values(outputs, expected)),
            Err(RunError::Rules(_)) => return refused("rules at odds"),
            Err(RunError::OutOfMemory { .. }) if case.far => return refused("large region"),
            Err(RunError::IndexOverflow { .. }) => return refused("index overflow"),
            // It evaluates also what inlining drops: arguments that are ignored, other elements of tuples.
            Err(RunError::ReadOutside { image, dim, at, .. }) => {
                let image = case.pipeline.images.iter().position(|i| i.name == image).unwrap_or(0);
                if !inputs.grow(image, dim, Span { min: at, extent: 1 }) {
                    return refused("large input");
                }
            }
            // Coordinates of Funcs that are inlined are exact sums in 64 bits; those that are data are not checked.
            Err(RunError::CoordinateOverflow { of, .. }) if is_inlined(plan, &of) => {
                return refused("coordinate of an inlined Func");
            }
            Err(e) => return Err(failure("interpreter", e.to_string())),
        }
    }
}

/// Returns true if there is a Func of this name and none of its stages has loops.
fn is_inlined(plan: &Plan, name: &str) -> bool {
    let func = plan.pipeline.funcs.enumerate().find(|(_, def)| def.name == name);
    func.is_some_and(|(id, _)| plan.funcs[id].compute == plan::Level::Inline)
}

/// More code, or deeper frames, than there may be.
fn beyond_budget(e: &CpuError) -> Outcome {
    Outcome::Refused(if let CpuError::Stack { .. } = e { "deep frames" } else { "too much code" }.into())
}

fn run_code(case: &Case, program: &Program, code: &Executable, inputs: &Sizes, threads: usize) -> Result<Ran, String> {
    execute(case, program, code, inputs, threads, None)?.map_err(|fault| fault.to_string())
}

/// Runs machine code, with limits or without.
pub(crate) fn execute(
    case: &Case,
    program: &Program,
    code: &Executable,
    inputs: &Sizes,
    threads: usize,
    limits: Option<&Limits>,
) -> Result<Result<Ran, CpuFault>, String> {
    let failed = |e: BufferError| e.to_string();
    let params = params(case);
    let mut outputs = outputs_for(case, program).map_err(failed)?;
    let mut views = outputs.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    // The borrows of inputs and outputs last until the run ends.
    let buffers: Vec<_> =
        inputs.buffers.iter().map(AnyBuffer::raw).chain(views.iter_mut().map(|v| v.raw_mut())).collect();
    let args = RunArgs { params: &params, buffers: &buffers, threads: Some(threads), limits, ..RunArgs::default() };
    let result = code.run(&args);
    drop(views);
    Ok(result.map(|stats| Ran { outputs, peak_bytes: stats.peak_bytes, stats: None }))
}

fn params(case: &Case) -> Vec<Scalar> {
    case.pipeline.params.iter().map(|p| case.param(p)).collect()
}

/// Outputs that lie in memory as the program wants, or as rules say.
fn outputs_for(case: &Case, program: &Program) -> Result<Vec<AnyBuffer>, BufferError> {
    let mut outputs = Vec::new();
    for (&func, region) in case.pipeline.outputs.iter().zip(&case.regions) {
        let rules = case.pipeline.shapes.iter().filter(|r| r.of == BufferOf::Output(func));
        let multiples: Vec<(usize, i64)> = rules
            .filter_map(|r| match (r.field, r.law) {
                (DimField::Stride, Law::MultipleOf(n)) => Some((r.dim, n)),
                _ => None,
            })
            .collect();
        if !multiples.is_empty() {
            let of = |dim: usize| multiples.iter().find(|(d, _)| *d == dim).map_or(1, |(_, n)| *n);
            let strides = dense_strides(region.spans(), &|_| None, &of);
            for &ty in &case.pipeline.funcs[func].types {
                outputs.push(AnyBuffer::with_strides(ty, region, &strides)?);
            }
            continue;
        }
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
        let options = LowerOptions { exact_tails, snapshots: Snapshots::All, ..LowerOptions::default() };
        let lowered = lower(&plan, &options).ok()?;
        for pass in lowered.trace.passes {
            let Some(program) = pass.after else { continue };
            let problem = match run(case, &program, &sizes) {
                Ok(got) => compare("", &got.outputs, &expected).err().map(|f| f.text),
                Err(e) => match class(&plan.pipeline.outputs, &program, &e, case.far) {
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
    let bounded = lower_to(plan, true, &[Stage::Bounded]).ok()?.pop()?;
    let mut sizes = Sizes::new(case);
    loop {
        match run(case, &bounded, &sizes) {
            Err(e) => match class(&plan.pipeline.outputs, &bounded, &e, case.far) {
                Class::Input(image, dim, span) if sizes.grow(image, dim, span) => {}
                _ => return Some(sizes),
            },
            Ok(_) => return Some(sizes),
        }
    }
}

/// Lowers a plan as far as each of `stages`.
pub(crate) fn lower_to(plan: &Plan, exact_tails: bool, stages: &[Stage]) -> Result<Vec<Program>, Vec<LowerError>> {
    let options = LowerOptions { exact_tails, ..LowerOptions::default() };
    let made = |stage: &Stage| match stage {
        Stage::Bounded => lower_to_bounded(plan, &options),
        _ => lower(plan, &options),
    };
    stages.iter().map(|stage| made(stage).map(|Lowered { program, .. }| program)).collect()
}

/// The results of a run of one program.
pub(crate) struct Ran {
    pub(crate) outputs: Vec<AnyBuffer>,
    /// The most bytes that its own buffers took at one time: of machine code; of the evaluator, the largest allocations
    /// of all together, since small ones that end early are kept by machine code until the one around them ends.
    peak_bytes: u64,
    /// Counts of the evaluator; `None` for machine code.
    pub(crate) stats: Option<EvalStats>,
}

/// The outcomes of one round of evaluation.
pub(crate) enum Evaluated {
    /// An input must hold this too.
    Grow(usize, usize, Span),
    /// A rule says that an input must be so.
    Obey(usize, Ruled),
    /// Outputs must have these regions.
    Regions(Vec<Region>),
    Refused(String),
    /// The results of every program that serves the call, by position.
    Done(Vec<(usize, Ran)>),
}

pub(crate) fn evaluate(
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
            Err(e) => match class(outputs, program, &e, case.far) {
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
                Class::InputRule(image, rule) => return Ok(Evaluated::Obey(image, rule)),
                Class::OutputRule(output, rule) => {
                    return Ok(match ruled_output(case, output, rule) {
                        Some(regions) => Evaluated::Regions(regions),
                        None => Evaluated::Refused("rules at odds".into()),
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

pub(crate) fn run(case: &Case, program: &Program, inputs: &Sizes) -> Result<Ran, EvalError> {
    let params = params(case);
    let mut outputs = outputs_for(case, program)?;
    let limits = Limits::with_cap(MEMORY);
    let options = eval::Options { limits: Some(&limits), ..eval::Options::default() };
    let evaluate = || eval::run_with(program, &params, &inputs.buffers, &mut outputs, &options);
    let stats = for_seconds(SECONDS, &limits, evaluate)?;
    for (id, info) in program.buffers.enumerate() {
        if matches!(info.role, BufferRole::Output(_)) && stats.buffers[id].unwritten > 0 {
            return Err(EvalError::Arguments(format!("unwritten parts of {}", info.name)));
        }
    }
    let own = program.buffers.enumerate().filter(|(_, info)| info.role == BufferRole::Internal);
    let bytes = own.map(|(id, info)| stats.buffers[id].peak_elements * info.elem.bytes() as u64);
    Ok(Ran { outputs, peak_bytes: bytes.sum(), stats: Some(stats) })
}

/// The regions of a case with one output that holds `span` too; `None` if that is too much.
fn larger_output(case: &Case, output: usize, dim: usize, span: Span) -> Option<Vec<Region>> {
    let mut regions = case.regions.clone();
    regions[output] = hull(&regions[output], dim, span);
    let fits = regions[output].points().is_some_and(|n| n <= MOST_ELEMENTS) && regions != case.regions;
    fits.then_some(regions)
}

/// The regions of a case with one output as a rule says; `None` if it is so or cannot be.
fn ruled_output(case: &Case, output: usize, rule: Ruled) -> Option<Vec<Region>> {
    let mut regions = case.regions.clone();
    let mut spans = regions[output].spans().to_vec();
    spans[rule.dim] = rule.span(spans[rule.dim])?;
    regions[output] = Region::new(spans);
    let fits = regions[output].points().is_some_and(|n| n <= MOST_ELEMENTS) && regions != case.regions;
    fits.then_some(regions)
}

//! Accesses that are checked: a run that is right goes on, and a program that somebody broke ends before it leaves its
//! buffers.

use crate::case::Case;
use crate::class::refused_by_lowering;
use crate::engines::{self, Settled};
use crate::failure::{Failure, Outcome, compare, failure};
use crate::sizes::Sizes;
use crate::watch::for_seconds;
use halide::ir::eval::{Check, EvalError};
use halide::ir::verify::verify;
use halide::ir::{Fault, Program};
use halide::lower::{LowerOptions, LoweringTrace, Snapshots, lower};
use halide::plan;
use halide_core::limits::Limits;
use halide_cpu::{CpuFault, CpuOptions};
use halide_sched::lower::checks::check_accesses::check_accesses;
use halide_sched::lower::{Accesses, finish};
use halide_testing::programs::{self, Random};
use std::ops::Add;
use std::time::Duration;

/// Broken programs of one case.
const BROKEN: u64 = 6;

/// Bytes that machine code of a broken program may take.
const MEMORY: u64 = 1 << 28;

/// The longest that it may run.
const SECONDS: Duration = Duration::from_secs(5);

/// A case whose programs with checked accesses gave what they should.
pub(crate) struct Checked {
    pub(crate) case: Case,
    pub(crate) inputs: Sizes,
    /// The program that the pass that checks accesses is given.
    pub(crate) whole: Option<Program>,
}

/// Runs a case with checked accesses, in the evaluator, and then some programs that are broken.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    let checked = match checked(case)? {
        Ok(checked) => checked,
        Err(refused) => return Ok(refused),
    };
    for (wrong, name) in broken(&checked) {
        for (program, exact) in with_checks(&checked, &wrong) {
            let outside = |e: &EvalError| matches!(e.check(), Some(Check::ReadOutside | Check::WriteOutside));
            if let Err(e) = engines::run(&checked.case, &program, &checked.inputs)
                && outside(&e)
            {
                return Err(failure("access unchecked", format!("{name}, exact {exact}: {e}\n{program}")));
            }
        }
    }
    Ok(Outcome::Compared)
}

/// Runs of broken programs that a check of an access ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended {
    /// The number of all, in both ways of checking.
    pub runs: u32,
    /// The broken programs among them whose fault names the buffer, the loop, the index and what there is.
    pub named: u32,
}

impl Add for Ended {
    type Output = Ended;

    fn add(self, other: Ended) -> Ended {
        Ended { runs: self.runs + other.runs, named: self.named + other.named }
    }
}

/// Runs broken programs of a case as machine code, whatever they compute. Returns the number of runs that ended since
/// an access was not known to be inside of its buffer.
pub fn run_broken_code(case: &Case) -> Result<Ended, Failure> {
    let Ok(checked) = checked(case)? else { return Ok(Ended::default()) };
    let mut ended = Ended::default();
    for (wrong, name) in broken(&checked) {
        let mut is_named = false;
        for (program, exact) in with_checks(&checked, &wrong) {
            let program = finish(program);
            // What is broken may be more code than there may be.
            let Ok(code) = halide_cpu::compile(&program, &CpuOptions::default()) else { continue };
            let limits = Limits::with_cap(MEMORY);
            let execute = || engines::execute(&checked.case, &program, &code, &checked.inputs, 2, Some(&limits));
            let ran = for_seconds(SECONDS, &limits, execute);
            match ran.map_err(|e| failure(format!("{name}, exact {exact}"), e))? {
                Err(CpuFault::Check { fault, args }) => match program.faults.get(fault) {
                    Some(Fault::Unproved) => ended.runs += 1,
                    Some(access @ Fault::Access { .. }) => {
                        is_outside(&program, access, &args)?;
                        (ended.runs, is_named) = (ended.runs + 1, true);
                    }
                    _ => {}
                },
                Err(CpuFault::Panic(text)) => return Err(failure(format!("{name}, exact {exact}"), text)),
                _ => {}
            }
        }
        ended.named += u32::from(is_named);
    }
    Ok(ended)
}

/// Fails unless a fault is of an access outside of a buffer, and its text names the buffer, the loop and the index.
fn is_outside(program: &Program, access: &Fault, args: &[i64]) -> Result<(), Failure> {
    let text = access.message(program, args);
    let (&Fault::Access { buf, ref at }, &[low, high, first, last]) = (access, args) else {
        return Err(failure("access without index and extent", text));
    };
    let place = if at.is_empty() { "outside of loops".to_string() } else { format!("in loop `{at}`") };
    let parts = [format!("`{}`", program.buffers[buf].name), place, low.to_string()];
    let is_real = at.is_empty() || program.loops.iter().any(|l| l.name == *at);
    match parts.iter().all(|part| text.contains(part.as_str())) && is_real && (low < first || last < high) {
        true => Ok(()),
        false => Err(failure("access inside of its buffer, or not named", text)),
    }
}

/// Runs a case with checked accesses, in the evaluator; or says that it is refused.
pub(crate) fn checked(case: &Case) -> Result<Result<Checked, Outcome>, Failure> {
    let mut case = case.main_part();
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return Ok(Err(Outcome::Refused("illegal schedule".into())));
    };
    let mut programs = Vec::new();
    let mut whole = None;
    for accesses in [Accesses::InPlace, Accesses::BeforeLoops] {
        let exact = accesses == Accesses::InPlace;
        let options = LowerOptions {
            exact_tails: true,
            accesses,
            snapshots: if exact { Snapshots::All } else { Snapshots::None },
            ..LowerOptions::default()
        };
        match lower(&plan, &options) {
            // What is asked before loops may be more than they need: then that program is for other calls.
            Ok(lowered) => {
                programs.push((exact, lowered.program));
                let passes = lowered.trace.passes.into_iter();
                whole = whole.or(passes.rev().find(|p| p.name == "place_copies").and_then(|p| p.after));
            }
            Err(errors) => return refused_by_lowering(&errors).map(Err),
        }
    }
    let mut inputs = Sizes::new(&case);
    let (outputs, expected) = match engines::settled(&mut case, &plan, &programs, &mut inputs)? {
        Settled::Values(outputs, expected) => (outputs, expected),
        Settled::Refused(why) => return Ok(Err(Outcome::Refused(why))),
    };
    let rounds = case.schedule.reassociates() && case.pipeline.exprs.iter().any(|node| node.ty.is_float());
    for (n, got) in outputs.iter().filter(|_| !rounds) {
        compare(["checked in place", "checked before loops"][*n], &got.outputs, &expected)?;
    }
    Ok(Ok(Checked { case, inputs, whole }))
}

/// Programs of a case that are broken in one place, as a mistake of lowering would, with a name for each.
fn broken(checked: &Checked) -> impl Iterator<Item = (Program, String)> {
    (0..BROKEN).filter_map(|number| {
        let mut random = Random::new(checked.case.seed ^ number);
        let wrong = programs::mutant(checked.whole.as_ref()?, &mut random).filter(|p| verify(p).is_ok())?;
        Some((wrong, format!("broken {number}")))
    })
}

/// A program with its accesses checked, in both ways; true for the exact one.
fn with_checks(checked: &Checked, program: &Program) -> [(Program, bool); 2] {
    [false, true].map(|exact| {
        let promises = Some(&*checked.case.pipeline);
        (check_accesses(program.clone(), promises, exact, &mut LoweringTrace::new()), exact)
    })
}

//! Accesses that are checked: a run that is right goes on, and a program that somebody broke ends before it leaves its
//! buffers.

use crate::case::Case;
use crate::class::refused_by_lowering;
use crate::engines::{self, Failure, Outcome, Settled, compare, failure};
use crate::sizes::Sizes;
use halide::ir::Program;
use halide::ir::eval::{Check, EvalError};
use halide::ir::verify::verify;
use halide::lower::{LowerOptions, LoweringTrace, lower};
use halide::plan;
use halide_sched::ir::arbitrary::{self, Random};
use halide_sched::lower::Accesses;
use halide_sched::lower::check_accesses::check_accesses;

/// Broken programs of one case.
const BROKEN: u64 = 6;

/// Runs a case with checked accesses, in the evaluator.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    let mut case = case.main_part();
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return Ok(Outcome::Refused("illegal schedule".into()));
    };
    let mut programs = Vec::new();
    let mut whole = None;
    for accesses in [Accesses::InPlace, Accesses::BeforeLoops] {
        let exact = accesses == Accesses::InPlace;
        let options = LowerOptions { exact_tails: true, accesses, keep_programs: exact, ..LowerOptions::default() };
        match lower(&plan, &options) {
            // What is asked before loops may be more than they need: then that program is for other calls.
            Ok(lowered) => {
                programs.push((exact, lowered.program));
                let passes = lowered.trace.passes.into_iter();
                whole = whole.or(passes.rev().find(|p| p.name == "place_copies").and_then(|p| p.after));
            }
            Err(errors) => return refused_by_lowering(&errors),
        }
    }
    let mut inputs = Sizes::new(&case);
    let (outputs, expected) = match engines::settled(&mut case, &plan, &programs, &mut inputs)? {
        Settled::Values(outputs, expected) => (outputs, expected),
        Settled::Refused(why) => return Ok(Outcome::Refused(why)),
    };
    let rounds = case.schedule.reassociates() && case.pipeline.exprs.iter().any(|node| node.ty.is_float());
    for (n, got) in outputs.iter().filter(|_| !rounds) {
        compare(["checked in place", "checked before loops"][*n], &got.outputs, &expected)?;
    }
    whole.map_or(Ok(()), |whole| broken(&case, &whole, &inputs))?;
    Ok(Outcome::Compared)
}

/// No program leaves its buffers once its accesses are checked, whatever a mistake of lowering made of it.
fn broken(case: &Case, right: &Program, inputs: &Sizes) -> Result<(), Failure> {
    for number in 0..BROKEN {
        let mut random = Random::new(case.seed ^ number);
        let Some(wrong) = arbitrary::mutant(right, &mut random).filter(|p| verify(p).is_ok()) else { continue };
        for exact in [false, true] {
            let checked = check_accesses(wrong.clone(), Some(&case.pipeline), exact, &mut LoweringTrace::new());
            let outside = |e: &EvalError| matches!(e.check(), Some(Check::ReadOutside | Check::WriteOutside));
            if let Err(e) = engines::run(case, &checked, inputs)
                && outside(&e)
            {
                return Err(failure("access unchecked", format!("broken {number}, exact {exact}: {e}\n{checked}")));
            }
        }
    }
    Ok(())
}

//! Iterations of parallel loops in another order: what the evaluator finds no race in must give the same. So the rules
//! by which it finds races are held to their promise, on programs that are right and on some whose loops must not be
//! parallel.

use crate::accesses::{Checked, checked};
use crate::case::Case;
use crate::engines;
use crate::failure::{Failure, compare, failure};
use halide::ir::Program;
use halide::ir::eval::{Check, EvalError};
use halide::ir::verify::verify;
use halide_ir::Stmt;
use halide_ir::visit::for_each_stmt;
use halide_testing::programs::{self, Random};
use std::ops::Add;

/// Programs of one case with another loop that is parallel.
const PARALLEL: u64 = 6;

/// The numbers of programs of a check, by their outcome.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// They gave the same in both orders.
    pub agree: u32,
    /// The evaluator found a race in the first order.
    pub race: u32,
}

impl Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally { agree: self.agree + other.agree, race: self.race + other.race }
    }
}

/// Runs a program of the case, and some that have one more parallel loop, in both orders.
pub fn check(case: &Case) -> Result<Tally, Failure> {
    let Ok(checked) = checked(case)? else { return Ok(Tally::default()) };
    let Some(right) = &checked.whole else { return Ok(Tally::default()) };
    // Steps commute by the laws that the plan knows of: those of sums of floats but for rounding, and others not at
    // all.
    let steps = has_steps(&right.body);
    let floats = case.pipeline.exprs.iter().any(|node| node.ty.is_float());
    if steps && floats {
        return Ok(Tally::default());
    }
    let mut tally = both_orders(&checked, right)?;
    for number in (0..PARALLEL).filter(|_| !steps) {
        let mut random = Random::new(checked.case.seed ^ number);
        let Some(mut program) = programs::parallelised(right, &mut random) else { break };
        if number % 2 == 1
            && let Some(wrong) = programs::mutant(&program, &mut random).filter(|p| verify(p).is_ok())
        {
            program = wrong;
        }
        tally = tally + both_orders(&checked, &program)?;
    }
    Ok(tally)
}

fn has_steps(s: &Stmt) -> bool {
    let mut found = matches!(s, Stmt::Atomic { .. });
    for_each_stmt(s, |inner| found |= has_steps(inner));
    found
}

/// Runs a program and then, if nothing is wrong with it, the one with the iterations of its parallel loops in the other
/// order.
fn both_orders(checked: &Checked, program: &Program) -> Result<Tally, Failure> {
    let is_race = |e: &EvalError| e.check() == Some(Check::Race);
    let first = match engines::run(&checked.case, program, &checked.inputs) {
        Ok(first) => first,
        Err(e) => return Ok(Tally { agree: 0, race: u32::from(is_race(&e)) }),
    };
    let other = programs::reversed(program);
    let second = match engines::run(&checked.case, &other, &checked.inputs) {
        Ok(second) => second,
        // A store of what an element holds already disturbs nobody who has read it, and is told to those who read it
        // later.
        Err(e) if is_race(&e) => return Ok(Tally { agree: 0, race: 1 }),
        Err(e) => return Err(failure("wrong in the other order", format!("{e}\n{program}"))),
    };
    compare("the other order", &second.outputs, &first.outputs)
        .map_err(|f| Failure { text: format!("{}\n{program}", f.text), ..f })?;
    Ok(Tally { agree: 1, race: 0 })
}

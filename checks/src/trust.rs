//! Claims of lowering that nobody has to trust: buffers that are shown to be written before they are read, and parallel
//! loops that are shown to be independent, are never found to be otherwise by the evaluator, in programs that are right
//! and in broken ones.

use crate::accesses::{Checked, checked};
use crate::case::Case;
use crate::engines;
use crate::failure::{Failure, failure};
use halide::ir::Program;
use halide::ir::eval::{Check, EvalError};
use halide::ir::verify::verify;
use halide_sched::lower::checks::trust::{Trust, trust};
use halide_testing::programs::{self, Random};
use std::ops::Add;

/// Programs of one case that are broken, or have one more parallel loop.
const BROKEN: u64 = 8;

/// Verdicts, and runs that the evaluator ended for what they are about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Buffers and loops of which something was shown.
    pub proved: usize,
    /// Buffers and loops of which nothing was shown.
    pub open: usize,
    /// Runs that read what was not written, or had a race.
    pub wrong: usize,
}

impl Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally { proved: self.proved + other.proved, open: self.open + other.open, wrong: self.wrong + other.wrong }
    }
}

/// Judges programs of a case and runs them.
pub fn check(case: &Case) -> Result<Tally, Failure> {
    let Ok(checked) = checked(case)? else { return Ok(Tally::default()) };
    let Some(right) = &checked.whole else { return Ok(Tally::default()) };
    let mut tally = judged(&checked, right)?;
    for number in 0..BROKEN {
        let mut random = Random::new(checked.case.seed ^ number);
        let parallel = (number % 2 == 1).then(|| programs::parallelised(right, &mut random)).flatten();
        let base = parallel.as_ref().unwrap_or(right);
        let broken = programs::mutant(base, &mut random).filter(|p| number % 4 != 3 && verify(p).is_ok());
        tally = tally + judged(&checked, broken.as_ref().unwrap_or(base))?;
    }
    Ok(tally)
}

fn judged(checked: &Checked, program: &Program) -> Result<Tally, Failure> {
    let Trust { initialised, independent, .. } = trust(program);
    let verdicts = || initialised.values().chain(independent.values());
    let proved = verdicts().filter(|proved| **proved).count();
    let mut tally = Tally { proved, open: verdicts().count() - proved, wrong: 0 };
    let Err(e) = engines::run(&checked.case, program, &checked.inputs) else { return Ok(tally) };
    let refuted = |what: &str| Err(failure(format!("trust: {what}"), format!("{e}\n{program}")));
    match e.check() {
        Some(Check::Uninitialised) => {
            tally.wrong += 1;
            let EvalError::Failed { message, .. } = &e else { return Ok(tally) };
            let hole = message.contains("which was never written");
            let read = |name: &str| message.contains(&format!("depends on `{name}`["));
            if hole && initialised.iter().any(|(buf, proved)| *proved && read(&program.buffers[*buf].name)) {
                return refuted("a buffer is read before it is written");
            }
        }
        Some(Check::Race) => {
            tally.wrong += 1;
            if !e.to_string().contains("lanes of one store") && independent.values().all(|proved| *proved) {
                return refuted("iterations of a loop touch one element");
            }
        }
        _ => {}
    }
    Ok(tally)
}

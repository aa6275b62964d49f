//! Runs at the edges of what is allowed: coordinates at the ends of `i32`, factors that are no factors, regions that
//! are not as the schedule promises. What must be refused is known here from the language and the schedule, not from
//! the compiler: a run is refused exactly then.

mod edge;
mod hulls;
mod promises;
mod ranges;

use crate::engines;
use crate::failure::{Failure, Outcome, compare, failure};
use crate::sizes::Sizes;
use edge::{Edge, Expected};
use halide::ir::eval::EvalError;
use halide::ir::{Fault, Program, Stage};
use halide::plan;
use halide_testing::pipelines::Random;

/// A function that draws the runs of a kind.
type Draw = fn(&mut Random) -> Edge;

/// The kinds of edges, in turn.
const KINDS: [(&str, Draw); 11] = [
    ("neighbours", ranges::neighbours),
    ("factors", promises::factors),
    ("domains", ranges::domains),
    ("aligned outputs", promises::aligned),
    ("products", ranges::products),
    ("conditions", promises::conditions),
    ("inlined calls", ranges::inlined),
    ("factors of variants", promises::factors_of_variants),
    ("small products", ranges::small_products),
    ("aligned stages", promises::aligned_stages),
    ("hulls", hulls::hulls),
];

/// The number of kinds of edges: so many numbers in a row have one case of each.
pub const COUNT: u64 = KINDS.len() as u64;

/// The kind of edge of a number.
pub fn name(number: u64) -> &'static str {
    KINDS[(number % COUNT) as usize].0
}

/// Runs the case of a number as the interpreter does and as lowered, and holds the ends of both against each other.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let (name, draw) = KINDS[(number % COUNT) as usize];
    let Edge { case, expected } = draw(&mut Random::new(number));
    let wrong = |kind: String, text: String| Err(failure(format!("{name}: {kind}"), format!("{text}\n{case}")));
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return wrong("illegal schedule".into(), String::new());
    };
    let inputs = Sizes::new(&case);
    let given = halide_core::interp::run(&case.pipeline, &inputs.given(&case), &case.regions);
    let (served, fault): (Option<bool>, fn(&Fault) -> bool) = match expected {
        Expected::Known { served, fault } => (Some(served), fault),
        Expected::AsInterpreted => (Some(given.is_ok()), is_overflow),
        Expected::AtLeastAsInterpreted => ((given.is_err()).then_some(false), is_overflow),
    };
    let all = [Stage::Bounded, Stage::Final];
    let stages = if let Expected::AtLeastAsInterpreted = expected { &all[..1] } else { &all };
    let programs = match engines::lower_to(&plan, true, stages) {
        Ok(programs) => programs,
        Err(errors) => return wrong("not lowered".into(), format!("{errors:?}")),
    };
    let mut all_served = true;
    for program in &programs {
        let stage = program.stage;
        match (engines::run(&case, program, &inputs), &given) {
            (Ok(_), _) if served == Some(false) => {
                return wrong("served".into(), format!("{stage:?} must be refused\n{program}"));
            }
            (Ok(ran), Ok(given)) => compare(&format!("{stage:?}"), &ran.outputs, given)?,
            (Ok(_), Err(e)) => return wrong("interpreter".into(), e.to_string()),
            (Err(e), _) if fault_of(program, &e).is_some_and(fault) => {
                if served == Some(true) {
                    return wrong("refused".into(), format!("{stage:?}: {}\n{program}", e.message(program)));
                }
                all_served = false;
            }
            (Err(e), _) => return wrong("fault".into(), format!("{stage:?}: {}\n{program}", e.message(program))),
        }
    }
    Ok(if all_served { Outcome::Compared } else { Outcome::Refused(name.into()) })
}

fn fault_of<'p>(program: &'p Program, e: &EvalError) -> Option<&'p Fault> {
    match e {
        EvalError::Fault { fault, .. } => Some(&program.faults[*fault]),
        _ => None,
    }
}

fn is_overflow(fault: &Fault) -> bool {
    matches!(fault, Fault::IndexOverflow { .. })
}

//! Families of pipelines that are written for one part of the compiler each, where random pipelines seldom get: narrow integer
//! arithmetic, reads behind conditions on data, coordinates made of floats, operations whose laws schedules rest on, groups
//! of stages with regions of their own, kernels with threads of three dimensions.
//!
//! Schedules are lines that are kept where they are legal, so each case is. What a family draws is made to be served: a
//! case that is refused is a failure, where the family says so.

mod coordinates;
mod guards;
mod loops;
mod narrow;
mod tiles;
mod updates;

use crate::case::{Case, TARGET};
use crate::engines::{self, Failure, Outcome, failure};
use crate::refusals;
use crate::runs::caught;
use crate::shrink;
use halide::buffer::Span;
use halide::prelude::*;
use halide_core::arbitrary::Random;
use halide_sched::target::Gpu;
use std::time::Duration;

/// How long a failing case is made smaller.
const SHRINKING: Duration = Duration::from_secs(20);

/// A pipeline with lines of a schedule, of which those are taken that are legal after those before.
pub(crate) struct Drawn {
    pub(crate) outputs: Vec<Func>,
    pub(crate) lines: Vec<String>,
    /// The coordinates may be anything, so a run may be refused.
    pub(crate) far: bool,
}

impl Drawn {
    fn new(output: Func, lines: Vec<String>) -> Drawn {
        Drawn { outputs: vec![output], lines, far: false }
    }
}

/// A family: its name, what draws its cases, and whether they are for a graphics processor.
struct Family {
    name: &'static str,
    draw: fn(&mut Random) -> Drawn,
    gpu: bool,
    /// True if every case must be served.
    served: bool,
}

const FAMILIES: [Family; 11] = {
    const fn family(name: &'static str, draw: fn(&mut Random) -> Drawn, served: bool) -> Family {
        Family { name, draw, gpu: false, served }
    }
    [
        family("narrow", narrow::arithmetic, true),
        family("guards", guards::guarded, true),
        family("floats", coordinates::floats, true),
        family("updates", updates::monoids, true),
        Family { gpu: true, ..family("tiles", tiles::tiles, false) },
        family("gathers", coordinates::gathers, true),
        family("strides", narrow::strides, true),
        family("groups", loops::groups, true),
        family("slides", loops::slides, true),
        family("masks", updates::masks, true),
        family("legality", loops::legality, false),
    ]
};

/// The number of families: so many numbers in a row have one case of each.
pub const COUNT: u64 = FAMILIES.len() as u64;

/// Returns whether the case of a number has kernels.
pub fn is_gpu(number: u64) -> bool {
    family(number).gpu
}

/// The name of the family of a number.
pub fn name(number: u64) -> &'static str {
    family(number).name
}

fn family(number: u64) -> &'static Family {
    &FAMILIES[(number % COUNT) as usize]
}

/// The number of a case of those families whose schedules are about what is legal, in turn.
pub(crate) fn of_schedules(number: u64) -> u64 {
    let all = ["updates", "groups", "updates", "tiles", "legality", "legality"];
    let name = all[(number % all.len() as u64) as usize];
    let at = FAMILIES.iter().position(|family| family.name == name).unwrap_or_default();
    number * COUNT + at as u64
}

/// What the family of a number draws, and the machine that its cases are for.
///
/// # Panics
/// Where a family draws a pipeline with mistakes.
fn drawn(number: u64) -> (Pipeline, Target, Drawn, Random) {
    let family = family(number);
    let mut random = Random::new(number);
    let drawn = (family.draw)(&mut random);
    let pipeline = Pipeline::new(drawn.outputs.iter().collect::<Vec<&Func>>());
    let pipeline = pipeline.unwrap_or_else(|e| panic!("the pipeline of {} {number} has mistakes: {e}", family.name));
    let gpu = family.gpu.then_some(Gpu { subgroup: Some(8), ..Gpu::LEAST });
    (pipeline, Target { gpu, ..TARGET }, drawn, random)
}

/// The case of a number; with the schedule that is given, in place of the one that would be drawn.
pub fn case(number: u64, schedule: Option<Schedule>) -> Case {
    let (pipeline, target, drawn, random) = drawn(number);
    let schedule = schedule.unwrap_or_else(|| legal(&pipeline, &target, &drawn.lines).0);
    let mut long = Random::new(!number);
    let case = Case::with(pipeline, schedule, target, random);
    // Rows of many points, so that elements of all kinds meet.
    let longer = |region: &Region| match region.spans() {
        [span] => Region::new(vec![Span { extent: span.extent + long.below(64) as i64, ..*span }]),
        _ => region.clone(),
    };
    Case { far: drawn.far, regions: case.regions.iter().map(longer).collect(), ..case }
}

/// The lines of the schedule of a number, each with what the compiler says of it after those before that are legal.
pub(crate) fn answers(number: u64) -> Vec<(String, String)> {
    let (pipeline, target, drawn, _) = drawn(number);
    let (_, said) = legal(&pipeline, &target, &drawn.lines);
    drawn.lines.into_iter().zip(said).collect()
}

/// The lines that are legal, each after those before it that are; and of each what is wrong with it.
fn legal(pipeline: &Pipeline, target: &Target, lines: &[String]) -> (Schedule, Vec<String>) {
    let (mut schedule, mut said) = (Schedule::new(), Vec::new());
    for line in lines {
        let text = format!("{schedule}\n{line}");
        let Ok(longer) = text.parse::<Schedule>() else { panic!("`{line}` is no schedule") };
        let answer = refusals::answer(pipeline, &longer, target);
        if answer == refusals::LEGAL {
            schedule = longer;
        }
        said.push(answer);
    }
    (schedule, said)
}

/// Compares what the final programs of the case of a number give with the interpreter.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let case = case(number, None);
    if std::env::var_os("HALIDE_FUZZ_SHOW").is_some() {
        println!("{case}");
    }
    checked(number, case)
}

fn checked(number: u64, case: Case) -> Result<Outcome, Failure> {
    let outcome = engines::check_final(case)?;
    match &outcome {
        Outcome::Refused(why) if family(number).served => {
            Err(failure(format!("{} refused: {why}", name(number)), "this family is made to be served"))
        }
        _ => Ok(outcome),
    }
}

/// The case of a number that fails, made smaller, and the first pass after which it is wrong.
pub fn report(number: u64, kind: &str) -> String {
    let fails =
        |c: &Case| caught(|| checked(number, c.clone())).and_then(|r| r).is_err_and(|f| kind.ends_with(&f.kind));
    let small = shrink::smallest(&case(number, None), SHRINKING, fails);
    let blame = caught(|| engines::blame(&small)).ok().flatten().unwrap_or_default();
    let text = caught(|| checked(number, small.clone())).and_then(|r| r).err().map_or(String::new(), |f| f.text);
    let head = |text: &str| text.lines().take(60).collect::<Vec<_>>().join("\n");
    format!("{} {number}\n{small}\n-- {}\n-- {}", name(number), head(&text), head(&blame))
}

/// A variable as an expression.
pub(crate) fn var(name: &str) -> Expr {
    Var::new(name).expr()
}

/// A Func of one value at these coordinates.
pub(crate) fn func(name: &str, vars: &[Expr], value: Expr) -> Func {
    let mut func = Func::new(name);
    func[vars] = value;
    func
}

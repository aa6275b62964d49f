//! Blocks of schedules in pages: their loops and messages, and results held against the interpreter. The book's tests
//! use this file, too.
//!
//! ```text
//! sched [NAME=NUMBER ..]         a schedule of the page's algorithm; a block `loops` behind it has its loop nest
//! sched-error [NAME=NUMBER ..]   one that is refused with the text in the next block; `no-gpu`: without a GPU
//! sched-fault WxH                one whose run at that size ends with the text in the next block
//! ```

use crate::page::{Part, next};
use halide::check::{Case, Check, Disagreements};
use halide::ir::target;
use halide::prelude::*;

/// The file name in messages.
const FILE: &str = "my.sched";

/// The algorithm that schedules of a page speak of.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) pipeline: fn() -> Result<Pipeline, Error>,
    /// The regions of all outputs, by the size that a fence says.
    pub(crate) regions: fn(i64, i64) -> Vec<Region>,
    /// The parameters of runs that end with a fault.
    pub(crate) params: fn() -> Vec<(&'static str, Scalar)>,
    /// Shows the loops of all Funcs, not only of those that a schedule names.
    pub(crate) shows_all: bool,
    /// The cases in which results are held against the interpreter.
    pub(crate) cases: fn() -> Vec<Case>,
}

fn target(with_gpu: bool) -> Target {
    let gpu = target::Gpu { subgroup: Some(32), ..target::Gpu::LEAST };
    Target { gpu: with_gpu.then_some(gpu), ..Target::host() }
}

/// The schedule of a block, with the numbers that its fence sets.
pub(crate) fn schedule(part: &Part) -> Result<Schedule, Error> {
    let numbers = part.words().filter_map(|word| word.split_once('='));
    let set = numbers.filter_map(|(name, value)| Some((name, value.parse::<i64>().ok()?)));
    Ok(Schedule::parse_with(&part.text, FILE, set)?)
}

fn compiled(subject: &Subject, part: &Part) -> Result<Compiled, Error> {
    let (pipeline, schedule) = ((subject.pipeline)()?, schedule(part)?);
    let compiler = Compiler::new(&pipeline).schedule(&schedule).target(&target(part.words().all(|w| w != "no-gpu")));
    compiler.engine(Engine::Eval).compile()
}

/// The end of a run at the size that the fence says, with inputs as large as it needs.
fn run(subject: &Subject, part: &Part) -> Result<(), Error> {
    let size = part.words().find_map(|word| word.split_once('x')).expect("a size");
    let (width, height) = (size.0.parse::<i64>().expect("a width"), size.1.parse::<i64>().expect("a height"));
    let regions = (subject.regions)(width, height);
    let compiled = compiled(subject, part)?;
    let params = (subject.params)();
    let call = params.iter().fold(compiled.inputs(), |call, (name, value)| call.param_named(name, *value));
    let mut full = call.clone();
    for need in call.infer_input_bounds(&regions)? {
        full = full.image_named(&need.name, AnyBuffer::with_region(need.ty, &need.roomy)?);
    }
    full.realize_all(&regions).map(|_| ())
}

/// The part of a loop nest that Funcs of the schedule stand in: a page has room for no more of a large algorithm.
fn nests_of(subject: &Subject, nest: &str, schedule: &Schedule) -> String {
    if subject.shows_all {
        return nest.trim_end().to_string() + "\n";
    }
    let mut groups: Vec<String> = Vec::new();
    for line in nest.split_inclusive('\n') {
        match groups.last_mut() {
            Some(group) if line.starts_with(' ') => group.push_str(line),
            _ => groups.push(line.to_string()),
        }
    }
    let has = |group: &String| schedule.directives().iter().any(|d| group.contains(&d.subject.func));
    groups.into_iter().filter(has).collect()
}

/// The block behind block `i` and the text that it should have, if something tells it.
pub(crate) fn expected(subject: &Subject, parts: &[Part], i: usize) -> Result<Option<(usize, String)>, String> {
    let part = &parts[i];
    match part.kind() {
        "sched" => {
            let compiled = compiled(subject, part).map_err(|error| error.to_string())?;
            let Some(behind) = next(parts, i, "loops") else { return Ok(None) };
            let nest = compiled.loops().map_err(|error| error.to_string())?;
            Ok(Some((behind, nests_of(subject, &nest, &schedule(part).map_err(|error| error.to_string())?))))
        }
        kind @ ("sched-error" | "sched-fault") => {
            let result = if kind == "sched-error" { compiled(subject, part).map(|_| ()) } else { run(subject, part) };
            let error = result.err().ok_or("it is not refused")?;
            let behind = next(parts, i, "text").ok_or("no block `text` follows")?;
            Ok(Some((behind, format!("{error}\n"))))
        }
        _ => Ok(None),
    }
}

/// Holds schedules of blocks against the interpreter, and returns how many these were.
pub(crate) fn agree<'p>(
    subject: &Subject,
    blocks: impl IntoIterator<Item = &'p Part>,
) -> Result<usize, Box<dyn std::error::Error>> {
    let mut check = Check::new(&(subject.pipeline)()?).target(&target(true));
    let mut count = 0;
    for part in blocks {
        check = check.schedule(format!("line {}", part.line), &schedule(part)?);
        count += 1;
    }
    let check = (subject.cases)().into_iter().fold(check, Check::case);
    let agreed = check.run().map_err(|error: Disagreements| error.to_string())?;
    assert_eq!(agreed.schedules, count);
    Ok(count)
}

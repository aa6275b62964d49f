//! Work of lowered programs, held against a record (`checks/records/work.txt`): right values by more work than before are a
//! failure. Points stored, iterations, operations, bytes, code, checks, elements of inputs and unproved buffers and loops
//! may fall and never rise, and what was compiled and run stays so.
//!
//! The record holds the schedules, so that a schedule that has become illegal is seen. `UPDATE_EXPECT=1` counts again,
//! and draws other cases in place of those that are refused.

use crate::case::Case;
use crate::engines::{Evaluated, Failure, Ran, evaluate, failure};
use crate::sizes::Sizes;
use halide::ir::{Program, Stmt, visit};
use halide::lower::{LowerOptions, Lowered, LoweringTrace, lower};
use halide::plan;
use halide::prelude::*;
use halide_sched::lower::check_accesses::check_accesses;
use halide_sched::lower::trust::trust;
use std::fmt::Write;
use std::path::PathBuf;

/// The counts of one run, in the order of [`NAMES`].
type Counts = [u64; NAMES.len()];

/// Names of the counts: the work of a variant, and for the main one checks of accesses and unproved orders.
const NAMES: [&str; 8] = ["points", "iterations", "operations", "bytes", "code", "inputs", "checks", "unproved"];

/// The variants of a program: with exact tails, and the main one.
const VARIANTS: [&str; 2] = ["exact", "main"];

/// The most operations of a recorded case, so that all of them take seconds.
const MOST_OPERATIONS: u64 = 60_000;

/// The most instructions and statements of a recorded case.
const MOST_CODE: u64 = 4_000;

/// Rounds of giving a program larger inputs.
const MOST_ROUNDS: usize = 100;

/// A recorded case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    seed: u64,
    /// True for cases with kernels.
    gpu: bool,
    schedule: String,
    /// By variant; the main one need not serve every call.
    counts: [Option<Counts>; 2],
}

impl Record {
    /// Counts the work of the case again.
    pub fn check(&self) -> Result<(), Failure> {
        let name = format!("{} {}", if self.gpu { "kernels" } else { "case" }, self.seed);
        let schedule: Schedule = self.schedule.parse().map_err(|e| failure("text of a schedule", format!("{e:?}")))?;
        let case = drawn(self.seed, self.gpu, Some(schedule));
        let counts = match measure(case)? {
            Ok(counts) => counts,
            Err(why) => return Err(failure(format!("refused: {why}"), format!("{name} was compiled and run before"))),
        };
        let mut more = String::new();
        for ((variant, before), now) in VARIANTS.iter().zip(self.counts).zip(counts) {
            let Some(before) = before else { continue };
            let Some(now) = now else {
                return Err(failure("another variant", format!("{name}: {variant} served the call before")));
            };
            for ((what, before), now) in NAMES.iter().zip(before).zip(now).filter(|((_, a), b)| b > a) {
                let _ = write!(more, " {variant} {what} {now}, not {before};");
            }
        }
        match more.is_empty() {
            true => Ok(()),
            false => Err(failure("more work", format!("{name}:{more}\n{}", self.schedule))),
        }
    }

    /// The case that belongs to a seed, if it is served and of a size for a record.
    fn draw(seed: u64, gpu: bool) -> Result<Option<Record>, Failure> {
        let case = drawn(seed, gpu, None);
        Record::count(case.schedule.to_string(), seed, gpu)
    }

    fn count(schedule: String, seed: u64, gpu: bool) -> Result<Option<Record>, Failure> {
        let Ok(parsed) = schedule.parse() else { return Ok(None) };
        let Ok(counts) = measure(drawn(seed, gpu, Some(parsed)))? else { return Ok(None) };
        let small = |c: &Counts| c[2] <= MOST_OPERATIONS && c[4] <= MOST_CODE;
        let fits = counts.iter().flatten().all(small);
        Ok(fits.then_some(Record { seed, gpu, schedule, counts }))
    }
}

fn drawn(seed: u64, gpu: bool, schedule: Option<Schedule>) -> Case {
    if gpu { Case::gpu_of_seed(seed, schedule) } else { Case::of_seed(seed, schedule) }
}

/// Lowers a case in both variants and counts what the evaluator does; or says why it is refused.
fn measure(case: Case) -> Result<Result<[Option<Counts>; 2], String>, Failure> {
    // Inputs as large as the main variant reads them, so that it runs.
    let mut case = Case { roomy: true, ..case.main_part() };
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return Ok(Err("illegal schedule".into()));
    };
    let (mut programs, mut proofs) = (Vec::new(), [0, 0]);
    for exact in [true, false] {
        let options = LowerOptions { exact_tails: exact, keep_programs: !exact, ..LowerOptions::default() };
        let Ok(Lowered { program, trace, .. }) = lower(&plan, &options) else { return Ok(Err("lowering".into())) };
        programs.push((exact, program));
        let whole = trace.passes.into_iter().rev().find(|p| p.name == "place_copies").and_then(|p| p.after);
        if let Some(whole) = whole {
            proofs = [checks(&case, &whole), unproved(&whole)];
        }
    }
    let mut inputs = Sizes::new(&case);
    for _ in 0..MOST_ROUNDS {
        match evaluate(&case, &plan.pipeline.outputs, &programs, &inputs)? {
            Evaluated::Done(ran) => {
                let mut counts = [None, None];
                for (n, ran) in ran {
                    counts[n] = counts_of(&programs[n].1, &ran, &inputs, if n == 1 { proofs } else { [0, 0] });
                }
                return Ok(Ok(counts));
            }
            Evaluated::Regions(regions) => case.regions = regions,
            Evaluated::Grow(image, dim, span) if inputs.grow(image, dim, span) => {}
            Evaluated::Obey(image, rule) if inputs.obey(image, rule) => {}
            Evaluated::Grow(..) => return Ok(Err("large input".into())),
            Evaluated::Obey(..) => return Ok(Err("rules at odds".into())),
            Evaluated::Refused(why) => return Ok(Err(why)),
        }
    }
    Ok(Err("large input".into()))
}

fn counts_of(program: &Program, ran: &Ran, inputs: &Sizes, [checks, unproved]: [u64; 2]) -> Option<Counts> {
    let stats = ran.stats.as_ref()?;
    let points = program.buffers.ids().map(|id| stats.buffers[id].stores).sum();
    let elements = inputs.buffers.iter().filter_map(|b| b.region().points()).sum();
    let iterations = stats.iterations.iter().sum();
    Some([points, iterations, stats.operations, stats.peak_bytes, stats.code, elements, checks, unproved])
}

/// The assertions of a program whose accesses are checked before loops.
fn checks(case: &Case, whole: &Program) -> u64 {
    let checked = check_accesses(whole.clone(), Some(&case.pipeline), false, &mut LoweringTrace::new());
    let mut asserts = 0;
    let mut count = |s: &Stmt| asserts += u64::from(matches!(s, Stmt::Assert { .. }));
    visit::for_each_stmt(&checked.body, &mut count);
    asserts
}

/// The buffers and parallel loops of which nothing is proved.
fn unproved(whole: &Program) -> u64 {
    let trust = trust(whole);
    let open = |proved: &&bool| !**proved;
    (trust.initialised.values().filter(open).count() + trust.independent.values().filter(open).count()) as u64
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("records/work.txt")
}

/// Reads the record.
///
/// # Panics
/// Where it cannot be read.
pub fn records() -> Vec<Record> {
    let text = std::fs::read_to_string(path()).unwrap_or_else(|e| panic!("{}: {e}", path().display()));
    let all: Option<Vec<Record>> = text.split("\n\n").filter(|part| !part.trim().is_empty()).map(read).collect();
    all.unwrap_or_else(|| panic!("{} is not what this crate writes", path().display()))
}

/// Reads one case: its kind and seed, counts by variant, and the schedule.
fn read(part: &str) -> Option<Record> {
    let mut lines = part.trim().lines();
    let (kind, seed) = lines.next()?.split_once(' ')?;
    let mut counts = [None, None];
    let mut schedule = String::new();
    for line in lines {
        let variant = VARIANTS.iter().position(|v| line.split_once('|').is_some_and(|(word, _)| word.trim() == *v));
        match variant {
            Some(n) => {
                let numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
                counts[n] = Some(numbers.collect::<Vec<u64>>().try_into().ok()?);
            }
            None => schedule += &format!("{line}\n"),
        }
    }
    Some(Record { seed: seed.parse().ok()?, gpu: kind == "kernels", schedule, counts })
}

fn write(record: &Record) -> String {
    let mut text = format!("{} {}\n", if record.gpu { "kernels" } else { "case" }, record.seed);
    for (variant, counts) in VARIANTS.iter().zip(record.counts) {
        let Some(counts) = counts else { continue };
        let words: Vec<String> = NAMES.iter().zip(counts).map(|(name, n)| format!("{name} {n}")).collect();
        let _ = writeln!(text, "{variant} | {}", words.join(" "));
    }
    text + record.schedule.trim_end() + "\n"
}

/// Counts everything again and writes the record: of cases that are served as before the schedules stay, and others are
/// drawn until there are `cases`, and `kernels` with kernels.
///
/// # Panics
/// Where a case fails, or the record cannot be written.
pub fn update(cases: usize, kernels: usize) {
    let before = if path().exists() { records() } else { Vec::new() };
    let mut all = Vec::new();
    for (gpu, most) in [(false, cases), (true, kernels)] {
        let mut kept: Vec<Record> = Vec::new();
        for record in before.iter().filter(|r| r.gpu == gpu).take(most) {
            kept.extend(counted(record.seed, Record::count(record.schedule.clone(), record.seed, gpu)));
        }
        for seed in 0.. {
            if kept.len() >= most {
                break;
            }
            if kept.iter().all(|r| r.seed != seed) {
                kept.extend(counted(seed, Record::draw(seed, gpu)));
            }
        }
        kept.sort_by_key(|r| r.seed);
        all.extend(kept);
    }
    let text: Vec<String> = all.iter().map(write).collect();
    let written = std::fs::create_dir_all(path().parent().unwrap_or(&path()));
    let written = written.and_then(|()| std::fs::write(path(), text.join("\n")));
    written.unwrap_or_else(|e| panic!("{}: {e}", path().display()));
}

fn counted(seed: u64, result: Result<Option<Record>, Failure>) -> Option<Record> {
    result.unwrap_or_else(|f| panic!("seed {seed}: {}: {}", f.kind, f.text))
}

//! Counts what the innermost loops of the machine code of every app do, and bounds their cycles by a table of
//! microarchitectures.
//!
//! ```text
//! cargo run --release -p halide-benches --bin codegen -- --best --tier avx512
//! cargo run --release -p halide-benches --bin codegen -- --only matmul --best --loops --march zen4
//! cargo run --release -p halide-benches --bin codegen -- --only harris.cpu --tier avx2 --worst 3
//! cargo run --release -p halide-benches --bin codegen -- --only blur --schedule chosen.txt --loops
//! ```
//!
//! Cases are all apps under all of their schedules for the CPU, in the variant that benches time, for every width of
//! vectors that this machine runs. The totals of a case are those of its innermost loops whose code has vectors of the
//! tier: of 128 bits for `baseline`, of 256 or 512 for the others.
//!
//! The bounds are cycles of one iteration. There is none of a whole pipeline, and no ratio to measured time: that takes
//! how often each loop runs, which the machine code does not count.

use clap::Parser;
use halide::Tier;
use halide::prelude::*;
use halide_apps::app::{APPS, App, Edges};
use halide_benches::codegen::bound::{Bound, bound};
use halide_benches::codegen::cores::Core;
use halide_benches::codegen::counts::Counts;
use halide_benches::codegen::flow::Flow;
use halide_benches::codegen::loops::{Loop, innermost};
use halide_benches::output::{Table, machine, write_json};
use halide_benches::untuned::UNTUNED;
use halide_cpu::{CpuOptions, Executable};
use halide_sched::lower::{Accesses, LowerOptions, lower};
use halide_sched::plan::resolve;
use iced_x86::{Formatter, IntelFormatter};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Counts what the innermost loops of compiled apps do in an iteration, and bounds their cycles.
#[derive(Debug, Parser)]
struct Options {
    /// Only cases whose name, `app.schedule.tier`, has this in it
    #[arg(long)]
    only: Option<String>,
    /// The pipelines that nobody tuned, in place of the apps
    #[arg(long)]
    untuned: bool,
    /// Only the best schedule of each app for the tier
    #[arg(long)]
    best: bool,
    /// This schedule in place of the apps' own
    #[arg(long, value_name = "FILE", requires = "only", conflicts_with = "best")]
    schedule: Option<PathBuf>,
    /// Only this width of vectors: baseline, avx2 or avx512
    #[arg(long, value_parser = tier_named)]
    tier: Option<Tier>,
    /// The microarchitecture of the bounds: golden-cove, zen3 or zen4
    #[arg(long, default_value = "golden-cove", value_parser = core_named)]
    march: &'static Core,
    /// The variant for outputs of any size, in place of the main one
    #[arg(long)]
    exact_tails: bool,
    /// Lists each loop
    #[arg(long)]
    loops: bool,
    /// Lists the instructions of so many loops of each case, those with the largest shares of stack operands
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    worst: usize,
    /// Also write JSON to this file; `-` is stdout, which then has nothing else
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn tier_named(text: &str) -> Result<Tier, String> {
    let names = Tier::ALL.map(Tier::name).join(", ");
    Tier::named(text).ok_or_else(|| format!("a tier is one of {names}"))
}

fn core_named(text: &str) -> Result<&'static Core, String> {
    let names = Core::ALL.map(|core| core.name).join(", ");
    Core::ALL.into_iter().find(|core| core.name == text).ok_or_else(|| format!("a microarchitecture is one of {names}"))
}

/// An innermost loop of a function.
struct Found {
    function: String,
    /// The address of its head from the function's start.
    address: u64,
    counts: Counts,
    bound: Option<Bound>,
    /// Its instructions, block by block.
    text: String,
}

/// An app under a schedule for a tier.
struct Case {
    app: &'static App,
    /// The name of the schedule, or its file.
    name: String,
    schedule: Schedule,
    tier: Tier,
}

impl Case {
    fn title(&self) -> String {
        format!("{}.{}.{}", self.app.name, self.name, self.tier.name())
    }
}

/// A case with the innermost loops of its machine code.
struct Examined {
    case: Case,
    loops: Vec<Found>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Looks at all cases that are asked for, and prints what is found.
fn run(options: &Options) -> Result<(), String> {
    let quiet = options.json.as_deref().is_some_and(|path| path.as_os_str() == "-");
    let mut all = Vec::new();
    for tier in Tier::ALL.into_iter().filter(|tier| options.tier.is_none_or(|only| only == *tier)) {
        if !tier.available() {
            eprintln!("skipped: this machine has no {}", tier.name());
            continue;
        }
        for case in cases(options, tier)? {
            let loops = examine(&case, options).map_err(|e| format!("{}: {e}", case.title()))?;
            let examined = Examined { case, loops };
            if !quiet {
                print_loops(&examined, options);
            }
            all.push(examined);
        }
    }
    if all.is_empty() {
        return Err("no case has such a name".to_string());
    }
    if !quiet {
        print!("{}", totals_table(&all).text());
    }
    let Some(path) = &options.json else { return Ok(()) };
    let core = json!({ "name": options.march.name, "about": options.march.about, "source": options.march.source });
    let runs: Vec<Value> = all.iter().map(case_json).collect();
    write_json(path, &json!({ "machine": machine(), "march": core, "runs": runs }))
}

/// The schedules to look at, with their apps. GPUs have code of their own.
fn cases(options: &Options, tier: Tier) -> Result<Vec<Case>, String> {
    let apps = if options.untuned { UNTUNED } else { APPS };
    let mut all = Vec::new();
    if let Some(file) = &options.schedule {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|e| format!("{name}: {e}"))?;
        let schedule = Schedule::parse(&text, &name).map_err(|e| e.to_string())?;
        let of = |app| Case { app, name: name.clone(), schedule: schedule.clone(), tier };
        all.extend(apps.iter().filter(|app| options.only.as_deref() == Some(app.name)).map(of));
        return Ok(all);
    }
    for app in apps {
        for schedule in app.schedules.iter().filter(|schedule| !schedule.is_for_gpu()) {
            let is_best = app.best(false, tier.vector_bits()).name == schedule.name;
            let parsed = schedule.parse().map_err(|e| e.to_string())?;
            let case = Case { app, name: schedule.name.to_string(), schedule: parsed, tier };
            let is_asked = options.only.as_ref().is_none_or(|part| case.title().contains(part.as_str()));
            all.extend(Some(case).filter(|_| (is_best || !options.best) && is_asked));
        }
    }
    Ok(all)
}

/// The innermost loops of an app's machine code.
fn examine(case: &Case, options: &Options) -> Result<Vec<Found>, String> {
    let made = compile(case, options.exact_tails)?;
    let mut all = Vec::new();
    for function in made.functions() {
        let flow = Flow::decode(&function.bytes).map_err(|e| format!("{}: {e}", function.name))?;
        for l in innermost(&flow) {
            let counts = Counts::of_loop(&flow, &l, function.spill_bytes);
            let address = flow.blocks[l.head].instructions.first().map_or(0, |i| i.ip());
            let (bound, text) = (bound(options.march, &flow, &l), text(&flow, &l));
            all.push(Found { function: function.name.clone(), address, counts, bound, text });
        }
    }
    Ok(all)
}

/// The machine code of an app as benches run it: the output is given, and inputs are large enough.
fn compile(case: &Case, exact_tails: bool) -> Result<Executable, String> {
    let pipeline = case.app.default_pipeline(Edges::Inside).map_err(|e| e.to_string())?;
    let target = Target { vector_bits: case.tier.vector_bits(), ..Target::host() };
    let lines = |errors: Vec<String>| errors.join("\n");
    let plan =
        resolve(&pipeline, &case.schedule, &target).map_err(|e| lines(e.iter().map(|e| e.to_string()).collect()))?;
    let lowering = LowerOptions { exact_tails, accesses: Accesses::BeforeLoops, ..LowerOptions::default() };
    let lowered = lower(&plan, &lowering).map_err(|e| lines(e.iter().map(|e| e.to_string()).collect()))?;
    let options = CpuOptions { keep_text: true, ..CpuOptions::for_target(&target) };
    halide_cpu::compile(&lowered.program, &options).map_err(|e| e.to_string())
}

/// The instructions of a loop, with an empty line before each block.
fn text(flow: &Flow, l: &Loop) -> String {
    let mut formatter = IntelFormatter::new();
    let mut text = String::new();
    for &block in &l.blocks {
        for instruction in &flow.blocks[block].instructions {
            let mut line = String::new();
            formatter.format(instruction, &mut line);
            text += &format!("    {:6x}  {line}\n", instruction.ip());
        }
        text.push('\n');
    }
    text
}

/// Returns true if a loop has vectors of the width that its tier is for.
fn is_of(tier: Tier, counts: &Counts) -> bool {
    let least = tier.vector_bits().min(256);
    counts.bits >= u64::from(least)
}

/// Cycles of an iteration: the cheapest way through the loop, and the dearest where that is another.
fn cycles(bound: Option<&Bound>) -> [String; 2] {
    match bound {
        None => ["-".to_string(), "-".to_string()],
        Some(Bound { least, most }) if least.cycles == most.cycles => {
            [format!("{:.2}", least.cycles), least.by.clone()]
        }
        Some(Bound { least, most }) => {
            [format!("{:.2} to {:.2}", least.cycles, most.cycles), format!("{} / {}", least.by, most.by)]
        }
    }
}

fn print_loops(examined: &Examined, options: &Options) {
    let name = examined.case.title();
    let vectors: Vec<&Found> = examined.loops.iter().filter(|l| is_of(examined.case.tier, &l.counts)).collect();
    if options.loops {
        println!("{name}, cycles of an iteration on {}", options.march.name);
        println!("{}", loops_table(&vectors).text());
    }
    let mut worst = vectors;
    worst.sort_by(|a, b| b.counts.stack_percent().total_cmp(&a.counts.stack_percent()));
    for l in worst.into_iter().take(options.worst) {
        let [cycles, by] = cycles(l.bound.as_ref());
        let (at, share) = (l.address, l.counts.stack_percent());
        println!("{name}: {} at {at:#x}, {share:.0} % of the stack, {cycles} cycles by {by}\n{}", l.function, l.text);
    }
}

/// Names of the columns of counts, which follow those that say what is counted.
const COLUMNS: [&str; 11] = [
    "instructions",
    "loads",
    "stores",
    "constants",
    "stack operands",
    "of vectors",
    "frame data",
    "GPR stores",
    "gathers",
    "FMAs",
    "vector ops",
];

fn cells(c: &Counts) -> impl Iterator<Item = String> {
    let numbers = [c.instructions, c.loads, c.stores, c.constants, c.stack_operands, c.stack_vectors, c.frame_data];
    let more = [c.general_stores, c.gathers, c.multiply_adds, c.vector_arithmetic];
    numbers.into_iter().chain(more).map(|n| n.to_string())
}

fn loops_table(loops: &[&Found]) -> Table {
    let columns: Vec<&str> = ["loop"].into_iter().chain(COLUMNS).chain(["cycles", "by"]).collect();
    let mut table = Table::new(&columns);
    for l in loops {
        let name = format!("{} at {:#x}", l.function, l.address);
        table.row([name].into_iter().chain(cells(&l.counts)).chain(cycles(l.bound.as_ref())).collect());
    }
    table
}

/// The number of loops with vectors of the tier, those of them that touch the stack, and the sum of all.
fn totals(examined: &Examined) -> (usize, usize, Counts) {
    let (mut loops, mut with_stack, mut sum) = (0, 0, Counts::default());
    for counts in examined.loops.iter().map(|l| l.counts).filter(|counts| is_of(examined.case.tier, counts)) {
        loops += 1;
        with_stack += usize::from(counts.stack_operands > 0);
        sum += counts;
    }
    (loops, with_stack, sum)
}

fn totals_table(all: &[Examined]) -> Table {
    let columns: Vec<&str> = ["app.schedule.tier", "loops", "with stack"].into_iter().chain(COLUMNS).collect();
    let mut table = Table::new(&columns);
    for e in all {
        let (loops, with_stack, sum) = totals(e);
        let name = e.case.title();
        table.row([name, loops.to_string(), with_stack.to_string()].into_iter().chain(cells(&sum)).collect());
    }
    table
}

fn case_json(e: &Examined) -> Value {
    let (loops, with_stack, sum) = totals(e);
    let each = |l: &Found| {
        let limit = |cycles: f64, by: &str| json!({ "cycles": cycles, "by": by });
        let bound = l
            .bound
            .as_ref()
            .map(|b| json!({ "least": limit(b.least.cycles, &b.least.by), "most": limit(b.most.cycles, &b.most.by) }));
        let has_vectors = is_of(e.case.tier, &l.counts);
        json!({
            "function": l.function, "address": l.address, "has_vectors": has_vectors, "counts": l.counts.json(),
            "bound": bound,
        })
    };
    json!({
        "app": e.case.app.name, "schedule": e.case.name, "tier": e.case.tier.name(), "loops": loops,
        "with_stack": with_stack, "totals": sum.json(), "each": e.loops.iter().map(each).collect::<Vec<_>>(),
    })
}

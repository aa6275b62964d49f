//! Proofs of accesses in the apps: how many there are, and what they add to compiling:
//! `cargo bench -p halide-benches --bench accesses -- --help`.

use clap::Parser;
use halide::prelude::*;
use halide_apps::app::{APPS, Edges};
use halide_benches::output::{Table, machine};
use halide_benches::rounds::{Budget, Times, interleaved, interleaved_by, processor_time};
use halide_cpu::CpuOptions;
use halide_sched::lower::{Accesses, LowerOptions, Lowered, lower};
use halide_sched::plan::{Plan, resolve};
use std::time::Duration;

/// Times compiling every app under its best schedule for this machine, with proofs of accesses and without, in turn.
#[derive(Debug, Parser)]
struct Options {
    /// Only apps whose name has this in it
    #[arg(long)]
    only: Option<String>,
    /// All schedules for processors, not the best alone
    #[arg(long)]
    all: bool,
    /// For how long rounds begin; there are at least 3
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Times on a processor instead of those that pass, for a machine that others use
    #[arg(long)]
    processor: bool,
    /// List the accesses that are not proved and asked in innermost loops
    #[arg(long)]
    reasons: bool,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// An app to compile.
struct Candidate {
    name: String,
    plan: Plan,
    accesses: Accesses,
}

impl Candidate {
    fn lower(&self) -> Result<Lowered, String> {
        let options = LowerOptions { accesses: self.accesses, ..LowerOptions::default() };
        lower(&self.plan, &options).map_err(|e| format!("{}: {}", self.name, e[0]))
    }
    fn compile(&mut self) -> Result<(), String> {
        let lowered = self.lower()?;
        halide_cpu::compile(&lowered.program, &CpuOptions::default())
            .map(drop)
            .map_err(|e| format!("{}: {e}", self.name))
    }
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    let mut candidates = candidates(&options)?;
    let budget = Budget { least: 3, most: 200, time: Duration::from_secs_f64(options.seconds.clamp(0.0, 1e6)) };
    let times = match options.processor {
        true => interleaved_by(&mut candidates, budget, processor_time, Candidate::compile)?,
        false => interleaved(&mut candidates, budget, Candidate::compile)?,
    };
    let mut table = Table::new(&["", "proved", "of", "compile ms", "without", "ratio of minima", "of medians"]);
    let (mut sums, mut logs) = ([0; 2], [0.0; 2]);
    for (pair, times) in candidates.chunks(2).zip(times.chunks(2)) {
        let lowered = pair[0].lower()?;
        let passes = lowered.trace.passes.iter().filter(|pass| pass.name == "check_accesses");
        let text: String = passes.flat_map(|pass| &pass.decisions).map(|decision| format!("{decision:?}\n")).collect();
        let [proved, all] = counts(&text).ok_or_else(|| format!("{}: nothing proved: {text}", pair[0].name))?;
        let ratios = [ratio(times, Times::min), ratio(times, Times::median)];
        (sums[0], sums[1]) = (sums[0] + proved, sums[1] + all);
        logs.iter_mut().zip(ratios).for_each(|(log, ratio)| *log += ratio.ln());
        let mut row = vec![pair[0].name.clone(), proved.to_string(), all.to_string()];
        row.extend([times[0].min(), times[1].min()].map(|ms| format!("{ms:.2}")));
        row.extend(ratios.map(|ratio| format!("{ratio:.3}")));
        table.row(row);
        if options.reasons {
            println!("{}\n{text}", pair[0].name);
        }
    }
    let n = (candidates.len() / 2).max(1) as f64;
    let [min, median] = logs.map(|log| format!("{:.3}", (log / n).exp()));
    let [proved, all] = sums.map(|n| n.to_string());
    table.row(vec!["all, geometric means".to_string(), proved, all, String::new(), String::new(), min, median]);
    println!("{}, {} rounds\n{}", machine(), times.first().map_or(0, Times::count), table.text());
    Ok(())
}

/// Every app twice: with proofs, and without.
fn candidates(options: &Options) -> Result<Vec<Candidate>, String> {
    let mut list = Vec::new();
    for app in APPS.iter().filter(|app| options.only.as_ref().is_none_or(|part| app.name.contains(part))) {
        let pipeline = app.default_pipeline(Edges::Inside).map_err(|e| e.to_string())?;
        let best = app.best(false, Target::host().vector_bits);
        for named in app.schedules.iter().filter(|s| if options.all { !s.is_for_gpu() } else { s.name == best.name }) {
            let schedule = named.parse().map_err(|e| e.to_string())?;
            let plan = resolve(&pipeline, &schedule, &Target::host()).map_err(|e| e[0].to_string())?;
            let name = format!("{} {}", app.name, named.name);
            for accesses in [Accesses::BeforeLoops, Accesses::Trusted] {
                list.push(Candidate { name: name.clone(), plan: plan.clone(), accesses });
            }
        }
    }
    Ok(list)
}

fn ratio(times: &[Times], of: impl Fn(&Times) -> f64) -> f64 {
    of(&times[0]) / of(&times[1])
}

/// The numbers of "proved N of M accesses".
fn counts(text: &str) -> Option<[usize; 2]> {
    let (_, rest) = text.split_once("proved ")?;
    let mut words = rest.split(' ');
    let proved = words.next()?.parse().ok()?;
    Some([proved, words.nth(1)?.parse().ok()?])
}

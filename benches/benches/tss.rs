//! Tiles by VEC-TSS beside those of other rules and the best of many:
//! `cargo bench -p halide-benches --bench tss -- --help`.

use clap::Parser;
use halide::auto::Tileable;
use halide::machine::Machine;
use halide::machine_file;
use halide::prelude::*;
use halide::schedule::update;
use halide::tss::{Fidelity, Tiles, TssOptions, rules};
use halide_apps::job::Difference;
use halide_benches::output::{Table, machine, write_json};
use halide_benches::polyhedral::{KERNELS, Kernel, Made};
use halide_benches::rounds::{Budget, Times, interleaved};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Times tiles of loop nests on random values; repetitions take turns.
#[derive(Debug, Parser)]
struct Options {
    /// Only these kernels
    #[arg(long, value_delimiter = ',')]
    kernel: Vec<String>,
    /// Rows and columns of matrices
    #[arg(long, value_delimiter = ',', default_values_t = [799, 1199, 1599, 2399, 3199])]
    size: Vec<i64>,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<u32>,
    /// For how long rounds of one nest begin; there are at least 2 rounds
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Sizes of each loop to try in all combinations, once each; the best 3 then run beside the rules
    #[arg(long, default_value_t = 5)]
    tried: usize,
    /// Rows of inputs begin at lines of caches
    #[arg(long)]
    padded: bool,
    /// The machine for which tiles are chosen, a file that `halide machine -o` wrote; a typical one by default
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Print the schedules, what is predicted of tiles, and all times
    #[arg(long)]
    show: bool,
    /// Also write JSON to this file; `-` is stdout, after the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// The rules, in the order of the table's columns.
const RULES: [&str; 6] = ["VEC-TSS", "paper", "untiled", "cube 32", "SICA", "TTS"];

struct Candidate {
    /// The rules that choose it; none if it was tried.
    rules: Vec<usize>,
    sizes: Vec<u64>,
    tiles: Tiles,
    compiled: Compiled,
    output: AnyBuffer,
}

/// A nest whose tiles are timed.
#[derive(Clone, Copy)]
struct Subject<'s> {
    kernel: &'static Kernel,
    size: i64,
    pipeline: &'s Pipeline,
    target: &'s Target,
    machine: &'s Machine,
}

struct Row {
    kernel: &'static Kernel,
    size: i64,
    threads: u32,
    /// The times of each rule; `None` where it fits nothing.
    times: Vec<Option<(Vec<u64>, Times)>>,
    /// The best of all that ran, by its sizes.
    best: (Vec<u64>, f64),
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    if let Some(name) = options.kernel.iter().find(|name| KERNELS.iter().all(|k| k.name != name.as_str())) {
        let names: Vec<&str> = KERNELS.iter().map(|k| k.name).collect();
        return Err(format!("there is no kernel `{name}`; choose from {}", names.join(", ")));
    }
    let wanted = |k: &&Kernel| options.kernel.is_empty() || options.kernel.iter().any(|name| k.name == name);
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for kernel in KERNELS.iter().filter(wanted) {
        for &size in &options.size {
            for &threads in &options.threads {
                match bench(kernel, size, threads, &options)? {
                    Ok(row) => {
                        eprintln!("{}", table(std::slice::from_ref(&row)).text().lines().nth(1).unwrap_or_default());
                        rows.push(row);
                    }
                    Err(reason) if refused.contains(&(kernel.name, reason.clone())) => {}
                    Err(reason) => refused.push((kernel.name, reason)),
                }
            }
        }
    }
    println!("least times in ms; shares are the best of all by the rule's time");
    println!("{}", table(&rows).text());
    refused.iter().for_each(|(kernel, reason)| println!("{kernel}: no tiles: {reason}"));
    match &options.json {
        Some(path) => {
            write_json(path, &json!({ "machine": machine(), "runs": rows.iter().map(json).collect::<Vec<_>>() }))
        }
        None => Ok(()),
    }
}

/// Times one nest; the inner error is a reason against any tiles.
fn bench(kernel: &'static Kernel, size: i64, threads: u32, options: &Options) -> Result<Result<Row, String>, String> {
    let fail = |e: Error| format!("{}: {e}", kernel.name);
    let Made { pipeline, func, given } = (kernel.make)(size).map_err(|e| e.to_string())?;
    let given: Schedule = given.parse().map_err(|e: halide::schedule::ParseErrors| e.to_string())?;
    let target = Target { threads, ..Target::host() };
    let read = |path: &PathBuf| {
        let text = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        machine_file::read(&text).map_err(|e| format!("{}: {e}", path.display()))
    };
    let machine = options.machine.as_ref().map(read).transpose()?.unwrap_or_else(|| Machine::typical(&target));
    let output = &pipeline.funcs[pipeline.outputs[0]].name;
    let mut sizes = Estimates::new().output(output, [size, size]);
    for image in pipeline.images.iter() {
        sizes = sizes.input(&image.name, [size, size]);
    }
    let of = match pipeline.tileable(&machine, &given, update(func, 0), &target, &sizes) {
        Ok(of) => of,
        Err(reason) => return Ok(Err(reason.to_string())),
    };
    if let Err(reason) = of.nest().check() {
        return Ok(Err(reason.to_string()));
    }
    let inputs = inputs(kernel, &pipeline, size, options.padded)?;
    let mut run = |c: &mut Candidate| {
        let call = c.compiled.inputs().threads(threads as usize);
        let call = inputs.iter().fold(call, |call, (name, buffer)| call.image_named(name, buffer));
        call.realize_all_into(&mut [c.output.view_mut()?]).map(drop)
    };
    let subject = Subject { kernel, size, pipeline: &pipeline, target: &target, machine: &machine };
    let mut all = candidates(&subject, &of, options)?;
    if all.iter().any(|c| c.rules.is_empty()) {
        let once = interleaved(&mut all, Budget { least: 1, most: 1, time: Duration::ZERO }, &mut run).map_err(fail)?;
        show(kernel, &all, &once, options);
        let mut by_time: Vec<(f64, usize)> = once.iter().map(Times::min).zip(0..).collect();
        by_time.sort_by(|a, b| a.0.total_cmp(&b.0));
        let tried = by_time.into_iter().map(|(_, n)| n).filter(|n| all[*n].rules.is_empty()).take(3);
        let kept: Vec<usize> = tried.collect();
        let mut n = 0..;
        all.retain(|c| n.next().is_some_and(|n| !c.rules.is_empty() || kept.contains(&n)));
    }
    let budget = Budget { least: 2, most: 50, time: Duration::from_secs_f64(options.seconds.clamp(0.0, 1e6)) };
    let times = interleaved(&mut all, budget, &mut run).map_err(fail)?;
    same_results(kernel.name, &all)?;
    let best = all.iter().zip(&times).min_by(|a, b| a.1.min().total_cmp(&b.1.min()));
    let best = best.map(|(c, times)| (c.sizes.clone(), times.min())).unwrap_or_default();
    show(kernel, &all, &times, options);
    let of_rule = |rule: usize| {
        let found = all.iter().zip(&times).find(|(c, _)| c.rules.contains(&rule));
        found.map(|(c, times)| (c.sizes.clone(), times.clone()))
    };
    Ok(Ok(Row { kernel, size, threads, times: (0..RULES.len()).map(of_rule).collect(), best }))
}

/// Prints what is predicted of tiles beside their times.
fn show(kernel: &Kernel, all: &[Candidate], times: &[Times], options: &Options) {
    for (c, times) in all.iter().zip(times).filter(|_| options.show) {
        let names: Vec<&str> = c.rules.iter().map(|rule| RULES[*rule]).collect();
        let Tiles { cycles, traffic, .. } = &c.tiles;
        let predicted = format!("{cycles:.3} cycles and {traffic:.2?} bytes a point");
        println!("{} {:?}: {predicted}, {:.3} ms; {}", kernel.name, c.sizes, times.min(), names.join(", "));
    }
}

/// The tiles of each rule, and many others.
fn candidates(subject: &Subject<'_>, of: &Tileable<'_>, options: &Options) -> Result<Vec<Candidate>, String> {
    let Subject { kernel, size, pipeline, target, machine } = *subject;
    let threads = target.threads;
    let corrected = of.options(&TssOptions::default());
    let paper = TssOptions { fidelity: Fidelity::Paper, ..corrected };
    let select = |options| halide::tss::select(of.nest(), machine, threads, options).map(|tiles| tiles.sizes);
    let by_rule = [
        select(&corrected),
        select(&paper),
        Ok(rules::untiled(of.nest())),
        Ok(rules::cube(of.nest(), 32)),
        rules::sica(of.nest(), machine, threads, &corrected),
        rules::tts(of.nest(), machine, threads, &corrected),
    ];
    let mut wanted: Vec<(Vec<u64>, Vec<usize>)> = Vec::new();
    for (rule, sizes) in by_rule.into_iter().enumerate() {
        let Ok(sizes) = sizes else { continue };
        match wanted.iter_mut().find(|(known, _)| *known == sizes) {
            Some((_, rules)) => rules.push(rule),
            None => wanted.push((sizes, vec![rule])),
        }
    }
    if options.tried > 0 {
        let tried = rules::candidates(of.nest(), machine, threads, &corrected, options.tried);
        for sizes in tried.map_err(|e| e.to_string())? {
            if wanted.iter().all(|(known, _)| *known != sizes) {
                wanted.push((sizes, Vec::new()));
            }
        }
    }
    let make = |(sizes, rules): (Vec<u64>, Vec<usize>)| {
        let fail = |e: Error| format!("{} in tiles of {sizes:?}: {e}", kernel.name);
        let tiling = of.with_sizes(&sizes, &TssOptions::default()).map_err(|e| fail(e.into()))?;
        if options.show && !rules.is_empty() {
            println!("{}", tiling.schedule);
        }
        let compiled = pipeline.compile(&tiling.schedule, target).map_err(fail)?;
        let output = AnyBuffer::new(kernel.ty, [size, size]).map_err(|e| e.to_string())?;
        Ok(Candidate { rules, sizes, tiles: tiling.tiles, compiled, output })
    };
    wanted.into_iter().map(make).collect()
}

/// Inputs of random values from 0 to 1, and diagonals of 1, so that eliminations stay finite.
fn inputs(kernel: &Kernel, pipeline: &Pipeline, size: i64, padded: bool) -> Result<Vec<(String, AnyBuffer)>, String> {
    let line = 64 / kernel.ty.bytes() as i64;
    let ld = if padded { (size + line - 1) / line * line } else { size };
    let mut state = 1u64;
    let mut made = Vec::new();
    for image in pipeline.images.iter() {
        let region = Region::of_extents([size, size]);
        let mut buffer = AnyBuffer::with_strides(kernel.ty, &region, &[1, ld]).map_err(|e| e.to_string())?;
        for at in region.coords() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = if at[0] == at[1] { 1.0 } else { (state >> 40) as f64 / (1u64 << 24) as f64 / size as f64 };
            let value = halide::value::cast(kernel.ty, halide::value::Scalar::from(value));
            buffer.set(&at, value).map_err(|e| e.to_string())?;
        }
        made.push((image.name.clone(), buffer));
    }
    Ok(made)
}

/// Tiles that are fast and wrong are no candidates.
fn same_results(name: &str, candidates: &[Candidate]) -> Result<(), String> {
    let Some((first, others)) = candidates.split_first() else { return Ok(()) };
    for other in others {
        let mut difference = Difference::default();
        difference.add(&first.output, &other.output);
        if !difference.is_allowed(true) {
            return Err(format!("{name}: {:?} and {:?} differ by {}", first.sizes, other.sizes, difference.largest));
        }
    }
    Ok(())
}

fn table(rows: &[Row]) -> Table {
    let columns = ["kernel", "n", "threads", "GF/s", "tiles"].into_iter().chain(RULES).chain(["best", "its tiles"]);
    let columns: Vec<&str> = columns.chain(RULES).collect();
    let mut table = Table::new(&columns);
    for row in rows {
        let of_rule = |rule: usize| row.times.get(rule).and_then(Option::as_ref);
        let flops = row.kernel.operations * (row.size as f64).powi(3);
        let own = of_rule(0);
        let mut cells = vec![row.kernel.name.to_string(), row.size.to_string(), row.threads.to_string()];
        cells.push(own.map_or(String::new(), |(_, times)| format!("{:.1}", flops / times.min() / 1e6)));
        cells.push(own.map_or(String::new(), |(sizes, _)| spelled(sizes)));
        let ms = |rule: usize| of_rule(rule).map_or("-".to_string(), |(_, times)| format!("{:.2}", times.min()));
        cells.extend((0..RULES.len()).map(ms));
        cells.extend([format!("{:.2}", row.best.1), spelled(&row.best.0)]);
        let share = |rule: usize| {
            of_rule(rule).map_or("-".to_string(), |(_, times)| format!("{:.2}", row.best.1 / times.min()))
        };
        cells.extend((0..RULES.len()).map(share));
        table.row(cells);
    }
    table
}

fn spelled(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    sizes.join("x")
}

fn json(row: &Row) -> Value {
    let of_rule = |(rule, found): (&str, &Option<(Vec<u64>, Times)>)| {
        let times = found.as_ref().map(|(sizes, times)| {
            json!({ "sizes": sizes, "min_ms": times.min(), "median_ms": times.median(), "runs": times.count() })
        });
        (rule.to_string(), times.unwrap_or(Value::Null))
    };
    let rules: serde_json::Map<String, Value> = RULES.into_iter().zip(&row.times).map(of_rule).collect();
    json!({
        "kernel": row.kernel.name, "n": row.size, "threads": row.threads, "rules": rules,
        "best": { "sizes": row.best.0, "min_ms": row.best.1 },
    })
}

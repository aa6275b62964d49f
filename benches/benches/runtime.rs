//! Every app under every schedule, on one thread and on two: `cargo bench -p halide-benches --bench runtime -- --help`.

use clap::Parser;
use halide::prelude::*;
use halide_apps::app::{APPS, App, NamedSchedule};
use halide_apps::job::{Difference, Job, Source};
use halide_benches::output::{Table, machine, write_json};
use halide_benches::rounds::{Budget, Times, interleaved};
use halide_benches::untuned::UNTUNED;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Times apps under their schedules on random values; repetitions of all candidates take turns.
#[derive(Debug, Parser)]
struct Options {
    /// The pipelines that nobody tuned, in place of the apps
    #[arg(long)]
    untuned: bool,
    /// Only this app
    #[arg(long)]
    app: Option<String>,
    /// Only schedules whose name has this in it
    #[arg(long)]
    schedule: Option<String>,
    /// Size of the output; by default the one at which the app is compared with others
    #[arg(long, value_name = "WxH")]
    size: Option<String>,
    /// A parameter or a setting, like `halide run --param`; with --app
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = name_and_value, requires = "app")]
    params: Vec<(String, String)>,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// For how long rounds of one app begin; there are at least 3 rounds
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Also write the output of the first schedule to this file: elements as they are, the first dimension fastest;
    /// with --app
    #[arg(long, value_name = "FILE", requires = "app")]
    write: Option<PathBuf>,
    /// Also write JSON to this file; `-` is stdout, which then has nothing else
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_string(), value.to_string()))
}

struct Candidate {
    schedule: &'static str,
    /// True if floats may be rounded otherwise than the algorithm says.
    loose: bool,
    threads: usize,
    compiled: Compiled,
    outputs: Vec<AnyBuffer>,
    peak_bytes: u64,
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    let mut rows = Vec::new();
    let all = if options.untuned { UNTUNED } else { APPS };
    for app in all.iter().filter(|a| options.app.as_ref().is_none_or(|name| name == a.name)) {
        rows.extend(bench(app, &options)?);
    }
    if let Some(path) = &options.json {
        write_json(path, &json!({ "machine": machine(), "runs": rows }))?;
    }
    Ok(())
}

fn size(app: &App, options: &Options) -> Result<(i64, i64), String> {
    let Some(text) = &options.size else { return Ok(app.size) };
    let numbers = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    numbers.filter(|&(w, h)| w >= 1 && h >= 1).ok_or(format!("--size {text}: a size is two numbers, like 640x480"))
}

fn bench(app: &'static App, options: &Options) -> Result<Vec<Value>, String> {
    let (width, height) = size(app, options)?;
    let fail = |e: Error| e.to_string();
    let job = Job::new(app, Source::Random { seed: 1, width, height }, &options.params).map_err(|e| e.to_string())?;
    let mut candidates = Vec::new();
    for named in cpu_schedules(app).filter(|s| options.schedule.as_ref().is_none_or(|part| s.name.contains(part))) {
        let schedule = named.parse().map_err(|e| e.to_string())?;
        let loose = schedule.reassociates();
        let compiled = job.pipeline.compile(&schedule, &Target::host()).map_err(fail)?;
        for &threads in &options.threads {
            let (compiled, outputs) = (compiled.clone(), job.outputs().map_err(fail)?);
            candidates.push(Candidate { schedule: named.name, loose, threads, compiled, outputs, peak_bytes: 0 });
        }
    }
    let budget = Budget { least: 3, most: 200, time: Duration::from_secs_f64(options.seconds.clamp(0.0, 1e6)) };
    let times = interleaved(&mut candidates, budget, |c| {
        let stats = job.run(&c.compiled, Some(c.threads), &mut c.outputs)?;
        c.peak_bytes = c.peak_bytes.max(stats.peak_bytes);
        Ok(())
    });
    let times = times.map_err(fail)?;
    same_results(app, &candidates)?;
    if let (Some(path), Some(first)) = (&options.write, candidates.first()) {
        // Outputs of jobs are whole buffers without gaps.
        let bytes: Vec<&[u8]> = first.outputs.iter().map(|o| &o.memory().bytes[o.memory().used]).collect();
        std::fs::write(path, bytes.concat()).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let quiet = options.json.as_deref().is_some_and(|p| p.as_os_str() == "-");
    if !quiet {
        println!("{} {width}x{height}, {} rounds", app.name, times.first().map_or(0, Times::count));
        println!("{}", table(&candidates, &times, width * height).text());
    }
    let row = |(c, t): (&Candidate, &Times)| {
        json!({
            "app": app.name, "schedule": c.schedule, "threads": c.threads, "size": [width, height], "runs": t.count(),
            "min_ms": t.min(), "median_ms": t.median(), "mpix_per_s": speed(width * height, t.median()),
            "peak_mb": c.peak_bytes as f64 / 1e6,
        })
    };
    Ok(candidates.iter().zip(&times).map(row).collect())
}

/// GPUs have a bench of their own.
fn cpu_schedules(app: &'static App) -> impl Iterator<Item = &'static NamedSchedule> {
    app.schedules.iter().filter(|s| !s.is_for_gpu())
}

/// A schedule that is fast and wrong is no candidate.
fn same_results(app: &App, candidates: &[Candidate]) -> Result<(), String> {
    let Some((first, others)) = candidates.split_first() else {
        return Err(format!("{} has no such schedule", app.name));
    };
    for other in others {
        for (a, b) in first.outputs.iter().zip(&other.outputs) {
            let mut difference = Difference::default();
            difference.add(a, b);
            if !difference.is_allowed(first.loose || other.loose) {
                let by = difference.largest;
                return Err(format!("{}: `{}` and `{}` differ by {by}", app.name, first.schedule, other.schedule));
            }
        }
    }
    Ok(())
}

fn table(candidates: &[Candidate], times: &[Times], pixels: i64) -> Table {
    let mut table = Table::new(&["schedule", "threads", "min ms", "median", "Mpix/s", "peak MB"]);
    for (c, t) in candidates.iter().zip(times) {
        table.row(vec![
            c.schedule.to_string(),
            c.threads.to_string(),
            format!("{:.3}", t.min()),
            format!("{:.3}", t.median()),
            format!("{:.1}", speed(pixels, t.median())),
            format!("{:.1}", c.peak_bytes as f64 / 1e6),
        ]);
    }
    table
}

/// Megapixels per second.
fn speed(pixels: i64, ms: f64) -> f64 {
    pixels as f64 / 1e3 / ms
}

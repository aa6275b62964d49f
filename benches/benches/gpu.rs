//! Kernels: every app under every schedule for GPUs, what starting a kernel costs the host, and memory
//! over many runs: `cargo bench -p halide-benches --bench gpu -- --help`.

use clap::Parser;
use halide::gpu::{Choice, Gpu, GpuStats};
use halide::prelude::*;
use halide_apps::app::{APPS, App};
use halide_apps::job::{Job, Source};
use halide_benches::output::{Table, machine, write_json};
use halide_benches::rounds::{Budget, Times, interleaved};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Times apps on a GPU; repetitions of all schedules take turns.
#[derive(Debug, Parser)]
struct Options {
    /// The device, as for `halide run --device`
    #[arg(long)]
    device: Option<String>,
    /// Size of the output
    #[arg(long, value_name = "WxH", default_value = "1536x1024")]
    size: String,
    /// For how long rounds of one app begin; there are at least 3 rounds
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// The number of runs over which memory is watched
    #[arg(long, default_value_t = 1000)]
    runs: u32,
    /// Also write JSON to this file; `-` is stdout, which then has nothing else
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

struct Candidate {
    schedule: &'static str,
    compiled: Compiled,
    compile_ms: f64,
    outputs: Vec<AnyBuffer>,
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    let choice = options.device.as_deref().map_or_else(Choice::from_env, Choice::parse);
    let gpu = match Gpu::open(&choice) {
        Ok(gpu) => gpu,
        // `cargo bench` runs all benches; only who asks for a device must get one.
        Err(error) if options.device.is_none() => {
            eprintln!("SKIPPED: there is no GPU: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    let say = |text: String| {
        if options.json.as_deref().is_none_or(|p| p.as_os_str() != "-") {
            println!("{text}");
        }
    };
    say(format!("{}\n", gpu.describe()));
    let mut rows = Vec::new();
    for app in APPS.iter().filter(|app| app.schedules.iter().any(|s| s.is_for_gpu())) {
        let (table, row) = bench(app, &gpu, &options)?;
        say(format!("{} {}\n{}", app.name, options.size, table.text()));
        rows.extend(row);
    }
    let launch = launches(&gpu).map_err(|e| e.to_string())?;
    say(format!("starting one kernel of many takes the host {launch:.1} microseconds, with its share of a run\n"));
    let growth = growth(&gpu, options.runs).map_err(|e| e.to_string())?;
    say(format!("{} runs made the process {growth} KiB larger", options.runs));
    if let Some(path) = &options.json {
        let (device, runs) = (gpu.describe().to_string(), options.runs);
        let value = json!({
            "machine": machine(), "device": device, "apps": rows, "launch_us": launch, "runs": runs, "growth_kib": growth,
        });
        write_json(path, &value)?;
    }
    Ok(())
}

fn bench(app: &'static App, gpu: &Gpu, options: &Options) -> Result<(Table, Vec<Value>), String> {
    let numbers = options.size.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let (width, height): (i64, i64) = numbers.filter(|&(w, h)| w >= 1 && h >= 1).ok_or("--size: WxH")?;
    let fail = |e: Error| e.to_string();
    let job = Job::new(app, Source::Random { seed: 1, width, height }, &[]).map_err(|e| e.to_string())?;
    let mut candidates = Vec::new();
    for named in app.schedules.iter().filter(|s| s.is_for_gpu()) {
        let schedule = named.parse().map_err(|e| e.to_string())?;
        let started = Instant::now();
        let compiled = Compiler::new(&job.pipeline).gpu(gpu).schedule(&schedule).compile().map_err(fail)?;
        let compile_ms = milliseconds(started.elapsed());
        candidates.push(Candidate {
            schedule: named.name,
            compiled,
            compile_ms,
            outputs: job.outputs().map_err(fail)?,
        });
    }
    let budget = Budget { least: 3, most: 200, time: Duration::from_secs_f64(options.seconds.clamp(0.0, 1e6)) };
    let times = interleaved(&mut candidates, budget, |c| job.run(&c.compiled, None, &mut c.outputs).map(drop));
    let times = times.map_err(fail)?;
    let reference = Compiler::new(&job.pipeline).engine(Engine::Interp).compile().map_err(fail)?;
    let mut table = Table::new(&[
        "schedule",
        "min ms",
        "median",
        "kernels",
        "on device",
        "up MB",
        "down MB",
        "copies ms",
        "of total",
        "compile ms",
        "pipelines ms",
    ]);
    let mut rows = Vec::new();
    for (c, t) in candidates.iter_mut().zip(&times) {
        let differs = job.check(&reference, &c.outputs).map_err(fail)?.largest;
        if differs > 0.0 {
            return Err(format!("{}: `{}` differs from the interpreter by {differs}", app.name, c.schedule));
        }
        // Inputs that the device has not seen yet, so that their copies count.
        let fresh = Job::new(app, Source::Random { seed: 2, width, height }, &[]).map_err(|e| e.to_string())?;
        let stats = fresh.profile(&c.compiled, &mut c.outputs).map_err(fail)?;
        let stats: Vec<GpuStats> = stats.into_iter().map(|(stats, _)| stats).collect();
        let row = Row::of(c, t, &stats);
        table.row(row.cells());
        rows.push(row.json(app.name, (width, height)));
    }
    Ok((table, rows))
}

struct Row {
    schedule: &'static str,
    min: f64,
    median: f64,
    kernels: usize,
    on_device: Option<f64>,
    up: f64,
    down: f64,
    copies: f64,
    compile: f64,
    pipelines: f64,
}

impl Row {
    fn of(c: &Candidate, t: &Times, stats: &[GpuStats]) -> Row {
        let sum = |of: &dyn Fn(&GpuStats) -> f64| stats.iter().map(of).sum::<f64>();
        let device = sum(&|s| s.kernels.iter().map(|(_, time)| milliseconds(*time)).sum());
        let waited = sum(&|s| milliseconds(s.upload_time + s.download_time));
        Row {
            schedule: c.schedule,
            min: t.min(),
            median: t.median(),
            kernels: stats.iter().map(|s| s.kernels.len()).sum(),
            on_device: (device > 0.0).then_some(device),
            up: sum(&|s| s.upload_bytes as f64 / 1e6),
            down: sum(&|s| s.download_bytes as f64 / 1e6),
            // What is waited for besides the kernels.
            copies: (waited - device).max(0.0),
            compile: c.compile_ms,
            pipelines: stats.first().map_or(0.0, |s| milliseconds(s.pipeline_creation)),
        }
    }
    fn cells(&self) -> Vec<String> {
        let ms = |v: f64| format!("{v:.2}");
        vec![
            self.schedule.to_string(),
            ms(self.min),
            ms(self.median),
            self.kernels.to_string(),
            self.on_device.map_or("?".into(), ms),
            ms(self.up),
            ms(self.down),
            ms(self.copies),
            format!("{:.0}%", 100.0 * self.copies / (self.copies + self.on_device.unwrap_or(0.0)).max(1e-9)),
            ms(self.compile),
            ms(self.pipelines),
        ]
    }
    fn json(&self, app: &str, (width, height): (i64, i64)) -> Value {
        json!({
            "app": app, "schedule": self.schedule, "size": [width, height], "min_ms": self.min, "median_ms": self.median,
            "kernels": self.kernels, "device_ms": self.on_device, "upload_mb": self.up, "download_mb": self.down,
            "copies_ms": self.copies, "compile_ms": self.compile, "pipelines_ms": self.pipelines,
        })
    }
}

/// Time of the host per kernel in microseconds: the difference between runs of many and of few kernels that do next to
/// nothing.
fn launches(gpu: &Gpu) -> Result<f64, Error> {
    let time = |stages: usize| -> Result<f64, Error> {
        let (pipeline, schedule) = chain(stages);
        let compiled = Compiler::new(&pipeline).gpu(gpu).schedule(&schedule).compile()?;
        let input = Buffer::<i32>::new([256])?;
        let mut best = f64::MAX;
        for _ in 0..50 {
            let started = Instant::now();
            let _: Buffer<i32> = compiled.inputs().image_named("input", &input).realize([8])?;
            best = best.min(started.elapsed().as_secs_f64());
        }
        Ok(best)
    };
    let (few, many) = (10, 110);
    Ok((time(many)? - time(few)?) / (many - few) as f64 * 1e6)
}

/// A chain of stages, each a kernel of one block.
fn chain(stages: usize) -> (Pipeline, Schedule) {
    let input = ImageParam::new("input", I32, 1);
    let x = vars!(x);
    let mut last = Func::new("s0");
    last[x] = input[x] + 1;
    for i in 1..stages {
        let mut next = Func::new(format!("s{i}"));
        next[x] = last[x] * 3 + i as i32;
        last = next;
    }
    let tile = "gpu_tile(x, xo, xi, 8)";
    let text: String = (0..stages - 1).map(|i| format!("s{i}: compute_root() {tile}\n")).collect();
    let schedule = format!("{text}s{}: {tile}", stages - 1).parse();
    (Pipeline::new([&last]).expect("a chain"), schedule.expect("a schedule"))
}

/// By how many KiB this process grew over `runs` runs, after some to warm up. 0 where the system does not say.
fn growth(gpu: &Gpu, runs: u32) -> Result<i64, Error> {
    let (pipeline, schedule) = chain(3);
    let compiled = Compiler::new(&pipeline).gpu(gpu).schedule(&schedule).compile()?;
    let run = |n: u32| -> Result<(), Error> {
        for seed in 0..n {
            let input = Buffer::<i32>::from_fn(&Region::of_extents([4096]), |at| at[0] + seed as i32)?;
            let _: Buffer<i32> = compiled.inputs().image_named("input", &input).realize([4096])?;
        }
        Ok(())
    };
    run(runs / 5 + 1)?;
    let before = resident_kib();
    run(runs)?;
    Ok(resident_kib() - before)
}

fn resident_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

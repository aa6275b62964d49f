//! Chosen schedules beside those of experts, and beside the one that takes no thought:
//! `cargo bench -p halide-benches --bench auto -- --help`.

use clap::Parser;
use halide::machine_file;
use halide::prelude::*;
use halide::schedule::FloatMode;
use halide_apps::app::{APPS, App};
use halide_apps::job::{Difference, Job, Source};
use halide_benches::accuracy::{Point, accuracy};
use halide_benches::at_root;
use halide_benches::output::{Table, machine, write_json};
use halide_benches::rounds::{Budget, Times, interleaved, milliseconds};
use halide_benches::untuned::UNTUNED;
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Times chosen schedules of apps beside their best schedules, on random values; repetitions take turns.
#[derive(Debug, Parser)]
struct Options {
    /// Pipelines that nobody tuned, in place of the apps
    #[arg(long)]
    untuned: bool,
    /// Only these pipelines
    #[arg(long, value_delimiter = ',')]
    app: Vec<String>,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// For how long rounds of one pipeline begin; there are at least 3 rounds
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Also time the schedules in these files; with one pipeline
    #[arg(long, value_name = "FILE", value_delimiter = ',', requires = "app")]
    also: Vec<PathBuf>,
    /// Print what the compiler did with each schedule
    #[arg(long)]
    explain: bool,
    /// Print the machine code of each schedule
    #[arg(long)]
    asm: bool,
    /// Also predict the time of every schedule, and tell how accurate that is
    #[arg(long)]
    prices: bool,
    /// The machine for which times are predicted, a file that `halide machine -o` wrote; a typical one by default
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Print the schedules that are chosen
    #[arg(long)]
    show: bool,
    /// Also write JSON to this file; `-` is stdout, after the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

struct Candidate {
    role: Role,
    schedule: Schedule,
    loose: bool,
    compiled: Compiled,
    outputs: Vec<AnyBuffer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    AtRoot,
    Expert(String),
    Also(String),
    Auto,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::AtRoot => "at root",
            Role::Auto => "auto",
            Role::Expert(name) | Role::Also(name) => name,
        })
    }
}

/// The times of one pipeline on some threads.
struct Row {
    name: String,
    threads: usize,
    search: Duration,
    predicted_ms: f64,
    auto: Times,
    expert: Option<(String, Times)>,
    at_root: Times,
    /// Every schedule, if times are to be predicted.
    points: Vec<Point>,
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    let wanted = |name: &str| options.app.is_empty() || options.app.iter().any(|app| app == name);
    let mut rows = Vec::new();
    let all = if options.untuned { UNTUNED } else { APPS };
    if let Some(name) = options.app.iter().find(|name| all.iter().all(|app| app.name != name.as_str())) {
        let names: Vec<&str> = all.iter().map(|app| app.name).collect();
        return Err(format!("there is no pipeline `{name}`; choose from {}", names.join(", ")));
    }
    for app in all.iter().filter(|app| wanted(app.name)) {
        let (width, height) = app.size;
        let job = Job::new(app, Source::Random { seed: 1, width, height }, &[]).map_err(|e| e.to_string())?;
        rows.extend(bench(app.name, experts(app), &job, &options)?);
    }
    for threads in &options.threads {
        let some: Vec<&Row> = rows.iter().filter(|row| row.threads == *threads).collect();
        println!("{threads} threads, times in ms: least and median");
        println!("{}", table(&some).text());
        if options.prices {
            let points: Vec<Point> = some.iter().flat_map(|row| row.points.iter().cloned()).collect();
            println!("{}", prices(&points));
        }
    }
    match &options.json {
        Some(path) => {
            write_json(path, &json!({ "machine": machine(), "runs": rows.iter().map(json).collect::<Vec<_>>() }))
        }
        None => Ok(()),
    }
}

/// The schedules of people, for this machine.
fn experts(app: &App) -> Vec<(Role, String)> {
    let hosts = app.schedules.iter().filter(|s| !s.is_for_gpu());
    hosts.map(|s| (Role::Expert(s.name.to_string()), s.text.to_string())).collect()
}

/// The schedules in files.
fn also(options: &Options) -> Result<Vec<(Role, String)>, String> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok((Role::Also(path.display().to_string()), text))
    };
    options.also.iter().map(read).collect()
}

fn bench(name: &str, others: Vec<(Role, String)>, job: &Job, options: &Options) -> Result<Vec<Row>, String> {
    let fail = |e: Error| format!("{name}: {e}");
    let others = others.into_iter().chain(also(options)?).map(|(role, text)| Ok((role, text.parse::<Schedule>()?)));
    let others = others.collect::<Result<Vec<_>, _>>().map_err(|e: halide::schedule::ParseErrors| e.to_string())?;
    // A chosen schedule may do to floats what others do.
    let contracts = others.iter().any(|(_, schedule)| schedule.reassociates());
    let floats = if contracts { FloatMode::Contract } else { FloatMode::Strict };
    let read = |path: &PathBuf| {
        let text = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        machine_file::read(&text).map_err(|e| format!("{}: {e}", path.display()))
    };
    let machine = options.machine.as_ref().map(read).transpose()?;
    let mut rows = Vec::new();
    for &threads in &options.threads {
        let target = Target { threads: u32::try_from(threads).unwrap_or(u32::MAX), ..Target::host() };
        let choice = AutoOptions::default().floats(floats);
        let choice = machine.iter().fold(choice, |choice, machine| choice.machine(machine));
        let started = Instant::now();
        let auto = job.pipeline.auto_schedule_with(&target, &job.estimates(), &choice);
        let (auto, search) = (auto.map_err(fail)?, started.elapsed());
        let (auto, predicted_ms) = (auto.schedule, auto.predicted_ns / 1e6);
        if options.show {
            println!("{name}, {threads} threads:\n{auto}");
        }
        let at_root = at_root::schedule(&job.pipeline, &target);
        let all = others.iter().map(|(role, schedule)| (role.clone(), schedule));
        let all = [(Role::AtRoot, &at_root), (Role::Auto, &auto)].into_iter().chain(all);
        let mut candidates = Vec::new();
        for (role, schedule) in all {
            let loose = schedule.reassociates();
            let compiled = job.pipeline.compile(schedule, &target).map_err(fail)?;
            if options.explain {
                println!("{name}, {role:?}:\n{}\n{}", compiled.ir().map_err(fail)?, compiled.explain().map_err(fail)?);
            }
            if options.asm {
                println!("{name}, {role:?}:\n{}", compiled.asm().map_err(fail)?);
            }
            let (schedule, outputs) = (schedule.clone(), job.outputs().map_err(fail)?);
            candidates.push(Candidate { role, schedule, loose, compiled, outputs });
        }
        let budget = Budget { least: 3, most: 200, time: Duration::from_secs_f64(options.seconds.clamp(0.0, 1e6)) };
        let times =
            interleaved(&mut candidates, budget, |c| job.run(&c.compiled, Some(threads), &mut c.outputs).map(drop));
        let times = times.map_err(fail)?;
        for c in candidates.iter().filter(|c| c.compiled.variants().len() > 1) {
            let explained = c.compiled.explain().map_err(fail)?.to_string();
            let variants = explained.split_once("\nvariants").map_or("", |(_, variants)| variants);
            eprintln!("{name}, {:?}: the main variant does not serve these sizes{variants}", c.role);
        }
        same_results(name, &candidates)?;
        let mut points = Vec::new();
        for (c, times) in candidates.iter().zip(&times).filter(|_| options.prices) {
            let priced = job.price(&choice.machine_for(&target), &c.schedule, &target).map_err(fail)?;
            points.push(Point {
                pipeline: name.to_string(),
                schedule: c.role.to_string(),
                predicted_ms: priced.predicted_ns / 1e6,
                measured_ms: times.min(),
            });
        }
        let roles = || candidates.iter().map(|c| c.role.clone()).zip(&times);
        let of = |role: Role| roles().find(|(r, _)| *r == role).map(|(_, t)| t.clone()).unwrap_or_default();
        let expert = roles().filter_map(|(role, t)| match role {
            Role::Expert(name) => Some((name, t.clone())),
            _ => None,
        });
        let expert = expert.min_by(|a, b| a.1.min().total_cmp(&b.1.min()));
        for (role, times) in roles().filter(|(role, _)| matches!(role, Role::Also(_))) {
            eprintln!("{role:?}: {:.3} {:.3}", times.min(), times.median());
        }
        let (auto, at_root) = (of(Role::Auto), of(Role::AtRoot));
        let row = Row { name: name.to_string(), threads, search, predicted_ms, auto, expert, at_root, points };
        eprintln!("{}", table(&[&row]).text().lines().nth(1).unwrap_or_default());
        rows.push(row);
    }
    Ok(rows)
}

/// Every schedule with its predicted and its measured time, and how accurate predictions are.
fn prices(points: &[Point]) -> String {
    let mut table = Table::new(&["pipeline", "schedule", "predicted", "measured", "predicted/measured"]);
    for p in points {
        let ratio = format!("{:.2}", p.predicted_ms / p.measured_ms);
        let [predicted, measured] = [p.predicted_ms, p.measured_ms].map(|ms| format!("{ms:.3}"));
        table.row(vec![p.pipeline.clone(), p.schedule.clone(), predicted, measured, ratio]);
    }
    let Some(all) = accuracy(points) else { return table.text() };
    let (pairs, right) = all.pairs;
    format!(
        "{}\npredicted/measured: {:.2}; with each pipeline left out, predictions are wrong by a factor of {:.2} \
         (median) and {:.2} (worst); {right} of {pairs} pairs are in the right order\n",
        table.text(),
        all.mean,
        all.median_error,
        all.worst_error
    )
}

/// A schedule that is fast and wrong is no candidate.
fn same_results(name: &str, candidates: &[Candidate]) -> Result<(), String> {
    let Some((first, others)) = candidates.split_first() else { return Ok(()) };
    for other in others {
        for (a, b) in first.outputs.iter().zip(&other.outputs) {
            let mut difference = Difference::default();
            difference.add(a, b);
            if !difference.is_allowed(first.loose || other.loose) {
                return Err(format!("{name}: {:?} and {:?} differ by {}", first.role, other.role, difference.largest));
            }
        }
    }
    Ok(())
}

impl Row {
    /// The time of the chosen schedule over that of the best one of a person.
    fn over_expert(&self) -> Option<f64> {
        self.expert.as_ref().map(|expert| self.auto.min() / expert.1.min())
    }
    /// The time of the schedule that takes no thought over that of the chosen one.
    fn gain(&self) -> f64 {
        self.at_root.min() / self.auto.min()
    }
}

fn table(rows: &[&Row]) -> Table {
    let columns = [
        "pipeline",
        "search",
        "predicted",
        "auto",
        "median",
        "expert",
        "median",
        "auto/expert",
        "at root",
        "root/auto",
    ];
    let mut table = Table::new(&columns);
    let ms = |ms: f64| format!("{ms:.3}");
    for row in rows {
        let expert = row.expert.as_ref().map_or([String::new(), String::new()], |e| [ms(e.1.min()), ms(e.1.median())]);
        let [least, median] = expert;
        table.row(vec![
            row.name.clone(),
            format!("{:.0}", milliseconds(row.search)),
            ms(row.predicted_ms),
            ms(row.auto.min()),
            ms(row.auto.median()),
            least,
            median,
            row.over_expert().map_or(String::new(), |ratio| format!("{ratio:.3}")),
            ms(row.at_root.min()),
            format!("{:.2}", row.gain()),
        ]);
    }
    if rows.len() > 1 {
        let over: Vec<f64> = rows.iter().filter_map(|row| row.over_expert()).collect();
        let gains: Vec<f64> = rows.iter().map(|row| row.gain()).collect();
        let mut last = vec![String::new(); columns.len()];
        last[0] = "geometric mean".to_string();
        last[7] = if over.is_empty() { String::new() } else { format!("{:.3}", mean(&over)) };
        last[9] = format!("{:.2}", mean(&gains));
        table.row(last);
    }
    table
}

/// The geometric mean.
fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn json(row: &Row) -> Value {
    let times = |times: &Times| json!({ "min_ms": times.min(), "median_ms": times.median(), "runs": times.count() });
    json!({
        "pipeline": row.name, "threads": row.threads, "search_ms": milliseconds(row.search),
        "predicted_ms": row.predicted_ms,
        "auto": times(&row.auto), "at_root": times(&row.at_root),
        "expert": row.expert.as_ref().map(|(name, t)| json!({ "schedule": name, "times": times(t) })),
    })
}

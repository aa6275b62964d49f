//! From Pipeline + Schedule to something callable, and where that time goes:
//! `cargo bench -p halide-benches --bench compile -- --help`.

use clap::Parser;
use halide::prelude::*;
use halide_apps::app::{APPS, Edges};
use halide_apps::filters::local_laplacian;
use halide_benches::output::{Table, machine, write_json};
use halide_benches::rounds::{Budget, Times, interleaved, milliseconds};
use halide_benches::{chain, graphs};
use halide_cpu::CpuOptions;
use halide_sched::lower::{Clock, LowerOptions, lower};
use halide_sched::plan::resolve;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Times compiling: every app under every schedule, long chains of stencils, deep pyramids, wide and tangled graphs;
/// and how time grows with the number of stages.
#[derive(Debug, Parser)]
struct Options {
    /// Only candidates whose name has this in it
    #[arg(long)]
    only: Option<String>,
    /// Stages of the chains of stencils
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(8..))]
    chain: u32,
    /// Stages of the deepest chain, all of which are computed at the root; 0 leaves it out
    #[arg(long, default_value_t = 5000)]
    deep: u32,
    /// Stages of the chain of which all but the last are inlined: its last definition grows with their square
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(2..))]
    inlined: u32,
    /// Levels of the deep local Laplacian pyramid
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..20))]
    levels: u32,
    /// Stages of the wide graph and, 25 for 8 of them, of the tangled one; half and a quarter too, to see growth
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(8..))]
    graph: u32,
    /// For how long rounds of each group begin; there are at least 3 rounds of the apps, and one of what is large
    #[arg(long, default_value_t = 12.0)]
    seconds: f64,
    /// Show the time of every pass
    #[arg(long)]
    passes: bool,
    /// Also write JSON, always with every pass, to this file; `-` is stdout, which then has nothing else
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

struct Candidate {
    name: String,
    pipeline: Pipeline,
    schedule: Schedule,
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    let mut rows = Vec::new();
    for (title, candidates, least) in [("apps", apps()?, 3), ("large", large(&options)?, 1)] {
        let wanted = |c: &Candidate| options.only.as_ref().is_none_or(|part| c.name.contains(part));
        let candidates: Vec<Candidate> = candidates.into_iter().filter(wanted).collect();
        rows.extend(bench(title, candidates, least, &options)?);
    }
    if let Some(path) = &options.json {
        write_json(path, &json!({ "machine": machine(), "compiles": rows }))?;
    }
    Ok(())
}

fn apps() -> Result<Vec<Candidate>, String> {
    let mut all = Vec::new();
    for app in APPS {
        let pipeline = app.default_pipeline(Edges::Inside).map_err(|e| e.to_string())?;
        for named in app.schedules.iter().filter(|s| !s.is_for_gpu()) {
            let schedule = named.parse().map_err(|e| e.to_string())?;
            all.push(Candidate { name: format!("{} {}", app.name, named.name), pipeline: pipeline.clone(), schedule });
        }
    }
    Ok(all)
}

fn large(options: &Options) -> Result<Vec<Candidate>, String> {
    let chain = |n: u32, what: &str, directives: &str| {
        let pipeline = chain::stencils(n as usize).map_err(|e| e.to_string())?;
        let schedule = chain::schedule(n as usize, directives).map_err(|e| e.to_string())?;
        Ok::<_, String>(Candidate { name: format!("chain of {n}, {what}"), pipeline, schedule })
    };
    let levels = options.levels as usize;
    let pyramid = |what: &str, schedule: Schedule| {
        let pipeline = local_laplacian::pipeline(levels).map_err(|e| e.to_string())?;
        Ok::<_, String>(Candidate { name: format!("local_laplacian of {levels} levels, {what}"), pipeline, schedule })
    };
    let mut graphs = Vec::new();
    for part in [4, 2, 1] {
        let n = (options.graph / part) as usize;
        for (what, pipeline) in [("fan", graphs::fan(n)), ("tangle", graphs::tangle(25 * n / 8))] {
            let pipeline = pipeline.map_err(|e| e.to_string())?;
            for (how, directives) in [("root", "compute_root() vectorize(x, natural)"), ("rows", "compute_at(last, y)")]
            {
                let schedule = graphs::schedule(&pipeline, directives).map_err(|e| e.to_string())?;
                let name = format!("{what} of {}, {how}", pipeline.funcs.len());
                graphs.push(Candidate { name, pipeline: pipeline.clone(), schedule });
            }
        }
        graphs.push(chain(options.chain / part, "root", "compute_root() vectorize(x, natural)")?);
        graphs.push(chain(options.chain / part, "sliding", "store_root() compute_at(LAST, y) vectorize(x, natural)")?);
    }
    if options.deep > 1 {
        graphs.push(chain(options.deep, "root", "compute_root() vectorize(x, natural)")?);
    }
    let more = vec![
        chain(options.inlined, "inlined", "compute_inline()")?,
        pyramid("root", pyramid_schedule(levels, false)?)?,
        pyramid("sliding output", pyramid_schedule(levels, true)?)?,
    ];
    graphs.extend(more);
    Ok(graphs)
}

/// Levels of the pyramids at the root; with `slide`, those of the output inside of its strips.
fn pyramid_schedule(levels: usize, slide: bool) -> Result<Schedule, String> {
    let mut text = "remap: compute_root()\n gray: compute_root() parallel(y, 32) vectorize(x, natural)\n".to_string();
    for j in 0..levels {
        if j > 0 {
            text += &format!("gray{j}: compute_root() parallel(y, 4) vectorize(x, 4)\n");
            text += &format!("g{j}: compute_root() reorder(x, k, y) parallel(y, 4) vectorize(x, 4)\n");
        }
        text += &match slide && j < levels / 2 {
            true => format!("out{j}: store_at(output, yo) compute_at(output, yi) vectorize(x, 4)\n"),
            false => format!("out{j}: compute_root() parallel(y, 8) vectorize(x, 4)\n"),
        };
    }
    text += "output: reorder(c, x, y) split(y, yo, yi, 64) parallel(yo) vectorize(x, natural)\n";
    text.parse().map_err(|e: halide::schedule::ParseErrors| e.to_string())
}

fn bench(title: &str, mut candidates: Vec<Candidate>, least: usize, options: &Options) -> Result<Vec<Value>, String> {
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let budget = Budget { least, most: 100, time: Duration::from_secs_f64(options.seconds.clamp(0.0, 1e6)) };
    let times = interleaved(&mut candidates, budget, |c| {
        c.pipeline.compile(&c.schedule, &Target::host()).map(drop).map_err(|e| format!("{}: {e}", c.name))
    })?;
    let parts = candidates.iter().map(parts).collect::<Result<Vec<_>, _>>()?;
    if options.json.as_deref().is_none_or(|p| p.as_os_str() != "-") {
        println!("compiling, {title}: {} rounds; parts are of one compilation more\n", times[0].count());
        println!("{}", table(&candidates, &times, &parts).text());
        println!("{}", growth(&candidates, &times).text());
        if options.passes {
            candidates.iter().zip(&parts).for_each(|(c, parts)| println!("{}\n{}", c.name, parts.text()));
        }
    }
    let row = |((c, t), parts): ((&Candidate, &Times), &Parts)| {
        json!({
            "name": c.name, "stages": c.pipeline.funcs.len(), "runs": t.count(), "min_ms": t.min(),
            "median_ms": t.median(), "parts_ms": parts.json(),
        })
    };
    Ok(candidates.iter().zip(&times).zip(&parts).map(row).collect())
}

/// The parts of the time of one compilation, in ms.
struct Parts {
    resolve: f64,
    passes: Vec<(&'static str, f64)>,
    code: f64,
}

impl Parts {
    fn lower(&self) -> f64 {
        self.passes.iter().map(|(_, ms)| ms).sum()
    }
    fn text(&self) -> String {
        let mut table = Table::new(&["  pass", "ms"]);
        let mut row = |name: &str, ms: f64| table.row(vec![format!("  {name}"), format!("{ms:.2}")]);
        row("(resolve)", self.resolve);
        self.passes.iter().for_each(|(name, ms)| row(name, *ms));
        row("(machine code)", self.code);
        table.text()
    }
    /// A pass that runs several times has the sum of its times.
    fn json(&self) -> Value {
        let mut passes = Map::new();
        for (name, ms) in &self.passes {
            let before = passes.get(*name).and_then(Value::as_f64).unwrap_or(0.0);
            passes.insert(name.to_string(), json!(before + ms));
        }
        json!({ "resolve": self.resolve, "lower": self.lower(), "code": self.code, "passes": passes })
    }
}

fn parts(c: &Candidate) -> Result<Parts, String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", c.name);
    // Lowering takes differences only, so the wall clock will do.
    let clock = Clock(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    let start = Instant::now();
    let plan = resolve(&c.pipeline, &c.schedule, &Target::host()).map_err(|e| failed(&e[0]))?;
    let resolve = milliseconds(start.elapsed());
    let options = LowerOptions { clock: Some(clock), ..LowerOptions::default() };
    let lowered = lower(&plan, &options).map_err(|e| failed(&e[0]))?;
    let time = |pass: &halide_sched::lower::PassTrace| (pass.name, pass.time.map_or(0.0, milliseconds));
    let passes = lowered.trace.passes.iter().map(time).collect();
    let start = Instant::now();
    halide_cpu::compile(&lowered.program, &CpuOptions::default()).map_err(|e| failed(&e))?;
    Ok(Parts { resolve, passes, code: milliseconds(start.elapsed()) })
}

/// The stages of a graph and how they are scheduled.
fn kind(c: &Candidate) -> Option<(&str, &str)> {
    let (what, rest) = c.name.split_once(" of ")?;
    Some((what, rest.split_once(", ")?.1))
}

/// Between graphs that differ in size only: the exponent with which time grows, 1 where it is as the number of stages.
fn growth(candidates: &[Candidate], times: &[Times]) -> Table {
    let mut table = Table::new(&["growth of the median", "from funcs", "to", "exponent"]);
    let sized = |(c, t): (&'_ Candidate, &Times)| {
        Some((kind(c)?.0.to_string(), kind(c)?.1.to_string(), c.pipeline.funcs.len(), t.median()))
    };
    let sized: Vec<_> = candidates.iter().zip(times).filter_map(sized).collect();
    for (i, (what, how, n, ms)) in sized.iter().enumerate() {
        let smaller = sized[..i].iter().rev().find(|(w, h, m, _)| w == what && h == how && m < n);
        let Some((_, _, less, before)) = smaller else { continue };
        let exponent = (ms / before).ln() / (*n as f64 / *less as f64).ln();
        table.row(vec![format!("{what}, {how}"), less.to_string(), n.to_string(), format!("{exponent:.2}")]);
    }
    table
}

fn table(candidates: &[Candidate], times: &[Times], parts: &[Parts]) -> Table {
    let mut table = Table::new(&["", "funcs", "min ms", "median", "resolve", "lower", "code", "slowest pass"]);
    for ((c, t), p) in candidates.iter().zip(times).zip(parts) {
        let slowest = p.passes.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        table.row(vec![
            c.name.clone(),
            c.pipeline.funcs.len().to_string(),
            format!("{:.2}", t.min()),
            format!("{:.2}", t.median()),
            format!("{:.2}", p.resolve),
            format!("{:.2}", p.lower()),
            format!("{:.2}", p.code),
            slowest.map_or(String::new(), |(name, ms)| format!("{name} {ms:.2}")),
        ]);
    }
    table
}

//! `halide compare`: every schedule of an app, timed and checked.

use super::args::{Backend, CompareArgs};
use super::common::{self, Bench, Runner, gflop_per_s, mpix_per_s, speed};
use super::failure::Failure;
use super::runners::Runners;
use super::terminal::{note, progress, say, say_heading};
use super::tool::Tool;
use crate::job::Difference;
use halide::prelude::*;
use serde_json::{Value, json};

/// The results of one schedule.
struct Row {
    name: &'static str,
    backend: &'static str,
    device: String,
    compile_ms: f64,
    timing: common::Timing,
    checked: Difference,
    /// True if it differs from the interpreter by no more than it may.
    right: bool,
}

/// Times every schedule on one input, checks it against the interpreter, and prints a table, fastest first.
pub(crate) fn compare(tool: &Tool, args: &CompareArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    if args.file.is_some() && args.common.is_synthetic() {
        super::args::usage_error("with --random or --size there is no image to read");
    }
    let job = common::job(tool, app, &args.common, args.file.as_deref(), None)?;
    let threads = args.common.threads.map(usize::from);
    let mut outputs = job.outputs()?;
    let progress = progress(u64::from(args.bench) * app.schedules.len() as u64, app.name);
    let (reference, _) = Runner::new(Backend::Interp, None)?.compile(&job, &Schedule::new(), &args.common)?;
    let runners = Runners::new(app.schedules.iter().any(|s| s.is_for_gpu()), args.device.as_deref())?;
    let mut skipped = Vec::new();

    let mut rows = Vec::new();
    for named in app.schedules {
        let schedule = common::find_schedule(app, named.name, &[])?;
        let (backend, runner) = match runners.of_schedule(named.is_for_gpu()) {
            Ok(runner) => runner,
            Err(why) => {
                skipped.push(format!("{} skipped: {why}", named.name));
                continue;
            }
        };
        progress.set_message(format!("{} {}", app.name, named.name));
        progress.tick();
        let (compiled, compile_ms) = runner.compile(&job, &schedule, &args.common)?;
        let bench = Bench { job: &job, compiled: &compiled, threads, cancel: None };
        let timing = bench.time(args.bench, &mut outputs, &progress)?;
        let compile_ms = compile_ms + timing.variants_ms;
        let checked = job.check(&reference, &outputs)?;
        let right = checked.is_allowed(schedule.reassociates());
        rows.push(Row { name: named.name, backend, device: runner.device(), compile_ms, timing, checked, right });
    }
    progress.finish_and_clear();
    rows.sort_by(|a, b| a.timing.median().total_cmp(&b.timing.median()));

    let (width, height) = job.size;
    if args.json {
        let row = |Row { name, backend, device, compile_ms, timing, checked, .. }: &Row| {
            json!({
                "app": app.name, "schedule": name, "backend": backend, "device": device,
                "threads": common::threads(&args.common), "size": [width, height], "compile_ms": compile_ms,
                "runs": args.bench, "min_ms": timing.min(), "median_ms": timing.median(),
                "mpix_per_s": mpix_per_s(job.size, timing.median()),
                "gflop_per_s": gflop_per_s(&job, timing.median()), "checked": common::largest(*checked),
                "peak_mb": timing.peak_bytes as f64 / 1e6,
            })
        };
        say(Value::Array(rows.iter().map(row).collect()))?;
    } else {
        say(format!("{} {width}x{height}, {} threads", app.name, common::threads(&args.common)))?;
        let (_, unit) = speed(&job, 1.0);
        let heading = format!(
            "  {:16}{:>10}{:>10}{unit:>10}{:>12}{:>10}  result",
            "schedule", "min ms", "median", "compile ms", "peak MB"
        );
        say_heading(&heading, "")?;
        for Row { name, compile_ms, timing, checked, right, .. } in &rows {
            let (min, median) = (timing.min(), timing.median());
            let ((speed, _), peak) = (speed(&job, median), timing.peak_bytes as f64 / 1e6);
            let verdict = match (right, checked.largest) {
                (true, 0.0) => "agrees".to_string(),
                (true, largest) => format!("agrees to {largest:.1e}"),
                (false, largest) => format!("DIFFERS by {largest}"),
            };
            say(format!("  {name:16}{min:10.3}{median:10.3}{speed:10.1}{compile_ms:12.2}{peak:10.1}  {verdict}"))?;
        }
    }
    for text in skipped {
        // Not on stdout, where JSON may be.
        note(text);
    }
    match rows.iter().all(|row| row.right) {
        true => Ok(()),
        false => Err(Failure("results differ from the interpreter's".to_string())),
    }
}

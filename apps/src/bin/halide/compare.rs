//! `halide compare`: every schedule of an app, timed and checked.

use crate::args::{Backend, CompareArgs};
use crate::common::{self, Bench, mpix_per_s};
use crate::{Failure, say};
use halide::prelude::*;
use halide_apps::params;
use serde_json::{Value, json};

/// Times every schedule on one input, checks it against the interpreter, and prints a table, fastest first.
pub(crate) fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let app = common::find_app(&args.app)?;
    if args.file.is_some() && args.common.synthetic().is_some() {
        crate::usage_error("with --random or --size there is no image to read");
    }
    let job = common::job(app, &args.common, args.file.as_deref())?;
    let params = params::resolve(&job.pipeline, &args.common.params).map_err(Failure)?;
    let threads = args.common.threads.map(usize::from);
    let mut outputs = job.outputs()?;
    let progress = common::progress(u64::from(args.bench) * app.schedules.len() as u64, app.name);
    let (reference, _) = common::compile(&job, &Schedule::new(), Backend::Interp)?;

    let mut rows = Vec::new();
    for named in app.schedules {
        let schedule = common::find_schedule(app, named.name)?;
        let (compiled, compile_ms) = common::compile(&job, &schedule, Backend::Cpu)?;
        let bench = Bench { job: &job, compiled: &compiled, params: &params, threads };
        let timing = bench.time(args.bench, &mut outputs, &progress)?;
        let checked = job.check(&reference, &params, &outputs)?;
        rows.push((named.name, compile_ms, timing, checked, checked <= common::tolerance(&schedule)));
    }
    progress.finish_and_clear();
    rows.sort_by(|a, b| a.2.median().total_cmp(&b.2.median()));

    let (width, height) = job.size;
    if args.json {
        let row = |(name, compile_ms, timing, checked, _): &(&str, f64, common::Timing, u16, bool)| {
            json!({
                "app": app.name, "schedule": name, "backend": "cpu", "device": common::device(),
                "threads": common::threads(&args.common), "size": [width, height], "compile_ms": compile_ms,
                "runs": args.bench, "min_ms": timing.min(), "median_ms": timing.median(),
                "mpix_per_s": mpix_per_s(job.size, timing.median()), "checked": checked,
                "peak_mb": timing.peak_bytes as f64 / 1e6,
            })
        };
        say(Value::Array(rows.iter().map(row).collect()))?;
    } else {
        say(format!("{} {width}x{height}, {} threads", app.name, common::threads(&args.common)))?;
        say(format!(
            "  {:16}{:>10}{:>10}{:>10}{:>12}{:>10}  result",
            "schedule", "min ms", "median", "Mpix/s", "compile ms", "peak MB"
        ))?;
        for (name, compile_ms, timing, checked, right) in &rows {
            let (min, median) = (timing.min(), timing.median());
            let (speed, peak) = (mpix_per_s(job.size, median), timing.peak_bytes as f64 / 1e6);
            let verdict = if *right { "agrees".to_string() } else { format!("DIFFERS by {checked}") };
            say(format!("  {name:16}{min:10.3}{median:10.3}{speed:10.1}{compile_ms:12.2}{peak:10.1}  {verdict}"))?;
        }
    }
    match rows.iter().all(|row| row.4) {
        true => Ok(()),
        false => Err(Failure("results differ from the interpreter's".to_string())),
    }
}

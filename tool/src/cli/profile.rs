//! `halide run --profile`: what each definition and each kernel took.

use super::common::{Bench, Runner};
use super::failure::Failure;
use super::gpu;
use halide::counts::FuncCounts;
use halide::prelude::*;
use halide::profile::{Activity, ActivityTime, Profile};
use serde_json::{Value, json};
use std::time::Duration;

/// Profiles as they are printed.
pub(crate) struct Profiled {
    pub(crate) text: String,
    pub(crate) json: Value,
    /// The profile of the first output with its counts.
    pub(crate) first: Option<(Profile, Vec<FuncCounts>)>,
}

/// Runs the job some times more: sampled on the host, and with kernels that are timed.
pub(crate) fn profile(runner: &Runner, bench: &Bench<'_>, outputs: &mut [AnyBuffer]) -> Result<Profiled, Failure> {
    if matches!(runner, Runner::Engine(Engine::Interp | Engine::Eval)) {
        let text = "--profile is of machine code and kernels, so it needs --backend cpu or --backend gpu";
        return Err(Failure(text.to_string()));
    }
    let mut profiled = Profiled { text: String::new(), json: json!([]), first: None };
    let mut rows = Vec::new();
    for (profile, counts) in bench.job.sampled(bench.compiled, bench.threads, outputs)? {
        profiled.text += &match profile.samples {
            0 => "no samples: the system has no thread for the sampler\n".to_string(),
            _ => profile.text(&counts),
        };
        rows.push(in_json(&profile, &counts));
        profiled.first.get_or_insert((profile, counts));
    }
    profiled.json = Value::Array(rows);
    if matches!(runner, Runner::Gpu(_)) {
        profiled.text += &gpu::profile(bench.job, bench.compiled, outputs)?;
    }
    Ok(profiled)
}

/// A profile as data: times in milliseconds for one run.
fn in_json(profile: &Profile, counts: &[FuncCounts]) -> Value {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let row = |row: &ActivityTime| {
        let (func, update) = match &row.activity {
            Activity::Computes { func, update } => (Some(func), *update),
            _ => (None, None),
        };
        json!({
            "activity": row.activity.to_string(),
            "func": func,
            "update": update,
            "place": row.at.map(|at| at.to_string()),
            "share": profile.share(row),
            "self_ms": ms(profile.self_time(row)),
            "threads": profile.threads(row),
        })
    };
    let count = |of: &FuncCounts| {
        json!({
            "func": of.func,
            "points": of.points,
            "needed": of.needed,
            "elements": of.elements,
            "allocations": of.allocations,
            "loaded_bytes": of.loaded,
            "stored_bytes": of.stored,
            "operations": of.operations,
        })
    };
    json!({
        "runs": profile.runs,
        "run_ms": ms(profile.wall) / profile.runs.max(1) as f64,
        "samples": profile.samples,
        "rows": profile.rows.iter().map(row).collect::<Vec<Value>>(),
        "counts": counts.iter().map(count).collect::<Vec<Value>>(),
    })
}

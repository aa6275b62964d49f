//! `halide run --profile`: what each definition and each kernel took.

use super::common::{Bench, Runner};
use super::failure::Failure;
use super::gpu;
use halide::counts::FuncCounts;
use halide::prelude::*;
use halide::profile::Profile;
use halide_report::model;
use serde_json::{Value, json};

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
        profiled.text += &match (profile.runs, profile.samples) {
            (0, _) => "no samples: the system has no thread for the sampler\n".to_string(),
            (_, 0) => {
                "no samples: the runs are too short for one to fall into them; take a larger --size\n".to_string()
            }
            _ => profile.text(&counts),
        };
        rows.push(model::profile(&profile, &counts));
        profiled.first.get_or_insert((profile, counts));
    }
    profiled.json = Value::Array(rows);
    if matches!(runner, Runner::Gpu(_)) {
        profiled.text += &gpu::profile(bench.job, bench.compiled, outputs)?;
    }
    Ok(profiled)
}

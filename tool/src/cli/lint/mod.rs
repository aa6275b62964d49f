//! `halide lint`: what a schedule does that costs time, with edits; and with `--fix`, the edits that are faster.

mod fix;
mod patch;
mod shown;
mod trial;

use super::args::{Backend, LintArgs};
use super::common::{self, Runner};
use super::failure::Failure;
use super::output;
use super::terminal::{busy, say};
use super::tool::Tool;
use crate::job::Job;
use fix::Fix;
use halide::findings::Finding;
use halide::prelude::*;
use shown::Shown;
use std::time::Duration;

/// The name of the schedule that is chosen for the sizes of a run.
const AUTO: &str = "auto";

/// Samples of a profile from which on shares are told.
const SAMPLES: u64 = 1000;

/// The time after which a profile is what it is.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// Prints findings, or mends what they find.
pub(crate) fn lint(tool: &Tool, args: &LintArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    if args.file.is_some() && args.common.is_synthetic() {
        super::args::usage_error("with --random or --size there is no image to read");
    }
    let target = common::target(&args.common);
    let best = app.best(false, target.vector_bits).name;
    // An app without schedules has one that is chosen.
    let usual = if app.schedules.is_empty() { AUTO } else { best };
    let name = args.schedule.as_deref().unwrap_or(usual);
    let named = common::named_schedule(app, Some(name).filter(|name| *name != AUTO), &args.numbers.set)?;
    if named.as_ref().is_some_and(Schedule::has_kernels) {
        return Err(Failure(format!(
            "schedule `{name}` gives work to a GPU; lint looks at the CPU alone: name another one"
        )));
    }
    let place = args.out.as_deref().map(output::place).transpose()?;
    let job = common::job(tool, app, &args.common, args.file.as_deref(), named.as_ref())?;
    let runner = Runner::new(Backend::Cpu, None)?;
    let schedule = match named {
        Some(schedule) => schedule,
        None => busy("choosing a schedule", || job.auto_schedule(&target, &AutoOptions::default()))?.schedule,
    };
    let (compiled, _) = busy("compiling", || runner.compile(&job, &schedule, &args.common))?;
    let shown = Shown { job: &job, args, name };
    if args.fix {
        let fix = Fix::new(&job, args, &runner, (schedule, compiled), place)?;
        let fixed = fix.run()?;
        let found = found(&job, args, &fixed.compiled)?;
        return shown.fixed(&fixed, &found);
    }
    let found = found(&job, args, &compiled)?;
    if args.json { say(shown.json(&found)) } else { shown.say(&found) }
}

/// The findings, with parts of the time unless nothing may run.
fn found(job: &Job, args: &LintArgs, compiled: &Compiled) -> Result<Vec<Finding>, Failure> {
    let profile = if args.no_run { None } else { busy("profiling", || profile(job, args, compiled))? };
    Ok(busy("looking at the loops", || job.findings(compiled, profile.as_ref()))?)
}

fn profile(job: &Job, args: &LintArgs, compiled: &Compiled) -> Result<Option<halide::profile::Profile>, Failure> {
    let mut outputs = job.outputs()?;
    let threads = args.common.threads.map(usize::from);
    Ok(job.profiles(compiled, threads, &mut outputs, (SAMPLES, LONG_ENOUGH))?.into_iter().next())
}

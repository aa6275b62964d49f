//! The subject of a report: one schedule, compiled, timed, sampled and traced.

use super::super::args::ReportArgs;
use super::super::common::{self, Bench, Found, Runner};
use super::super::failure::Failure;
use super::super::processor::model as processor;
use super::super::sources::read;
use super::super::terminal::busy;
use super::roofline::{Run, roofline};
use super::traced::traced;
use crate::app::App;
use crate::job::Job;
use halide::counts::FuncCounts;
use halide::machine::Machine;
use halide::prelude::*;
use halide::profile::Profile;
use halide_report::model::{self, ScheduleText, Subject};
use indicatif::ProgressBar;
use serde_json::Value;
use std::time::Duration;

/// Runs that are timed, beside those that are sampled.
const RUNS: u32 = 5;

/// Samples that show what threads do over time, and the time after which there are as many as there are: one run of
/// more than a few milliseconds, and some of a shorter one.
const MOMENTS: (u64, Duration) = (100, Duration::from_millis(10));

/// The report on a schedule.
pub(super) struct Made {
    pub(super) data: Value,
    /// The results of its run, if that did not fail.
    pub(super) outputs: Option<Vec<AnyBuffer>>,
}

/// A run that is over.
#[derive(Default)]
struct Ran {
    facts: Vec<(String, String)>,
    fault: Option<String>,
    outputs: Option<Vec<AnyBuffer>>,
    /// Samples of many runs with the counts of one, and one run alone.
    profile: Option<(Profile, Vec<FuncCounts>)>,
    moments: Option<Profile>,
}

/// Makes the report on a schedule.
pub(super) fn made(
    (app, job): (&'static App, &Job),
    runner: &Runner,
    (name, found): (&str, &Found),
    args: &ReportArgs,
    figures: Option<&(Machine, String)>,
) -> Result<Made, Failure> {
    let (compiled, compile_ms) = busy("compiling", || runner.compile(job, &found.schedule, &args.common))?;
    let inspection = busy("inspecting", || compiled.inspect())?;
    let (width, height) = job.size;
    let mut facts = vec![
        ("size".to_string(), format!("{width}x{height}")),
        ("threads".to_string(), common::threads(&args.common).to_string()),
        ("processor".to_string(), processor()),
        ("runs on".to_string(), runner.device()),
        ("compiled in".to_string(), format!("{compile_ms:.2} ms")),
    ];
    // What a run does wrong is a part of the report.
    let ran = match ran(job, runner, &compiled, args) {
        Ok(ran) => ran,
        Err(Failure(text)) => Ran { fault: Some(text), ..Ran::default() },
    };
    facts.extend(ran.facts);
    let order = busy("tracing a small run", || traced((app, job), &compiled, &args.common));
    let order = order.map_err(|why| facts.push(("evaluation order".to_string(), format!("left out: {why}")))).ok();
    let of_run = ran.profile.as_ref().map(|(profile, _)| profile);
    let findings = busy("looking at the loops", || job.findings(&compiled, of_run));
    let findings = findings.map_err(|why| facts.push(("findings".to_string(), format!("left out: {why}")))).ok();
    let no_source = |_: &str| None;
    let source: &dyn Fn(&str) -> Option<String> = if args.no_source { &no_source } else { &read };
    let file = job.app.schedule(name).map_or(name, |named| named.file);
    let data = model::data(&Subject {
        title: format!("{} \u{b7} {name}", job.app.name),
        facts,
        fault: ran.fault,
        inspection: &inspection,
        schedule: ScheduleText { name: name.to_string(), file: file.to_string(), text: found.text.clone() },
        profile: ran.profile.as_ref().map(|(profile, counts)| (profile, counts.as_slice())),
        image_bytes: job.image_bytes(),
        moments: ran.moments.as_ref(),
        order: order.as_ref().map(|(replay, schematic)| (replay, schematic.clone())),
        roofline: ran.profile.as_ref().zip(figures).map(|((profile, counts), (machine, source))| {
            let (inspection, threads) = (&inspection, common::threads(&args.common));
            roofline(&Run { inspection, profile, counts, images: &job.image_bytes(), machine, source, threads })
        }),
        findings: findings.as_deref(),
        source,
    });
    Ok(Made { data, outputs: ran.outputs })
}

/// Runs the job: timed, checked if asked for, and sampled.
fn ran(job: &Job, runner: &Runner, compiled: &Compiled, args: &ReportArgs) -> Result<Ran, Failure> {
    let threads = args.common.threads.map(usize::from);
    let mut outputs = job.outputs()?;
    let bench = Bench { job, compiled, threads, cancel: None };
    let timing = busy("running", || bench.time(RUNS, &mut outputs, &ProgressBar::hidden()))?;
    let mut ran = Ran::default();
    let time = format!("{:.3} ms least, {:.3} ms median of {RUNS}", timing.min(), timing.median());
    ran.facts.push(("one run".to_string(), time));
    let (speed, unit) = common::speed(job, timing.median());
    ran.facts.push(("speed".to_string(), format!("{speed:.1} {unit}")));
    if args.check {
        let (reference, _) = Runner::Engine(Engine::Interp).compile(job, &Schedule::new(), &args.common)?;
        let difference = busy("checking", || job.check(&reference, &outputs))?;
        ran.facts.push(("result".to_string(), difference.to_string()));
    }
    if matches!(runner, Runner::Engine(Engine::Interp | Engine::Eval)) {
        ran.outputs = Some(outputs);
        return Ok(ran);
    }
    let sampled = busy("sampling", || job.sampled(compiled, threads, &mut outputs))?;
    ran.profile = sampled.into_iter().next();
    ran.moments = job.profiles(compiled, threads, &mut outputs, MOMENTS)?.into_iter().next();
    ran.outputs = Some(outputs);
    Ok(ran)
}

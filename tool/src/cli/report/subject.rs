//! The subject of a report: one schedule, compiled, timed, sampled and traced.

use super::super::args::CommonArgs;
use super::super::common::{self, Bench, Runner};
use super::super::failure::Failure;
use super::super::sources::read;
use super::super::terminal::busy;
use super::figures::Figures;
use super::roofline::{Run, roofline};
use super::traced::traced;
use crate::app::App;
use crate::job::Job;
use crate::processor::model as processor;
use halide::counts::FuncCounts;
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
pub(crate) struct Made {
    pub(crate) data: Value,
    /// The results of its run, if that did not fail.
    pub(crate) outputs: Option<Vec<AnyBuffer>>,
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

/// The circumstances of reports: a job, and the way in which it is run.
pub(crate) struct Maker<'a> {
    pub(crate) app: &'static App,
    pub(crate) job: &'a Job,
    pub(crate) runner: &'a Runner,
    pub(crate) common: &'a CommonArgs,
    /// The machine for the roofline, if the run is one of its cores.
    pub(crate) figures: Option<&'a Figures>,
    /// True if results are held against the interpreter.
    pub(crate) is_checked: bool,
    pub(crate) has_source: bool,
    /// True if no line says what takes long.
    pub(crate) is_quiet: bool,
    /// A handle that ends the making early.
    pub(crate) cancel: Option<Cancel>,
}

/// A schedule of a report, compiled.
pub(crate) struct Scheduled<'a> {
    pub(crate) name: &'a str,
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) compiled: &'a Compiled,
    pub(crate) compile_ms: f64,
}

impl Maker<'_> {
    /// Makes the report on a schedule.
    ///
    /// # Errors
    /// Errors of the inspection; the end by the handle.
    pub(crate) fn made(&self, of: &Scheduled<'_>) -> Result<Made, Failure> {
        let (job, compiled) = (self.job, of.compiled);
        let inspection = self.busy("inspecting", || compiled.inspect())?;
        let (width, height) = job.size;
        let mut facts = vec![
            ("size".to_string(), format!("{width}x{height}")),
            ("threads".to_string(), common::threads(self.common).to_string()),
            ("processor".to_string(), processor()),
            ("runs on".to_string(), self.runner.device()),
            ("compiled in".to_string(), format!("{:.2} ms", of.compile_ms)),
        ];
        // What a run does wrong is a part of the report.
        let ran = match self.ran(compiled) {
            Ok(ran) => ran,
            Err(Failure(text)) => Ran { fault: Some(text), ..Ran::default() },
        };
        self.go_on()?;
        facts.extend(ran.facts);
        let order = self.busy("tracing a small run", || traced((self.app, job), compiled, self.common));
        let order = order.map_err(|why| facts.push(("evaluation order".to_string(), format!("left out: {why}")))).ok();
        self.go_on()?;
        let of_run = ran.profile.as_ref().map(|(profile, _)| profile);
        let findings = self.busy("looking at the loops", || job.findings(compiled, of_run));
        let findings = findings.map_err(|why| facts.push(("findings".to_string(), format!("left out: {why}")))).ok();
        let no_source = |_: &str| None;
        let source: &dyn Fn(&str) -> Option<String> = if self.has_source { &read } else { &no_source };
        let data = model::data(&Subject {
            title: format!("{} \u{b7} {}", job.app.name, of.name),
            facts,
            fault: ran.fault,
            inspection: &inspection,
            schedule: ScheduleText { name: of.name.to_string(), file: of.file.to_string(), text: of.text.to_string() },
            profile: ran.profile.as_ref().map(|(profile, counts)| (profile, counts.as_slice())),
            image_bytes: job.image_bytes(),
            moments: ran.moments.as_ref(),
            order: order.as_ref().map(|(replay, schematic)| (replay, schematic.clone())),
            roofline: ran.profile.as_ref().zip(self.figures).map(|((profile, counts), figures)| {
                let (inspection, threads) = (&inspection, common::threads(self.common));
                roofline(&Run { inspection, profile, counts, images: &job.image_bytes(), figures, threads })
            }),
            findings: findings.as_deref(),
            source,
        });
        Ok(Made { data, outputs: ran.outputs })
    }

    /// Runs the job: timed, checked if asked for, and sampled.
    fn ran(&self, compiled: &Compiled) -> Result<Ran, Failure> {
        let (job, runner, cancel) = (self.job, self.runner, self.cancel.as_ref());
        let threads = self.common.threads.map(usize::from);
        let mut outputs = job.outputs()?;
        let bench = Bench { job, compiled, threads, cancel: self.cancel.clone() };
        let timing = self.busy("running", || bench.time(RUNS, &mut outputs, &ProgressBar::hidden()))?;
        let mut ran = Ran::default();
        let time = format!("{:.3} ms least, {:.3} ms median of {RUNS}", timing.min(), timing.median());
        ran.facts.push(("one run".to_string(), time));
        let (speed, unit) = common::speed(job, timing.median());
        ran.facts.push(("speed".to_string(), format!("{speed:.1} {unit}")));
        if self.is_checked {
            let (reference, _) = Runner::Engine(Engine::Interp).compile(job, &Schedule::new(), self.common)?;
            let difference = self.busy("checking", || job.check(&reference, &outputs))?;
            ran.facts.push(("result".to_string(), difference.to_string()));
        }
        if matches!(runner, Runner::Engine(Engine::Interp | Engine::Eval)) {
            ran.outputs = Some(outputs);
            return Ok(ran);
        }
        let sampled = self.busy("sampling", || job.sampled_with(compiled, threads, cancel, &mut outputs))?;
        ran.profile = sampled.into_iter().next();
        let moments = job.profiles_with(compiled, threads, cancel, &mut outputs, MOMENTS)?;
        ran.moments = moments.into_iter().next();
        ran.outputs = Some(outputs);
        Ok(ran)
    }

    /// Does a step, and says so if it takes long.
    fn busy<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        if self.is_quiet { work() } else { busy(what, work) }
    }

    /// Fails once the handle has ended the making.
    fn go_on(&self) -> Result<(), Failure> {
        match &self.cancel {
            Some(cancel) if cancel.is_cancelled() => Err(Failure("the report was ended early".to_string())),
            _ => Ok(()),
        }
    }
}

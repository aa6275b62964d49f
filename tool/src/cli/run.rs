//! `halide run`: one app, one schedule, one image.

use super::args::{Allow, Backend, RunArgs};
use super::auto;
use super::common::{self, Bench, Runner, Timing, gflop_per_s, mpix_per_s, speed};
use super::describe;
use super::failure::Failure;
use super::gpu;
use super::output;
use super::profile::{self, Profiled};
use super::sources;
use super::stamp;
use super::terminal::{busy, note, progress, say};
use super::tool::Tool;
use crate::app::{App, Shows};
use crate::files::{self, Output};
use crate::job::{Difference, Job};
use halide::isa::IsaOptions;
use halide::prelude::*;
use halide::schedule::FloatMode;
use halide_report::html::html;
use halide_report::model::{self, ScheduleText, Subject};
use image::DynamicImage;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The name of the schedule that is chosen for the sizes of a run.
const AUTO: &str = "auto";
/// The name of the one that instructions are chosen for.
const AUTO_ISA: &str = "auto-isa";

/// Runs the app and writes, prints, times or checks what was asked for.
pub(crate) fn run(tool: &Tool, args: &RunArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    let (input, output) = named_files(args, app)?;
    let schedule_name = schedule_name(app, args)?;
    let named = Some(schedule_name).filter(|name| !is_chosen(name));
    let named = common::named_found(app, named, &args.numbers.set)?;
    let output = output.as_deref().map(Output::new).transpose()?;
    let html = args.html.as_deref().map(output::place).transpose()?;
    let job = common::job(tool, app, &args.common, input.as_deref(), named.as_ref().map(|found| &found.schedule))?;
    if let Some(found) = named.as_ref().filter(|found| found.is_file) {
        stamp::stale(&found.text, schedule_name, app, &args.common.params)?.iter().for_each(note);
    }
    let runner = Runner::new(args.backend, args.device.as_deref())?;
    let (schedule, text) = match named {
        Some(found) => (found.schedule, Some(found.text)),
        None if schedule_name == AUTO_ISA => (of_instructions(&job, args)?, None),
        None => (chosen(&job, &runner, args)?, None),
    };
    let (compiled, compile_ms) = busy("compiling", || runner.compile(&job, &schedule, &args.common))?;
    if describes(args) {
        let text = describe::describe(&job, &compiled, &schedule, args)?;
        if args.json {
            say(json!({"app": app.name, "schedule": schedule_name, "text": text}))?;
        } else {
            say(text.trim_end())?;
        }
        if only_describes(args) {
            return Ok(());
        }
    }

    let threads = args.common.threads.map(usize::from);
    let mut outputs = job.outputs()?;
    let bench = Bench { job: &job, compiled: &compiled, threads, cancel: None };
    let runs = args.bench.unwrap_or(1);
    let timing = bench_of(&bench, runs, &mut outputs)?;
    let checked = match args.check {
        true => {
            let (reference, _) = Runner::new(Backend::Interp, None)?.compile(&job, &Schedule::new(), &args.common)?;
            Some(busy("checking", || job.check(&reference, &outputs))?)
        }
        false => None,
    };
    let profile = match args.profile {
        true => Some(profile::profile(&runner, &bench, &mut outputs)?),
        false => None,
    };
    let image = if output.is_some() { job.image(&outputs)? } else { None };
    let written = match (&output, image) {
        (Some(output), Some(image)) => {
            let profile = job.profile_of(&image);
            lost(&job, output, &image, profile.is_some());
            busy("writing the image", || output.write_with(&image, profile))?;
            Some(output.path())
        }
        _ => None,
    };
    let device = runner.device();
    let next_compile_ms = match args.bench {
        Some(_) => Some(busy("compiling again", || compile_again(&runner, &bench, &schedule, args, &mut outputs))?),
        None => None,
    };
    let compile_ms = (compile_ms + timing.variants_ms, next_compile_ms);
    let result = Outcome { job: &job, schedule: schedule_name, device, compile_ms, timing, checked, written };
    result.print(args, profile.as_ref())?;
    if let (Some(profile), false) = (&profile, args.json) {
        say(profile.text.trim_end())?;
    }
    if let Some(place) = &html {
        output::write(place, &result.page(&compiled, profile.as_ref(), text.unwrap_or_else(|| schedule.to_string()))?)?;
    }
    result.verdict(&schedule)
}

/// The name of the schedule: the app's best one, unless one is said.
fn schedule_name<'n>(app: &'n App, args: &'n RunArgs) -> Result<&'n str, Failure> {
    let best = app.best(args.backend == Backend::Gpu, common::target(&args.common).vector_bits);
    if args.backend == Backend::Gpu && args.schedule.is_none() && !best.is_for_gpu() {
        note(format!("{} has no schedule with kernels, so `{}` runs on the host", app.name, best.name));
    }
    // An app without schedules runs under one that is chosen.
    let usual = if app.schedules.is_empty() { AUTO } else { best.name };
    let name = args.schedule.as_deref().unwrap_or(usual);
    if !is_chosen(name) && args.allow.is_some() {
        let text = "--allow is for schedules that are chosen; add --schedule auto, or say it in a schedule: `f: float(contract)`";
        return Err(Failure(text.to_string()));
    }
    Ok(name)
}

/// Returns true if no file and no app has the schedule of this name.
fn is_chosen(name: &str) -> bool {
    [AUTO, AUTO_ISA].contains(&name)
}

/// A schedule that is chosen for the sizes of a job.
fn chosen(job: &Job, runner: &Runner, args: &RunArgs) -> Result<Schedule, Failure> {
    let mut options = AutoOptions::default().floats(args.allow.map_or(FloatMode::Strict, Allow::floats));
    let mut target = common::target(&args.common);
    if let Runner::Gpu(gpu) = runner {
        let (limits, speed) = gpu::limits(gpu);
        target.gpu = Some(limits);
        options = options.gpu(speed);
    }
    let chosen = busy("choosing a schedule", || job.auto_schedule(&target, &options))?;
    let [ns, at_root] = [chosen.predicted_ns, chosen.breadth_first_ns].map(|ns| ns / 1e6);
    let priced = chosen.priced;
    if args.explain {
        auto::explained(&chosen.groups).iter().for_each(note);
    }
    let times = format!("predicted {ns:.2} ms, and {at_root:.2} ms with every Func at the root");
    note(format!("{times}; {priced} schedules priced"));
    if args.backend == Backend::Gpu && !chosen.has_kernels() {
        note("the host alone is predicted to be faster than this device, so there are no kernels");
    }
    chosen.refused.iter().for_each(|line| note(format!("refused: {line}")));
    Ok(chosen.schedule)
}

/// A schedule of instructions that are chosen for the sizes of a job.
fn of_instructions(job: &Job, args: &RunArgs) -> Result<Schedule, Failure> {
    let options = IsaOptions::default().floats(args.allow.map_or(FloatMode::Contract, Allow::floats));
    let mapped = busy("choosing instructions", || job.auto_isa(&common::target(&args.common), &options))?;
    mapped.stages.iter().for_each(note);
    Ok(mapped.schedule)
}

/// The times of `runs` runs, with a bar if these are several.
fn bench_of(bench: &Bench<'_>, runs: u32, outputs: &mut [AnyBuffer]) -> Result<Timing, Failure> {
    if runs == 1 {
        return busy("running", || bench.time(1, outputs, &ProgressBar::hidden()));
    }
    let bar = progress(u64::from(runs), bench.job.app.name);
    let timing = bench.time(runs, outputs, &bar)?;
    bar.finish_and_clear();
    Ok(timing)
}

/// Says what the written file does not have of the image that was read.
fn lost(job: &Job, output: &Output, image: &DynamicImage, has_profile: bool) {
    let by_app = [("alpha", job.lost_alpha(image)), ("the colour profile", job.profile.is_some() && !has_profile)];
    let by_app: Vec<&str> = by_app.into_iter().filter(|(_, lost)| *lost).map(|(what, _)| what).collect();
    if !by_app.is_empty() {
        note(format!("{} of the image is left out: the output of `{}` has none", by_app.join(" and "), job.app.name));
    }
    let by_format = output.gives_up(image, has_profile);
    if !by_format.is_empty() {
        let name = files::shown(output.path());
        note(format!("{name} does not keep {}; a .png or .tif file does", by_format.join(" and ")));
    }
}

/// The least of the times that compiling it again takes, in ms: without what a process pays once, such as for its
/// memory. Variants that the sizes need are compiled again, too.
fn compile_again(
    runner: &Runner,
    bench: &Bench<'_>,
    schedule: &Schedule,
    args: &RunArgs,
    outputs: &mut [AnyBuffer],
) -> Result<f64, Failure> {
    let variants = bench.compiled.variants().len();
    let mut least = f64::INFINITY;
    for _ in 0..2 {
        let (compiled, mut ms) = runner.compile(bench.job, schedule, &args.common)?;
        if variants > compiled.variants().len() {
            let again = Bench { compiled: &compiled, cancel: None, ..*bench };
            ms += again.time(1, outputs, &ProgressBar::hidden())?.variants_ms;
        }
        least = least.min(ms);
    }
    Ok(least)
}

/// The results of the runs.
struct Outcome<'a> {
    job: &'a Job,
    schedule: &'a str,
    device: String,
    /// For the first time in the process, and again.
    compile_ms: (f64, Option<f64>),
    timing: Timing,
    checked: Option<Difference>,
    written: Option<&'a Path>,
}

impl Outcome<'_> {
    /// The page of `--html`: what `halide report` makes, of this run.
    /// `text` is that of the schedule, whose lines its directives are at.
    fn page(&self, compiled: &Compiled, profile: Option<&Profiled>, text: String) -> Result<String, Failure> {
        let (width, height) = self.job.size;
        let mut facts = vec![
            ("size", format!("{width}x{height}")),
            ("runs on", self.device.clone()),
            ("compiled in", format!("{:.2} ms", self.compile_ms.0)),
            ("one run", format!("{:.3} ms least, {:.3} ms median", self.timing.min(), self.timing.median())),
        ];
        facts.extend(self.checked.map(|difference| ("result", difference.to_string())));
        let facts = facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        let file = self.job.app.schedule(self.schedule).map_or(self.schedule, |named| named.file);
        let first = profile.and_then(|profile| profile.first.as_ref());
        Ok(html(&model::data(&Subject {
            title: format!("{} \u{b7} {}", self.job.app.name, self.schedule),
            facts,
            fault: None,
            inspection: &compiled.inspect()?,
            schedule: ScheduleText { name: self.schedule.to_string(), file: file.to_string(), text },
            profile: first.map(|(profile, counts)| (profile, counts.as_slice())),
            image_bytes: self.job.image_bytes(),
            moments: None,
            order: None,
            roofline: None,
            findings: None,
            source: &sources::read,
        })))
    }
    fn print(&self, args: &RunArgs, profile: Option<&Profiled>) -> Result<(), Failure> {
        let (width, height) = self.job.size;
        let (min, median) = (self.timing.min(), self.timing.median());
        let (speed, unit) = speed(self.job, median);
        if args.json {
            if !describes(args) {
                say(self.json(args, profile))?;
            }
            return Ok(());
        }
        let name = self.job.app.name;
        let again = self.compile_ms.1.map_or(String::new(), |ms| format!(", again in {ms:.2} ms"));
        say(format!(
            "{name} with schedule `{}`, {width}x{height}: compiled in {:.2} ms{again}",
            self.schedule, self.compile_ms.0
        ))?;
        if let Some(taken_as) = &self.job.taken_as {
            say(format!("the image is taken as {taken_as}"))?;
        }
        say(match args.bench {
            Some(runs) => format!("{runs} runs: min {min:.3} ms, median {median:.3} ms, {speed:.1} {unit}"),
            None => format!("one run: {median:.3} ms, {speed:.1} {unit}"),
        })?;
        if let Some(difference) = self.checked {
            say(difference)?;
        }
        match self.written {
            Some(path) => say(format!("wrote {}", files::shown(path)))?,
            None if self.job.app.shows == Shows::Nothing && args.bench.is_none() && !args.check => {
                say("the output is no image, so none is written")?;
            }
            None => {}
        }
        Ok(())
    }

    fn json(&self, args: &RunArgs, profile: Option<&Profiled>) -> Value {
        let (width, height) = self.job.size;
        let backend = format!("{:?}", args.backend).to_lowercase();
        json!({
            "app": self.job.app.name,
            "schedule": self.schedule,
            "backend": backend,
            "device": self.device,
            "threads": common::threads(&args.common),
            "size": [width, height],
            "compile_ms": self.compile_ms.0,
            "next_compile_ms": self.compile_ms.1,
            "runs": self.timing.sorted.len(),
            "min_ms": self.timing.min(),
            "median_ms": self.timing.median(),
            "mpix_per_s": mpix_per_s(self.job.size, self.timing.median()),
            "gflop_per_s": gflop_per_s(self.job, self.timing.median()),
            "taken_as": self.job.taken_as,
            "checked": self.checked.map(common::largest),
            "peak_mb": self.timing.peak_bytes as f64 / 1e6,
            "output": self.written.map(|p| p.display().to_string()),
            "profile": profile.map(|profile| &profile.json),
        })
    }

    /// A result that the schedule does not allow to differ, and does, is a failure.
    fn verdict(&self, schedule: &Schedule) -> Result<(), Failure> {
        match self.checked {
            Some(difference) if !difference.is_allowed(schedule.reassociates()) => {
                Err(Failure(format!("the result differs from the interpreter's by {}", difference.largest)))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the files to read from and to write to.
fn named_files(args: &RunArgs, app: &App) -> Result<(Option<PathBuf>, Option<PathBuf>), Failure> {
    let (input, output) = match &args.files[..] {
        [] => (None, None),
        [output] if args.common.is_synthetic() => (None, Some(output.clone())),
        [input] => (Some(input.clone()), None),
        [_, _, ..] if args.common.is_synthetic() => {
            let text = "with --random or --size there is no image to read; name the one to write, or none";
            super::args::usage_error(text)
        }
        [input, output, ..] => (Some(input.clone()), Some(output.clone())),
    };
    if app.shows == Shows::Nothing
        && let Some(output) = &output
    {
        return Err(Failure(format!("{}: the output of `{}` is no image", files::shown(output), app.name)));
    }
    let to_write = app.shows != Shows::Nothing
        && output.is_none()
        && args.bench.is_none()
        && !args.check
        && !args.json
        && !describes(args);
    if !to_write || args.common.is_synthetic() {
        return Ok((input, output));
    }
    let folder = Path::new("out");
    std::fs::create_dir_all(folder).map_err(|e| {
        Failure(format!("{}: {e}\nname the file to write: halide run {} IN OUT", folder.display(), args.app))
    })?;
    Ok((input, Some(folder.join(format!("{}.png", args.app)))))
}

fn describes(args: &RunArgs) -> bool {
    args.print.is_some() || args.explain || args.explain_bounds.is_some() || args.explain_nest
}

/// Returns true if nothing but a description was asked for.
fn only_describes(args: &RunArgs) -> bool {
    let writes = args.files.len() == if args.common.is_synthetic() { 1 } else { 2 };
    args.bench.is_none() && !args.check && !writes && args.html.is_none()
}

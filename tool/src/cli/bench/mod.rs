//! `halide bench`: schedules of an app, timed in turn; kept in a file, and held against one.
//!
//! A schedule is slower than in a file if its least time is longer by more than the tolerance and the noise: how far
//! the least times of two halves of the rounds are apart, now and in the file. Where one seems slower, all run as many
//! rounds again, since a machine that was busy for a while is no change of the code.

mod against;
mod baseline;
#[cfg(test)]
mod testing;

use super::args::{self, BenchArgs};
use super::common::{self, Bench, Found};
use super::failure::Failure;
use super::output;
use super::runners::Runners;
use super::stamp;
use super::terminal::{note, progress, say, say_heading};
use super::tool::Tool;
use super::turns::{self, Turn};
use crate::app::App;
use crate::files;
use crate::job::Job;
use crate::place::Place;
use crate::processor;
use against::Compared;
use baseline::{Baseline, Circumstances, Measured};
use halide::prelude::*;
use halide::tune::fingerprint;
use indicatif::ProgressBar;
use std::path::Path;

/// The noise from which on a machine is told to be busy.
const NOISY: f64 = 0.1;

/// A schedule that is timed.
struct Candidate {
    name: String,
    found: Found,
    backend: &'static str,
    compile_ms: f64,
    turn: Turn,
}

/// A file to compare with, and its name.
struct Against {
    name: String,
    before: Baseline,
}

/// Times the schedules, keeps and compares the times, and fails where one became slower.
pub(crate) fn bench(tool: &Tool, args: &BenchArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    check(args);
    let found = schedules(app, args)?;
    let against = args.against.as_deref().map(against_file).transpose()?;
    let place = args.save.as_deref().map(output::place).transpose()?;
    let estimates = found.first().filter(|_| found.len() == 1).map(|(_, found)| &found.schedule);
    let job = common::job(tool, app, &args.common, args.file.as_deref(), estimates)?;
    let circumstances = circumstances(&job, args);
    if let Some(Against { name, before }) = &against {
        against::check(name, &circumstances, &before.circumstances)?;
    }
    for (name, found) in found.iter().filter(|(_, found)| found.is_file) {
        stamp::stale(&found.text, name, app, &args.common.params)?.filter(|_| !args.stamp).iter().for_each(note);
    }
    let mut outputs = job.outputs()?;
    let mut candidates = compile(&job, found, args, &mut outputs)?;
    let measure = |candidates: &mut [Candidate], outputs: &mut [AnyBuffer]| rounds(&job, candidates, args, outputs);
    let algorithm = stamp::algorithm(app, &args.common.params)?;
    let of = |candidates: &[Candidate]| result(&circumstances, input(tool, args), &algorithm, candidates);
    measure(&mut candidates, &mut outputs)?;
    let mut now = of(&candidates);
    let compared = |now: &Baseline| {
        against.as_ref().map_or(Vec::new(), |against| against::compared(now, &against.before, args.tolerance))
    };
    if compared(&now).iter().any(Compared::is_slower) {
        measure(&mut candidates, &mut outputs)?;
        now = of(&candidates);
    }
    let compared = compared(&now);
    print(&now, &compared, against.as_ref(), args)?;
    if let Some(place) = &place {
        output::write(place, &format!("{:#}\n", now.json()))?;
    }
    if args.stamp {
        candidates.iter().try_for_each(|candidate| write_stamp(candidate, &now))?;
    }
    verdict(&compared, against.as_ref())
}

/// Ends the process where arguments do not go together.
fn check(args: &BenchArgs) {
    if args.file.is_some() && args.common.is_synthetic() {
        args::usage_error("with --random or --size there is no image to read");
    }
    if args.schedules.is_empty() && !args.numbers.set.is_empty() {
        args::usage_error("--set is for schedules that are named with --schedule");
    }
    if args.stamp && args.schedules.is_empty() {
        args::usage_error("--stamp writes into schedule files; name them with --schedule FILE");
    }
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if let (Some(save), Some(against)) = (&args.save, &args.against)
        && real(save) == real(against)
    {
        args::usage_error(
            "--save and --against name the same file; where each run renews what it is compared with, small losses add \
             up",
        );
    }
}

/// The schedules that are asked for, by name.
fn schedules(app: &App, args: &BenchArgs) -> Result<Vec<(String, Found)>, Failure> {
    let mut names: Vec<&str> = args.schedules.iter().map(String::as_str).collect();
    if names.is_empty() {
        names = app.schedules.iter().map(|named| named.name).collect();
    }
    let mut all: Vec<(String, Found)> = Vec::new();
    for name in names {
        if all.iter().any(|(known, _)| known == name) {
            return Err(Failure(format!("schedule `{name}` is given twice; give it once")));
        }
        let found = common::found_schedule(app, name, &args.numbers.set)?;
        if args.stamp && !found.is_file {
            let text = "comes with the app, and --stamp writes into files; write it to a file of yours first";
            return Err(Failure(format!("schedule `{name}` {text}")));
        }
        all.push((name.to_string(), found));
    }
    match all.is_empty() {
        true => Err(Failure(format!("app `{}` has no schedules; name a file with --schedule FILE", app.name))),
        false => Ok(all),
    }
}

fn against_file(path: &Path) -> Result<Against, Failure> {
    let name = files::shown(path);
    let text = common::read_text(path).map_err(|error| Failure(format!("{name}: {error}")))?;
    let before = Baseline::read(&text, &name)?;
    Ok(Against { name, before })
}

fn circumstances(job: &Job, args: &BenchArgs) -> Circumstances {
    let mut params: Vec<String> = args.common.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    params.sort();
    let target = common::target(&args.common);
    let features = target.features.map_or(String::new(), |features| format!(", {features}"));
    Circumstances {
        app: job.app.name.to_string(),
        size: job.size,
        params,
        threads: u64::from(common::threads(&args.common)),
        processor: processor::model(),
        target: format!("{}, {} bits{features}", std::env::consts::ARCH, target.vector_bits),
    }
}

/// The input in words.
fn input(tool: &Tool, args: &BenchArgs) -> String {
    match &args.file {
        Some(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        None if args.common.is_synthetic() || tool.sample.is_none() => {
            format!("random values from seed {}", args.common.random.unwrap_or(0))
        }
        None => "the sample photograph".to_string(),
    }
}

/// Compiles the schedules and runs each once; leaves out those for a GPU where there is none, and says so.
fn compile(
    job: &Job,
    found: Vec<(String, Found)>,
    args: &BenchArgs,
    outputs: &mut [AnyBuffer],
) -> Result<Vec<Candidate>, Failure> {
    let has_kernels = found.iter().any(|(_, found)| found.schedule.has_kernels());
    let runners = Runners::new(has_kernels, args.device.as_deref())?;
    let bar = progress(found.len() as u64, &format!("{}: compiling", job.app.name));
    let mut candidates = Vec::new();
    for (name, found) in found {
        bar.tick();
        let (backend, runner) = match runners.of_schedule(found.schedule.has_kernels()) {
            Ok(runner) => runner,
            Err(why) => {
                bar.suspend(|| note(format!("{name} skipped: {why}")));
                continue;
            }
        };
        let of = |Failure(text): Failure| Failure(format!("schedule `{name}`: {text}"));
        let (compiled, compile_ms) = runner.compile(job, &found.schedule, &args.common).map_err(of)?;
        let threads = args.common.threads.map(usize::from);
        let bench = Bench { job, compiled: &compiled, threads, cancel: None };
        let timing = bench.time(1, outputs, &ProgressBar::hidden()).map_err(of)?;
        let (compile_ms, turn) = (compile_ms + timing.variants_ms, Turn::new(compiled, timing.min()));
        candidates.push(Candidate { name, found, backend, compile_ms, turn });
        bar.inc(1);
    }
    bar.finish_and_clear();
    match candidates.is_empty() {
        true => Err(Failure("there is no schedule to time".to_string())),
        false => Ok(candidates),
    }
}

/// Takes the rounds that are asked for.
fn rounds(job: &Job, candidates: &mut [Candidate], args: &BenchArgs, outputs: &mut [AnyBuffer]) -> Result<(), Failure> {
    let threads = args.common.threads.map(usize::from);
    let bar = progress(u64::from(args.rounds), job.app.name);
    let mut turns: Vec<&mut Turn> = candidates.iter_mut().map(|candidate| &mut candidate.turn).collect();
    for number in 0..args.rounds as usize {
        bar.tick();
        turns::round(&mut turns, number, |compiled| {
            common::timed(job, compiled, threads, None, outputs).map(|(ms, _)| ms)
        })?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The times so far.
fn result(circumstances: &Circumstances, input: String, algorithm: &str, candidates: &[Candidate]) -> Baseline {
    let measured = |candidate: &Candidate| {
        let samples = &candidate.turn.samples;
        Measured {
            schedule: candidate.name.clone(),
            backend: candidate.backend.to_string(),
            min_ms: samples.min(),
            median_ms: samples.median(),
            deviation: samples.deviation(),
            // There are two rounds at least.
            noise: samples.noise().unwrap_or(1.0),
            compile_ms: candidate.compile_ms,
            text: fingerprint(&candidate.found.schedule.to_string()),
        }
    };
    Baseline {
        halide: env!("CARGO_PKG_VERSION").to_string(),
        circumstances: circumstances.clone(),
        input,
        rounds: candidates.first().map_or(0, |candidate| candidate.turn.samples.len() as u64),
        algorithm: algorithm.to_string(),
        schedules: candidates.iter().map(measured).collect(),
    }
}

/// Prints the times, fastest first, and the comparison.
fn print(now: &Baseline, compared: &[Compared], against: Option<&Against>, args: &BenchArgs) -> Result<(), Failure> {
    let remarks = against.map_or(Vec::new(), |a| against::remarks(&a.name, now, &a.before));
    remarks.iter().for_each(note);
    if args.json {
        let mut json = now.json();
        if let Some(Against { name, .. }) = against {
            json["against"] = name.as_str().into();
            json["compared"] = compared.iter().map(Compared::json).collect();
        }
        return say(json);
    }
    let Circumstances { app, size: (width, height), threads, processor, .. } = &now.circumstances;
    say(format!("{app} {width}x{height}, {threads} threads, on {processor}; {} rounds in turn", now.rounds))?;
    say_heading(
        &format!("  {:16}{:>10}{:>10}{:>8}{:>8}{:>12}", "schedule", "min ms", "median", "+-", "noise", "compile ms"),
        "",
    )?;
    let mut sorted: Vec<&Measured> = now.schedules.iter().collect();
    sorted.sort_by(|a, b| a.min_ms.total_cmp(&b.min_ms));
    for Measured { schedule, min_ms, median_ms, deviation, noise, compile_ms, .. } in sorted {
        let [deviation, noise] = [deviation, noise].map(|part| format!("{:.1}%", part * 100.0));
        say(format!("  {schedule:16}{min_ms:10.3}{median_ms:10.3}{deviation:>8}{noise:>8}{compile_ms:12.2}"))?;
    }
    let noise = now.schedules.iter().map(|measured| measured.noise).fold(0.0, f64::max);
    if noise > NOISY {
        let percent = noise * 100.0;
        note(format!(
            "least times differ by up to {percent:.0}% by themselves; an idle machine or more --rounds tell more"
        ));
    }
    match against {
        Some(Against { name, .. }) => compared.iter().try_for_each(|compared| say(compared.text(name))),
        None => Ok(()),
    }
}

/// Writes the stamp of a schedule into its file.
fn write_stamp(candidate: &Candidate, now: &Baseline) -> Result<(), Failure> {
    let path = Path::new(&candidate.name);
    let (name, ms) = (files::shown(path), candidate.turn.samples.min());
    let line = stamp::stamp(&now.algorithm, ms, &now.circumstances.processor);
    let text = common::read_text(path).map_err(|error| Failure(format!("{name}: {error}")))?;
    if text != candidate.found.text {
        return Err(Failure(format!("{name}: it was changed while it was timed, so it has no stamp; run it again")));
    }
    let place: Place = output::place(path)?;
    output::write(&place, &stamp::stamped(&text, &line))?;
    note(format!("{name}: {line}"));
    Ok(())
}

/// Fails where a schedule became slower, or none is in the file.
fn verdict(compared: &[Compared], against: Option<&Against>) -> Result<(), Failure> {
    let Some(Against { name, .. }) = against else { return Ok(()) };
    if compared.is_empty() {
        return Err(Failure(format!("{name} has none of the schedules that were timed; save it again with --save")));
    }
    match compared.iter().filter(|compared| compared.is_slower()).count() {
        0 => Ok(()),
        count => Err(Failure(format!("{count} of {} schedules are slower than in {name}", compared.len()))),
    }
}

//! `halide tune`: a fast schedule of an app, by timing candidates.

use super::args::TuneArgs;
use super::common;
use super::failure::Failure;
use super::output;
use super::terminal::{note, say, spinner};
use super::tool::Tool;
use crate::app::App;
use crate::files;
use crate::place::Place;
use halide::isa::IsaOptions;
use halide::prelude::*;
use halide::tune::{Ended, Event, TuneKey, Tuned, Verdict};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of the schedule that every tuning begins with.
const AUTO: &str = "auto";
/// The name of the one that instructions are chosen for.
const AUTO_ISA: &str = "auto-isa";

/// Searches for a schedule, shows how far it is, and writes and prints the best one.
pub(crate) fn tune(tool: &Tool, args: &TuneArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    if args.file.is_some() && args.common.is_synthetic() {
        super::args::usage_error("with --random or --size there is no image to read");
    }
    let from = Some(args.from.as_str()).filter(|from| ![AUTO, AUTO_ISA].contains(from));
    let from = common::named_schedule(app, from, &args.numbers.set)?;
    let output = args.output.as_deref().map(output::place).transpose()?;
    let job = common::job(tool, app, &args.common, args.file.as_deref(), from.as_ref())?;
    let from = match args.from == AUTO_ISA {
        true => Some(job.auto_isa(&common::target(&args.common), &IsaOptions::default())?.schedule),
        false => from,
    };
    let tuning = job.tuner(&common::target(&args.common)).budget(args.time).seed(args.seed);
    let tuning = args.db.iter().fold(tuning, |tuning, path| tuning.database(path));
    let tuning = from.iter().fold(tuning, |tuning, schedule| tuning.start_from(schedule));
    let file = File { app, key: tuning.key()?, seed: args.seed, place: output };

    let stop = stopped_by_ctrl_c();
    let bar = spinner(&format!("{}: preparing", app.name));
    bar.tick();
    let mut failed = None;
    let tuned = tuning.run(|event| {
        if let Err(failure) = follow(&event, &bar, &file) {
            failed = Some(failure);
            return ControlFlow::Break(());
        }
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    let tuned = tuned?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    file.write(&tuned.schedule, &times(&tuned))?;
    if args.json {
        say(json_of(&tuned, &file, job.size, common::threads(&args.common)))?;
    } else {
        print(&tuned, &file)?;
    }
    match tuned.report.wrong.len() {
        0 => Ok(()),
        wrong => Err(Failure(format!(
            "{wrong} of the schedules compute wrong values: a promise in them, such as `monoid`, does not hold, or \
             halide has a mistake; please report it"
        ))),
    }
}

/// A flag that Ctrl-C sets.
pub(crate) fn stopped_by_ctrl_c() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = stop.clone();
    if let Err(error) = ctrlc::set_handler(move || set.store(true, Ordering::Relaxed)) {
        note(format!("Ctrl-C ends halide at once: {error}"));
    }
    stop
}

/// Shows an event, and writes a better schedule.
fn follow(event: &Event<'_>, bar: &ProgressBar, file: &File) -> Result<(), Failure> {
    let name = file.app.name;
    match event {
        Event::Started { pick, recalled, notes } => {
            let ms = pick.as_secs_f64() * 1e3;
            let known = if *recalled > 0 { format!(", {recalled} candidates known") } else { String::new() };
            bar.set_message(format!("{name}: picked {ms:.3} ms{known}"));
            // Notes are told at once: a tuning takes long.
            bar.suspend(|| notes.iter().for_each(note));
        }
        Event::Measured { tried, best, .. } => {
            bar.set_message(format!("{name}: best {best:.3} of the pick, {tried} candidates"));
            bar.tick();
        }
        Event::Better { schedule, ratio } => {
            file.write(schedule, &format!("{ratio:.3} of the time of the pick so far"))?
        }
        _ => {}
    }
    Ok(())
}

/// A schedule file.
struct File {
    app: &'static App,
    key: TuneKey,
    seed: u64,
    place: Option<Place>,
}

impl File {
    /// The comments that a schedule begins with.
    fn header(&self, times: &str) -> String {
        let first = format!("Tuned for {} by halide {}, seed {}.", self.app.name, self.key.halide, self.seed);
        output::header(&first, &self.key, times)
    }

    fn write(&self, schedule: &Schedule, times: &str) -> Result<(), Failure> {
        let Some(place) = &self.place else { return Ok(()) };
        output::write(place, &format!("{}{schedule}\n", self.header(times)))
    }
}

/// The first line of the report.
fn times(tuned: &Tuned) -> String {
    tuned.report.to_string().lines().next().unwrap_or_default().to_string()
}

fn print(tuned: &Tuned, file: &File) -> Result<(), Failure> {
    say(format!("{}: {}", file.app.name, tuned.report))?;
    say(format!("it ended since {}", tuned.ended))?;
    match &file.place {
        Some(place) => say(format!("wrote {}", files::shown(place.path()))),
        None => say(&tuned.schedule),
    }
}

fn json_of(tuned: &Tuned, file: &File, (width, height): (i64, i64), threads: u32) -> Value {
    let report = &tuned.report;
    let count = |(verdict, count): (Verdict, usize)| (verdict.word().to_string(), json!(count));
    let verdicts: Map<String, Value> = Verdict::ALL.into_iter().zip(report.verdicts).map(count).collect();
    let ended = match tuned.ended {
        Ended::NoBudget => "no budget",
        Ended::TimeUp => "time up",
        Ended::NoGain => "no gain",
        Ended::Exhausted => "exhausted",
        _ => "stopped",
    };
    let wrong = report.wrong.iter().map(|(schedule, at)| json!({"schedule": schedule.to_string(), "at": at}));
    json!({
        "app": file.app.name,
        "size": [width, height],
        "threads": threads,
        "seed": report.seed,
        "ended": ended,
        "seconds": report.elapsed.as_secs_f64(),
        "tried": report.tried,
        "verdicts": verdicts,
        "pick_ms": report.duel.map(|duel| duel.pick).or(report.pick_time).map(|time| time.as_secs_f64() * 1e3),
        "ratio": report.pick_time.map(|_| report.ratio),
        "won": report.duel.map(|duel| duel.won),
        "pick": report.pick.to_string(),
        "schedule": tuned.schedule.to_string(),
        "wrong": wrong.collect::<Vec<Value>>(),
        "notes": report.notes,
        "output": file.place.as_ref().map(|place| place.path().display().to_string()),
    })
}

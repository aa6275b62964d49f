//! `halide report`: what a schedule made of an app and what a run of it does, as one page that needs nothing else.

mod animated;
mod apart;
pub(crate) mod compared;
pub(crate) mod figures;
mod roofline;
mod roofs;
pub(crate) mod subject;
mod traced;

use super::args::{Backend, ReportArgs};
use super::common::{self, Found, Runner};
use super::failure::Failure;
use super::output;
use super::terminal::{busy, say};
use super::tool::Tool;
use crate::app::App;
use crate::files;
use crate::job::Job;
use crate::place::Place;
use animated::Animated;
use figures::figures;
use halide_report::html::html;
use serde_json::Value;
use std::path::PathBuf;
use subject::{Maker, Scheduled};

/// The most schedules of a report: one, and one to compare it with.
const MOST: usize = 2;

/// Makes the report and writes it.
pub(crate) fn report(tool: &Tool, args: &ReportArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    let names = names(args, app)?;
    let mut found = Vec::new();
    for name in &names {
        found.push(common::found_schedule(app, name, &args.numbers.set)?);
    }
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("{}.html", app.name)));
    let named = args.gif.as_deref().or(args.output.as_deref()).map(output::place).transpose()?;
    let job = common::job(tool, app, &args.common, args.file.as_deref(), found.first().map(|found| &found.schedule))?;
    let runner = Runner::new(args.backend, args.device.as_deref())?;
    if let (Some(place), true) = (&named, args.gif.is_some()) {
        return animate((app, &job), &runner, (&names[..], &found[..]), args, place);
    }
    let figures = figures(&args.common, args.backend, args.machine.as_deref())?;
    let maker = Maker {
        app,
        job: &job,
        runner: &runner,
        common: &args.common,
        figures: figures.as_ref(),
        is_checked: args.check,
        has_source: !args.no_source,
        is_quiet: false,
        cancel: None,
    };
    let mut made = Vec::new();
    for (name, found) in names.iter().zip(&found) {
        let (compiled, compile_ms) = busy("compiling", || runner.compile(&job, &found.schedule, &args.common))?;
        let file = app.schedule(name).map_or(name.as_str(), |named| named.file);
        let scheduled = Scheduled { name, file, text: &found.text, compiled: &compiled, compile_ms };
        made.push(maker.made(&scheduled)?);
    }
    let mut reports = made.into_iter();
    let Some(mut first) = reports.next() else { return Ok(()) };
    if let Some(second) = reports.next() {
        let loose = names.iter().zip(&found).filter(|(_, found)| found.schedule.reassociates());
        let loose: Vec<&str> = loose.map(|(name, _)| name.as_str()).collect();
        compared::compare(&mut first, second, &loose);
    }
    let first = first.data;
    let text = match args.json {
        true => first.to_string(),
        false => busy("writing the page", || html(&first)),
    };
    let place = match (named, args.json) {
        (Some(place), _) => place,
        (None, true) => return say(text),
        (None, false) => output::place_in_folder(&path)?,
    };
    output::write(&place, &text)?;
    say(format!("wrote {} ({} KB){}", files::shown(&path), text.len().div_ceil(1000), verdict(&first)))
}

/// Writes the animation of a schedule.
fn animate(
    of: (&'static App, &Job),
    runner: &Runner,
    (names, found): (&[String], &[Found]),
    args: &ReportArgs,
    place: &Place,
) -> Result<(), Failure> {
    let ([name], [found]) = (names, found) else {
        return Err(Failure(format!("--gif draws one schedule, and --schedule names {}", names.len())));
    };
    let Animated { gif, frames, shown } = animated::animated(of, runner, name, found, &args.common)?;
    output::write(place, &gif)?;
    let path = files::shown(place.path());
    say(format!("wrote {path} ({} KB, {frames} frames): {shown}", gif.len().div_ceil(1000)))
}

/// The schedules that are asked for; the app's best one by default.
fn names(args: &ReportArgs, app: &App) -> Result<Vec<String>, Failure> {
    let names: Vec<String> = match &args.schedules[..] {
        names if !names.is_empty() => names.to_vec(),
        _ if app.schedules.is_empty() => {
            let text = format!("`{}` has no schedules; name a file with one: --schedule mine.sched", app.name);
            return Err(Failure(text));
        }
        _ => {
            let for_gpu = args.backend == Backend::Gpu;
            vec![app.best(for_gpu, common::target(&args.common).vector_bits).name.to_string()]
        }
    };
    if names.len() > MOST {
        let text = format!("--schedule names {} schedules; a report compares {MOST} at most", names.len());
        return Err(Failure(text));
    }
    Ok(names)
}

/// The end of the line that says where the report is.
fn verdict(report: &Value) -> String {
    if report["fault"].is_string() {
        return "; the run failed, and the page says why".to_string();
    }
    let time = report["profile"]["run_ms"].as_f64().map_or(String::new(), |ms| format!(": {ms:.2} ms a run"));
    let result = report["compare"]["result"]["text"].as_str().map_or(String::new(), |text| format!("; {text}"));
    time + &result
}

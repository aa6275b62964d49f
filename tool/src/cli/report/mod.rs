//! `halide report`: what a schedule made of an app and what a run of it does, as one page that needs nothing else.

mod animated;
mod apart;
mod compared;
mod roofline;
mod roofs;
mod subject;
mod traced;

use super::args::{Backend, ReportArgs};
use super::common::{self, Found, Runner};
use super::failure::Failure;
use super::kept_machine::kept_machine;
use super::output;
use super::terminal::{busy, say};
use super::tool::Tool;
use crate::app::App;
use crate::files;
use crate::job::Job;
use crate::place::Place;
use animated::Animated;
use halide::machine::{Declared, Machine};
use halide_report::html::html;
use serde_json::Value;
use std::path::PathBuf;

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
    let figures = figures(args)?;
    let mut made = Vec::new();
    for (name, found) in names.iter().zip(&found) {
        made.push(subject::made((app, &job), &runner, (name, found), args, figures.as_ref())?);
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

/// The figures of this machine and their source, for runs whose time is that of its cores.
fn figures(args: &ReportArgs) -> Result<Option<(Machine, String)>, Failure> {
    if args.backend != Backend::Cpu {
        return Ok(None);
    }
    let target = common::target(&args.common);
    Ok(Some(match &args.machine {
        Some(path) => (common::read_machine(path)?, format!("figures of {}", files::shown(path))),
        None => match kept_machine(&target) {
            Ok(machine) => (machine, "measured figures".to_string()),
            Err(Failure(why)) => (Declared::host(&target).machine, format!("typical figures, not measured: {why}")),
        },
    }))
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

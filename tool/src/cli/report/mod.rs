//! `halide report`: what a schedule made of an app and what a run of it does, as one page that needs nothing else.

pub(crate) mod compared;
mod roofline;
pub(crate) mod subject;
mod traced;

use super::args::{Backend, ReportArgs};
use super::common::{self, Runner};
use super::failure::Failure;
use super::output;
use super::terminal::{busy, say};
use super::tool::Tool;
use crate::app::App;
use crate::files;
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
    let named = args.output.as_deref().map(output::place).transpose()?;
    let job = common::job(tool, app, &args.common, args.file.as_deref(), found.first().map(|found| &found.schedule))?;
    let runner = Runner::new(args.backend, args.device.as_deref())?;
    let maker = Maker {
        app,
        job: &job,
        runner: &runner,
        common: &args.common,
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
        first["compare"] = compared::compared(&first, second);
    }
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
    match report["fault"].as_str() {
        Some(_) => "; the run failed, and the page says why".to_string(),
        None => report["profile"]["run_ms"].as_f64().map_or(String::new(), |ms| format!(": {ms:.2} ms a run")),
    }
}

//! `halide check`: schedules of an app, held against the reference interpreter over sizes, on every engine.

use super::args::CheckArgs;
use super::common;
use super::failure::Failure;
use super::terminal::{progress, say};
use super::tool::Tool;
use crate::app::App;
use crate::job::{Job, Source};
use halide::check::{Agreed, Check, SIZES};
use serde_json::{Value, json};

/// The result of one schedule.
struct Row {
    name: String,
    outcome: Result<Agreed, String>,
}

/// Checks each schedule and prints a line for it.
pub(crate) fn check(tool: &Tool, args: &CheckArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    let names: Vec<&str> = match &args.schedules[..] {
        [] => app.schedules.iter().map(|s| s.name).collect(),
        given => given.iter().map(String::as_str).collect(),
    };
    let jobs = jobs(app, args)?;
    let gpu = args.device.as_deref().map(|device| super::gpu::open(Some(device))).transpose()?;
    let progress = progress(names.len() as u64, app.name);
    let mut rows = Vec::new();
    for name in names {
        let schedule = common::find_schedule(app, name, &args.numbers.set)?;
        let job = jobs.first().ok_or_else(|| Failure("there is no size to check".to_string()))?;
        let mut check = Check::new(&job.pipeline).target(&common::target(&args.common)).schedule(name, &schedule);
        check = jobs.iter().fold(check, |check, job| job.cases().into_iter().fold(check, Check::case));
        check = gpu.iter().fold(check, |check, gpu| super::gpu::check_on(gpu, check));
        let outcome = check.run().map_err(|found| found.to_string());
        progress.inc(1);
        rows.push(Row { name: name.to_string(), outcome });
    }
    progress.finish_and_clear();
    if args.json {
        say(Value::Array(rows.iter().map(|row| row.json(app)).collect()))?;
    } else {
        rows.iter().try_for_each(|row| say(row.text()))?;
    }
    match rows.iter().filter(|row| row.outcome.is_err()).count() {
        0 => Ok(()),
        wrong => Err(Failure(format!("{wrong} of {} schedules do not agree with the interpreter", rows.len()))),
    }
}

/// The app at each size that is checked.
fn jobs(app: &'static App, args: &CheckArgs) -> Result<Vec<Job>, Failure> {
    let sizes = args.common.size.map_or(SIZES.to_vec(), |size| vec![size]);
    let job = |(width, height)| {
        if width < 1 || height < 1 {
            return Err(Failure(format!("--size {width}x{height}: width and height must be at least 1")));
        }
        let source = Source::Random { seed: args.common.random.unwrap_or(0), width, height };
        Job::within(app, source, &args.common.params, args.common.memory_cap).map_err(Failure::from)
    };
    sizes.into_iter().map(job).collect()
}

impl Row {
    fn text(&self) -> String {
        match &self.outcome {
            Ok(Agreed { cases, runs, values, .. }) => {
                format!("  {:16} agrees at {cases} sizes: {runs} runs, {values} values", self.name)
            }
            Err(found) => format!("  {:16} DIFFERS\n{}", self.name, indented(found)),
        }
    }

    fn json(&self, app: &App) -> Value {
        match &self.outcome {
            Ok(Agreed { cases, runs, values, .. }) => json!({
                "app": app.name, "schedule": self.name, "agrees": true, "sizes": cases, "runs": runs, "values": values,
            }),
            Err(found) => json!({"app": app.name, "schedule": self.name, "agrees": false, "found": found}),
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

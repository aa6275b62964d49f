//! `halide list`: what there is to run, and on what.

use super::common::cpu;
use super::failure::Failure;
use super::gpu;
use super::terminal::{say, say_heading};
use super::tool::Tool;
use crate::app::{App, Edges, NamedSchedule, Takes};
use crate::params::describe;
use halide::prelude::*;
use serde_json::{Value, json};

/// Prints the apps with their schedules and parameters.
pub(crate) fn list(tool: &Tool, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let apps = tool.apps.iter().map(app_json).collect::<Result<Vec<Value>, Failure>>()?;
        say(Value::Array(apps))?;
        return Ok(());
    }
    for app in tool.apps {
        say_heading(app.name, &format!(": {}", app.about))?;
        let names: Vec<String> = app.schedules.iter().map(named).collect();
        say(format!("    schedules  {}", names.join(", ")))?;
        let pipeline = app.default_pipeline(Edges::Repeat)?;
        for param in pipeline.params.iter() {
            say(format!("    parameter  {}", describe(param)))?;
        }
        for setting in app.settings {
            say(format!("    setting    {}: {} (the first by default)", setting.name, setting.values.join(", ")))?;
        }
        say(match (app.takes, tool.sample) {
            (Takes::Nothing, _) => "    input      --random values",
            (_, None) => "    input      an image, or --random values",
            (_, Some(_)) => "    input      an image, --random values, or the photograph that comes with it",
        })?;
    }
    say(format!("processor: {}", cpu()))?;
    for line in gpu::devices() {
        say(line)?;
    }
    Ok(())
}

/// The name of a schedule, and for which machines it takes the place of another.
fn named(schedule: &NamedSchedule) -> String {
    match schedule.instead_of() {
        Some((other, tier)) => format!("{} (for `{other}` up to {})", schedule.name, tier.name()),
        None => schedule.name.to_string(),
    }
}

fn app_json(app: &App) -> Result<Value, Failure> {
    let pipeline = app.default_pipeline(Edges::Repeat)?;
    let params: Vec<Value> = pipeline
        .params
        .iter()
        .map(|p| {
            json!({"name": p.name, "type": p.ty.name(), "default": number(p.default),
                   "min": number(p.min), "max": number(p.max)})
        })
        .collect();
    let schedules: Vec<&str> = app.schedules.iter().map(|s| s.name).collect();
    let settings: Vec<Value> = app.settings.iter().map(|s| json!({"name": s.name, "values": s.values})).collect();
    Ok(json!({"app": app.name, "schedules": schedules, "params": params, "settings": settings}))
}

fn number(value: Option<Scalar>) -> Value {
    match value {
        None => Value::Null,
        Some(v) if v.ty() == Bool => json!(v.as_bool()),
        Some(v) if v.ty().is_float() => v.to_string().parse::<f64>().map_or(Value::Null, |f| json!(f)),
        Some(v) if v.ty() == U64 => json!(v.as_u64()),
        Some(v) => json!(v.as_i64()),
    }
}

//! `halide map`: the ways in which instructions compute the stages of an app. Nothing is compiled or run.

use super::args::MapArgs;
use super::common;
use super::failure::Failure;
use super::terminal::say;
use super::tool::Tool;
use crate::job::{Job, Source};
use halide::plan::{MapError, Mapping, mappings};
use halide::prelude::*;
use halide::schedule::{InstructionSet, closest};
use serde_json::json;

/// A stage with its mappings, or the reason that there are none, of each instruction.
struct Row {
    stage: String,
    instruction: String,
    found: Result<Vec<Mapping>, MapError>,
}

/// Prints the mappings of the built-in instructions, or of one of them.
pub(crate) fn map(tool: &Tool, args: &MapArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    let set = InstructionSet::built_in();
    let names: Vec<&str> = match &args.instruction {
        Some(name) => vec![known(&set, name)?],
        None => set.names().collect(),
    };
    let source = Source::Random { seed: 0, width: 64, height: 64 };
    let job = Job::new(app, source, &args.params)?;
    let rows = rows(&job.pipeline, &set, &names);
    match args.json {
        true => say(of_json(app.name, &rows)),
        false => say(shown(&rows, args.instruction.is_some())),
    }
}

fn known<'s>(set: &'s InstructionSet, name: &str) -> Result<&'s str, Failure> {
    set.names().find(|known| *known == name).ok_or_else(|| {
        let hint = match closest(name, set.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", set.names().collect::<Vec<_>>().join(", ")),
        };
        Failure(format!("there is no instruction `{name}`; {hint}"))
    })
}

/// The rows of all definitions, in the order of the pipeline's Funcs.
fn rows(pipeline: &Pipeline, set: &InstructionSet, names: &[&str]) -> Vec<Row> {
    let mut rows = Vec::new();
    for func in pipeline.order.iter().map(|func| &pipeline.funcs[*func]) {
        for stage in 0..func.stages.len() {
            let of = (func.name.as_str(), stage);
            let name = if stage == 0 { func.name.clone() } else { format!("{}.update({})", func.name, stage - 1) };
            rows.extend(names.iter().map(|instruction| Row {
                stage: name.clone(),
                instruction: instruction.to_string(),
                found: mappings(pipeline, of, set, instruction),
            }));
        }
    }
    rows
}

/// A line for each stage, and below it one for each mapping; with `why`, what differs where there are none.
fn shown(rows: &[Row], why: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut last = "";
    for row in rows {
        let found = match &row.found {
            Ok(found) => found.iter().map(|mapping| format!("  {mapping}")).collect(),
            Err(error) if why => vec![format!("  {error}")],
            Err(_) => Vec::new(),
        };
        if !found.is_empty() && last != row.stage {
            lines.push(row.stage.clone());
            last = &row.stage;
        }
        lines.extend(found);
    }
    match lines.is_empty() {
        true => "no instruction computes a stage; name one with --instruction to see what differs".to_string(),
        false => lines.join("\n"),
    }
}

fn of_json(app: &str, rows: &[Row]) -> String {
    let mapping = |mapping: &Mapping| {
        let axes: Vec<_> = mapping.axes.iter().map(|(axis, vars)| json!({ "axis": axis, "variables": vars })).collect();
        let operands: Vec<_> =
            mapping.operands.iter().map(|(image, read)| json!({ "image": image, "reads": read })).collect();
        json!({ "axes": axes, "operands": operands })
    };
    let row = |row: &Row| {
        let (found, why) = match &row.found {
            Ok(found) => (found.iter().map(mapping).collect(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        json!({ "stage": row.stage, "instruction": row.instruction, "mappings": found, "why_not": why })
    };
    json!({ "app": app, "rows": rows.iter().map(row).collect::<Vec<_>>() }).to_string()
}

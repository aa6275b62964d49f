//! `halide map`: the ways in which instructions compute the stages of an app, and the one that is chosen for its sizes.
//! Nothing is run.

use super::args::MapArgs;
use super::common;
use super::failure::Failure;
use super::terminal::{busy, say};
use super::tool::Tool;
use crate::job::{Job, Source};
use halide::auto::AutoError;
use halide::isa::{Attempt, IsaOptions, MappedStage, WhyNot};
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

/// The choice for the stages of an app, or what was tried.
type Choice = Result<Vec<MappedStage>, Vec<Attempt>>;

/// Prints the mappings of the built-in instructions, or of one of them, and the choice among all.
pub(crate) fn map(tool: &Tool, args: &MapArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    let set = InstructionSet::built_in();
    let names: Vec<&str> = match &args.instruction {
        Some(name) => vec![known(&set, name)?],
        None => set.names().collect(),
    };
    let ((width, height), seed) = (args.common.size.unwrap_or(app.size), args.common.random.unwrap_or(0));
    let job = Job::new(app, Source::Random { seed, width, height }, &args.common.params)?;
    let rows = rows(&job.pipeline, &set, &names);
    let choice = match rows.iter().any(|row| row.found.is_ok()) {
        true => chosen(&job, args)?,
        false => Err(Vec::new()),
    };
    match args.json {
        true => say(of_json(app.name, &rows, &choice)),
        false => say(shown(&rows, &choice, args.instruction.is_some())),
    }
}

/// The stages of a schedule of instructions.
fn chosen(job: &Job, args: &MapArgs) -> Result<Choice, Failure> {
    let mapped = busy("choosing instructions", || job.auto_isa(&common::target(&args.common), &IsaOptions::default()));
    match mapped {
        Ok(mapped) => Ok(Ok(mapped.stages)),
        Err(Error::Auto(AutoError::NothingMaps { attempts })) => Ok(Err(attempts)),
        Err(error) => Err(error.into()),
    }
}

/// Says of a mapping of a stage if it is chosen, or why it is not; nothing, if none is chosen for the stage.
fn why(choice: &Choice, row: &Row, mapping: &Mapping) -> String {
    let stages = choice.as_deref().unwrap_or_default();
    let Some(stage) = stages.iter().find(|stage| stage.stage == row.stage) else { return String::new() };
    if stage.mapping == *mapping {
        let tile: Vec<String> = stage.tile.iter().map(|(name, size)| format!("{name} {size}")).collect();
        let copies = match &stage.copies[..] {
            [] => String::new(),
            copies => format!(", with copies of {}", copies.join(", ")),
        };
        return format!(": chosen, {} in tiles of {}{copies}", cycles(stage.cycles), tile.join(" x "));
    }
    if let Some((_, own)) = stage.others.iter().find(|(other, _)| other == mapping) {
        return format!(": {}", cycles(*own));
    }
    let passed = stage.passed_over.iter().find(|(other, _)| other == mapping);
    passed.map_or_else(String::new, |(_, why)| format!(": {why}"))
}

/// A predicted number of cycles.
fn cycles(count: f64) -> String {
    match count {
        count if count >= 1e6 => format!("{:.1} million cycles", count / 1e6),
        count => format!("{:.1} thousand cycles", count / 1e3),
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

/// A line for each stage, and below it one for each mapping; with `differs`, what differs where there are none. Where
/// nothing is chosen, the reasons follow.
fn shown(rows: &[Row], choice: &Choice, differs: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut last = "";
    for row in rows {
        let found = match &row.found {
            Ok(found) => found.iter().map(|mapping| format!("  {mapping}{}", why(choice, row, mapping))).collect(),
            Err(error) if differs => vec![format!("  {error}")],
            Err(_) => Vec::new(),
        };
        if !found.is_empty() && last != row.stage {
            lines.push(row.stage.clone());
            last = &row.stage;
        }
        lines.extend(found);
    }
    if let Err(attempts) = choice {
        let is_told = |attempt: &&Attempt| !matches!(attempt.why, WhyNot::Differs(_) | WhyNot::NoSum);
        lines.extend(attempts.iter().filter(is_told).map(|attempt| format!("not chosen: {attempt}")));
    }
    match lines.is_empty() {
        true => "no instruction computes a stage; name one with --instruction to see what differs".to_string(),
        false => lines.join("\n"),
    }
}

fn of_json(app: &str, rows: &[Row], choice: &Choice) -> String {
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
    let chosen = |stage: &MappedStage| {
        let tile: Vec<_> = stage.tile.iter().map(|(name, size)| json!({ "variable": name, "size": size })).collect();
        let (of, instruction) = (mapping(&stage.mapping), &stage.mapping.instruction);
        json!({ "stage": stage.stage, "instruction": instruction, "mapping": of, "tile": tile,
                "copies": stage.copies, "cycles": stage.cycles })
    };
    let chosen: Vec<_> = choice.as_deref().unwrap_or_default().iter().map(chosen).collect();
    json!({ "app": app, "rows": rows.iter().map(row).collect::<Vec<_>>(), "chosen": chosen }).to_string()
}

//! Loops, the loop nest, storage and decisions.

use super::definitions::number;
use super::subject::ScheduleText;
use halide::inspect::{DecisionRow, Inspection, LoopRow, NestKind, NestLoopId, NestRow, Stored};
use halide::ir::ForKind;
use serde_json::{Value, json};

/// The number of a loop, -1 for none.
pub(super) fn loop_number(id: Option<NestLoopId>) -> i64 {
    id.map_or(-1, |id| id.0 as i64)
}

/// A row for each loop. The line of a directive is that in the schedule's text.
pub(super) fn loops(inspection: &Inspection, schedule: &ScheduleText) -> Value {
    let row = |row: &LoopRow| {
        let directive = row.directive.filter(|at| at.file == schedule.file).map(|at| at.line);
        json!({
            "name": row.name,
            "kind": kind(row.kind),
            "definition": row.definition.map(|id| id.0),
            "extent": row.extent,
            "parent": row.parent.map(|id| id.0),
            "directive": directive,
        })
    };
    inspection.loops.iter().map(row).collect()
}

fn kind(kind: ForKind) -> &'static str {
    match kind {
        ForKind::Serial => "serial",
        ForKind::Parallel => "parallel",
        ForKind::Vectorized => "vectorized",
        ForKind::Unrolled => "unrolled",
        ForKind::GpuBlocks => "blocks",
        ForKind::GpuThreads => "threads",
        ForKind::GpuLanes => "lanes",
    }
}

/// The lines of the nest.
pub(super) fn lines(inspection: &Inspection) -> Value {
    let row = |row: &NestRow| {
        let kind = match row.kind {
            NestKind::Loop => "loop",
            NestKind::Compute => "compute",
            NestKind::Store => "store",
            NestKind::If => "if",
            NestKind::Define => "define",
            NestKind::Atomic => "atomic",
        };
        json!([row.depth, kind, row.text, number(row.definition), loop_number(row.within)])
    };
    inspection.nest.iter().map(row).collect()
}

/// A row for each buffer.
pub(super) fn storage(inspection: &Inspection) -> Value {
    let number = |text: &String| text.parse::<u64>().map_or_else(|_| json!(text), Value::from);
    let row = |row: &Stored| {
        json!({
            "name": row.name,
            "type": row.ty.name(),
            "place": row.place,
            // A number where it is one, else an expression of what is known when it runs.
            "elements": row.elements.as_ref().map(number),
            "folds": row.folds,
        })
    };
    inspection.storage.iter().map(row).collect()
}

/// A row for each decision.
pub(super) fn decisions(inspection: &Inspection) -> Value {
    let row = |row: &DecisionRow| json!({"pass": row.pass, "did": row.did, "text": row.text, "copies": row.copies});
    inspection.decisions.iter().map(row).collect()
}

//! The order of evaluation: canvases, and spans of points that are stored or loaded one after the other along a row.

use crate::order::canvas::Place;
use crate::order::replay::Replay;
use serde_json::{Value, json};

/// The most spans that a page takes; a run of more is cut off, and the page says so.
pub const MOST_SPANS: usize = 60_000;

/// Kinds of spans.
const STORE: u8 = 0;
const LOAD: u8 = 1;
/// A point that was computed before.
const STORE_AGAIN: u8 = 2;
const FREE: u8 = 3;

/// Points of one canvas that follow each other along its rows.
struct Run {
    canvas: usize,
    kind: u8,
    cell: usize,
    points: usize,
}

/// A replay as data; `schematic` says how it was made small.
pub(super) fn order(replay: &Replay, schematic: &str) -> Value {
    let canvas = |canvas: &crate::order::canvas::Canvas| {
        let kind = if canvas.is_input() { "image" } else { "func" };
        json!({"name": canvas.name, "kind": kind, "min": canvas.min, "extent": canvas.extent})
    };
    let runs = runs(replay);
    let span = |run: &Run| {
        let canvas = &replay.canvases[run.canvas];
        let columns = canvas.extent[0].max(1);
        let at = [run.cell % columns, run.cell / columns];
        let [x, y] = [0, 1].map(|d| canvas.min[d] + at[d] as i64);
        json!([run.canvas, run.kind, x, y, run.points, 0, -1])
    };
    let cut = if runs.len() > MOST_SPANS { format!("; the first {MOST_SPANS} steps of it") } else { String::new() };
    json!({
        "schematic": format!("{schematic}{cut}"),
        "canvases": replay.canvases.iter().map(canvas).collect::<Vec<Value>>(),
        "spans": runs.iter().take(MOST_SPANS).map(span).collect::<Vec<Value>>(),
    })
}

fn runs(replay: &Replay) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    let mut stored: Vec<Vec<bool>> = replay.canvases.iter().map(|canvas| vec![false; canvas.cells.len()]).collect();
    for step in &replay.steps {
        step.loads.iter().for_each(|place| add(&mut all, replay, *place, LOAD));
        if let Some(place) = step.store {
            let again = std::mem::replace(&mut stored[place.canvas][place.cell], true);
            add(&mut all, replay, place, if again { STORE_AGAIN } else { STORE });
        }
        step.ended.iter().for_each(|place| add(&mut all, replay, *place, FREE));
    }
    all
}

/// Adds a point to the last span that it goes on, or as a span of its own. Spans of other canvases in between do not
/// end one: within a row of loads and stores the order of single points is not seen.
fn add(all: &mut Vec<Run>, replay: &Replay, place: Place, kind: u8) {
    let columns = replay.canvases[place.canvas].extent[0].max(1);
    let goes_on = |run: &&mut Run| {
        let end = run.cell + run.points;
        run.canvas == place.canvas && run.kind == kind && end == place.cell && !end.is_multiple_of(columns)
    };
    match all.last_mut().filter(goes_on) {
        Some(run) => run.points += 1,
        None => all.push(Run { canvas: place.canvas, kind, cell: place.cell, points: 1 }),
    }
}

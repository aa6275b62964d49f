//! The order of evaluation: canvases, and spans of points that are stored or loaded one after the other along a row.

use super::nest::loop_number;
use crate::order::canvas::{Canvas, Place, Step};
use crate::order::replay::Replay;
use crate::order::reuse::Reuse;
use halide::inspect::{Inspection, NestLoopId};
use serde_json::{Value, json};

/// The most spans that a page takes; a run of more is cut off, and the page says so.
pub const MOST_SPANS: usize = 60_000;

/// Kinds of spans.
const STORE: u8 = 0;
const LOAD: u8 = 1;
/// A point that was computed before.
const STORE_AGAIN: u8 = 2;
const FREE: u8 = 3;

/// Points of one canvas that follow each other along its rows, in one loop of one task.
struct Run {
    canvas: usize,
    kind: u8,
    cell: usize,
    points: usize,
    task: u32,
    /// The innermost loop, and the outermost one of which an iteration begins with the first point.
    loops: [Option<usize>; 2],
}

/// A replay as data; `schematic` says how it was made small. Loops are those of the inspection, by their names.
pub(super) fn order(replay: &Replay, schematic: &str, inspection: &Inspection) -> Value {
    let runs = runs(replay);
    let row = |name: &String| inspection.loops.iter().position(|row| row.name == *name);
    let rows: Vec<i64> = replay.loops.iter().map(|name| loop_number(row(name).map(NestLoopId))).collect();
    let span = |run: &Run| {
        let canvas = &replay.canvases[run.canvas];
        let columns = canvas.extent[0].max(1);
        let at = [run.cell % columns, run.cell / columns];
        let [x, y] = [0, 1].map(|d| canvas.min[d] + at[d] as i64);
        let [within, fresh] = run.loops.map(|number| number.map_or(-1, |number| rows[number]));
        json!([run.canvas, run.kind, x, y, run.points, run.task, within, fresh])
    };
    let cut = if runs.len() > MOST_SPANS { format!("; the first {MOST_SPANS} steps of it") } else { String::new() };
    let reuse = Reuse::of(replay);
    let canvases = replay.canvases.iter().zip(&reuse.largest);
    json!({
        "schematic": format!("{schematic}{cut}"),
        "canvases": canvases.map(|(of, largest)| canvas(of, largest)).collect::<Vec<Value>>(),
        "spans": runs.iter().take(MOST_SPANS).map(span).collect::<Vec<Value>>(),
        "tasks": replay.tasks,
        "reuse": {
            "first": reuse.first,
            "again": reuse.count(),
            "half": reuse.within(0.5),
            "most": reuse.within(1.0),
        },
    })
}

/// A canvas with the largest reuse distances of its cells.
fn canvas(of: &Canvas, largest: &[Option<u32>]) -> Value {
    let kind = if of.is_input() { "image" } else { "func" };
    let reuse: String = largest.iter().map(|distance| distance.map_or('.', letter)).collect();
    json!({"name": of.name, "kind": kind, "min": of.min, "extent": of.extent, "reuse": reuse})
}

/// The class of a distance: `a` for 0, and the next letter for each doubling.
fn letter(distance: u32) -> char {
    char::from(b'a' + (32 - distance.leading_zeros()).min(25) as u8)
}

/// The number of spans that a page needs for a replay, of which it takes [`MOST_SPANS`].
pub fn span_count(replay: &Replay) -> usize {
    runs(replay).len()
}

fn runs(replay: &Replay) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    let mut stored: Vec<Vec<bool>> = replay.canvases.iter().map(|canvas| vec![false; canvas.cells.len()]).collect();
    for step in &replay.steps {
        let mut fresh = step.fresh;
        let mut add = |place: &Place, kind| add(&mut all, replay, step, *place, kind, fresh.take());
        step.loads.iter().for_each(|place| add(place, LOAD));
        if let Some(place) = &step.store {
            let again = std::mem::replace(&mut stored[place.canvas][place.cell], true);
            add(place, if again { STORE_AGAIN } else { STORE });
        }
        step.ended.iter().for_each(|place| add(place, FREE));
    }
    all
}

/// Adds a point to the last span that it goes on, or as a span of its own. Spans of other canvases in between do not
/// end one: within a row of loads and stores the order of single points is not seen. Iterations of the innermost loop
/// do not end one either; those of loops around it do.
fn add(all: &mut Vec<Run>, replay: &Replay, step: &Step, place: Place, kind: u8, fresh: Option<usize>) {
    let columns = replay.canvases[place.canvas].extent[0].max(1);
    let goes_on = |run: &&mut Run| {
        let end = run.cell + run.points;
        let is_next = end == place.cell && !end.is_multiple_of(columns);
        let is_same_loop = run.task == step.task && run.loops[0] == step.within;
        let is_same = run.canvas == place.canvas && run.kind == kind && is_same_loop;
        is_same && is_next && (fresh.is_none() || fresh == step.within)
    };
    match all.last_mut().filter(goes_on) {
        Some(run) => run.points += 1,
        None => {
            let loops = [step.within, fresh];
            all.push(Run { canvas: place.canvas, kind, cell: place.cell, points: 1, task: step.task, loops });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn classes_of_distances_double() {
        let classes: String = [0, 1, 2, 3, 4, 7, 8, 1 << 20, u32::MAX].into_iter().map(letter).collect();
        assert_eq!(classes, "abccddevz");
    }
}

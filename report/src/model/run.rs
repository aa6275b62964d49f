//! Runs: the time of each activity, exact counts, and threads and memory over time.

use halide::counts::FuncCounts;
use halide::profile::{Activity, ActivityTime, MemoryEvent, Profile, Span};
use serde_json::{Value, json};
use std::time::Duration;

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A profile with the counts of a run as data: times in milliseconds for one run.
pub fn profile(profile: &Profile, counts: &[FuncCounts]) -> Value {
    let row = |row: &ActivityTime| {
        let (func, update) = match &row.activity {
            Activity::Computes { func, update } => (Some(func), update.map_or(0, |update| update + 1)),
            _ => (None, 0),
        };
        json!({
            "activity": row.activity.to_string(),
            "func": func,
            "update": update,
            "share": profile.share(row),
            "self_ms": ms(profile.self_time(row)),
            "threads": profile.threads(row),
            "place": row.at.map(|at| at.to_string()),
        })
    };
    json!({
        "run_ms": ms(profile.wall) / profile.runs.max(1) as f64,
        "runs": profile.runs,
        "samples": profile.samples,
        "rows": profile.rows.iter().map(row).collect::<Vec<Value>>(),
        "counts": counts.iter().map(count).collect::<Vec<Value>>(),
    })
}

/// A profile as [`profile`] has it, and what threads and memory did over time in `moments`.
pub(super) fn with_moments(of: &Profile, counts: &[FuncCounts], moments: &Profile) -> Value {
    let span = |span: &Span| {
        let row = of.rows.iter().position(|row| row.activity == span.activity);
        row.map(|row| json!([span.thread, row, ms(span.begin), ms(span.end)]))
    };
    let event = |event: &MemoryEvent| json!([ms(event.at), event.func, event.bytes, event.live]);
    let mut data = profile(of, counts);
    data["timeline"] = moments.timeline.iter().filter_map(span).collect();
    data["memory"] = moments.memory.iter().map(event).collect();
    data["peak_bytes"] = moments.peak_bytes().into();
    data["cut"] = moments.cut.into();
    data
}

fn count(of: &FuncCounts) -> Value {
    json!({
        "func": of.func,
        "points": of.points,
        "needed": of.needed,
        "elements": of.elements,
        "allocations": of.allocations,
        "loaded_bytes": of.loaded,
        "stored_bytes": of.stored,
        "operations": of.operations,
    })
}

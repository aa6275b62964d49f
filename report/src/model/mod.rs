//! The data of a report: what was compiled and what a run of it did, as JSON.
//!
//! [`data`] makes it of values of the facade; `schema.json` in the crate's folder says its form, and `html` makes a
//! page of it. Rows refer to each other by their numbers: never by names that a reader would have to parse.

mod code;
mod definitions;
mod findings;
mod graph;
mod nest;
mod order;
mod run;
mod subject;
mod traffic;

pub use order::{MOST_SPANS, span_count};
pub use run::profile;
pub use subject::{ScheduleText, Subject};

use serde_json::{Value, json};

/// The version of the form of the data. A reader ignores keys that it does not know.
pub const VERSION: u32 = 1;

/// The data of a report.
pub fn data(subject: &Subject<'_>) -> Value {
    let inspection = subject.inspection;
    let files = definitions::files(inspection, subject.source);
    let mut data = json!({
        "version": VERSION,
        "made_by": concat!("halide ", env!("CARGO_PKG_VERSION")),
        "title": subject.title,
        "facts": subject.facts,
        "fault": subject.fault,
        "schedule": {
            "name": subject.schedule.name,
            "file": subject.schedule.file,
            "text": subject.schedule.text,
        },
        "definitions": definitions::rows(inspection, &files),
        "images": definitions::images(inspection),
        "graph": graph::graph(inspection, subject.profile.map(|(_, counts)| counts), &subject.image_bytes),
        "files": definitions::excerpts(&files),
        "loops": nest::loops(inspection, &subject.schedule),
        "nest": nest::lines(inspection),
        "storage": nest::storage(inspection),
        "decisions": nest::decisions(inspection),
        "code": code::units(inspection),
    });
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            data[key] = value;
        }
    };
    add(
        "profile",
        subject.profile.map(|(profile, counts)| run::with_moments(profile, counts, subject.moments.unwrap_or(profile))),
    );
    add("order", subject.order.as_ref().map(|(replay, schematic)| order::order(replay, schematic, inspection)));
    if let Some((machine, points)) = &subject.roofline {
        add("machine", Some(machine.clone()));
        add("roofline", Some(points.clone()));
    }
    add("findings", subject.findings.map(findings::rows));
    data
}

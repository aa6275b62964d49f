//! The data of a report: what was compiled and what a run of it did, as JSON.
//!
//! [`data`] makes it of values of the facade; `schema.json` in the crate's folder says its form, and `html` makes a page
//! of it. Rows refer to each other by their numbers: never by names that a reader would have to parse.

mod code;
mod definitions;
mod findings;
mod graph;
mod nest;
mod order;
mod run;

pub use order::MOST_SPANS;

use crate::order::replay::Replay;
use halide::counts::FuncCounts;
use halide::findings::Finding;
use halide::inspect::Inspection;
use halide::profile::Profile;
use serde_json::{Value, json};

/// The version of the form of the data. A reader ignores keys that it does not know.
pub const VERSION: u32 = 1;

/// The subject of a report: what was compiled, and what is known of its runs.
pub struct Subject<'a> {
    /// The first line of the page: `blur · tiles`.
    pub title: String,
    /// Names and values for the head of the page, in order.
    pub facts: Vec<(String, String)>,
    /// The error that ended the run, if one did.
    pub fault: Option<String>,
    /// What was compiled.
    pub inspection: &'a Inspection,
    /// The schedule.
    pub schedule: ScheduleText,
    /// The samples of runs, with the counts of one.
    pub profile: Option<(&'a Profile, &'a [FuncCounts])>,
    /// One run alone, whose threads and memory are shown over time.
    pub moments: Option<&'a Profile>,
    /// A small run step by step, and a line that says how small.
    pub order: Option<(&'a Replay, String)>,
    /// The roofs of the machine and the points of Funcs, as data in the form of the schema.
    pub roofline: Option<(Value, Value)>,
    /// Findings about the schedule.
    pub findings: Option<&'a [Finding]>,
    /// Reads a file of the source; `None` where it is not there, or not to be shown.
    pub source: &'a dyn Fn(&str) -> Option<String>,
}

/// A schedule as its places know it.
pub struct ScheduleText {
    /// Its name.
    pub name: String,
    /// The name that places of directives have as their file.
    pub file: String,
    /// The text.
    pub text: String,
}

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
        "graph": graph::graph(inspection, subject.profile.map(|(_, counts)| counts)),
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
    add("profile", subject.profile.map(|(profile, counts)| run::profile(profile, counts, subject.moments)));
    add("order", subject.order.as_ref().map(|(replay, schematic)| order::order(replay, schematic)));
    if let Some((machine, points)) = &subject.roofline {
        add("machine", Some(machine.clone()));
        add("roofline", Some(points.clone()));
    }
    add("findings", subject.findings.map(findings::rows));
    data
}

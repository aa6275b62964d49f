//! The subject of a report.

use crate::order::replay::Replay;
use halide::counts::FuncCounts;
use halide::findings::Finding;
use halide::inspect::Inspection;
use halide::profile::Profile;
use serde_json::Value;
use std::collections::BTreeMap;

/// The subject of a report: what was compiled, and what is known of its runs.
pub struct Subject<'a> {
    /// The first line of the page: `blur · tiles`.
    pub title: String,
    /// Names and values for the head of the page, in order.
    pub facts: Vec<(String, String)>,
    /// The error that ended the run, if one did.
    pub fault: Option<String>,
    /// The compiled pipeline.
    pub inspection: &'a Inspection,
    /// The schedule.
    pub schedule: ScheduleText,
    /// The samples of runs, with the counts of one.
    pub profile: Option<(&'a Profile, &'a [FuncCounts])>,
    /// The bytes of each image of the run, as far as they are known.
    pub image_bytes: BTreeMap<String, u64>,
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

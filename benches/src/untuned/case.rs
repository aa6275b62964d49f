//! The form of a pipeline that nobody tuned.

use halide::prelude::*;
use halide_apps::app::{App, NamedSchedule, Settings, Shows, Takes};
use halide_apps::input::Input;

/// A pipeline of this name; its schedule is the file of that name in `benches/schedules`.
pub(super) const fn untuned(
    name: &'static str,
    about: &'static str,
    schedules: &'static [NamedSchedule],
    pipeline: fn(&Settings) -> Result<Pipeline, AlgorithmErrors>,
    inputs: fn(&Settings, i64, i64) -> Vec<Input>,
    output: fn(&Settings, i64, i64) -> Vec<i64>,
    size: (i64, i64),
) -> App {
    App {
        name,
        about,
        settings: &[],
        takes: Takes::Nothing,
        shows: Shows::Nothing,
        schedules,
        pipeline,
        inputs,
        output,
        size,
        operations: None,
    }
}

/// The schedule of a file in `benches/schedules`.
macro_rules! plain {
    ($name:literal) => {
        &[NamedSchedule {
            name: "plain",
            file: concat!("benches/schedules/", $name, ".sched"),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/schedules/", $name, ".sched")),
        }]
    };
}
pub(super) use plain;

/// The sum of terms, of which there is one at least, from the first to the last.
pub(super) fn total(terms: impl IntoIterator<Item = Expr>) -> Expr {
    terms.into_iter().reduce(|a, b| a + b).unwrap_or_else(|| 0.expr())
}

//! Pipelines that nobody tuned: short programs in styles that no app has, under schedules that take a minute to write.
//! `benches/peers/untuned.py` has the same algorithms under the same schedules in Halide.

mod filters;
mod grids;
mod pixels;
#[cfg(test)]
mod tests;
mod transforms;

use halide::prelude::*;
use halide_apps::app::{App, NamedSchedule, Settings, Shows, Takes};
use halide_apps::input::Input;

/// The pipelines.
pub const UNTUNED: &[App] = &[
    filters::DILATED,
    filters::BINOMIAL,
    filters::HEAT,
    pixels::OVER,
    pixels::BLEND,
    pixels::COLORS,
    transforms::MATRICES,
    transforms::COSINES,
    transforms::HADAMARD,
    grids::FLOW,
    grids::GRADIENTS,
];

/// A pipeline of this name; its schedule is the file of that name in `benches/schedules`.
const fn untuned(
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
use plain;

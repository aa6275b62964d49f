//! The order of evaluation as an animation.

use super::super::args::CommonArgs;
use super::super::common::{Found, Runner};
use super::super::failure::Failure;
use super::super::terminal::busy;
use super::traced::traced;
use crate::app::App;
use crate::job::Job;
use halide_report::order::animation;

/// An animation of a schedule.
pub(super) struct Animated {
    /// The file.
    pub(super) gif: Vec<u8>,
    /// Its frames.
    pub(super) frames: usize,
    /// The run that it shows: `64 x 48 points of the output`.
    pub(super) shown: String,
}

/// Runs a small part of the job step by step, and draws the steps.
pub(super) fn animated(
    (app, job): (&'static App, &Job),
    runner: &Runner,
    name: &str,
    found: &Found,
    common: &CommonArgs,
) -> Result<Animated, Failure> {
    let (compiled, _) = busy("compiling", || runner.compile(job, &found.schedule, common))?;
    let traced = busy("tracing a small run", || traced((app, job), &compiled, common));
    let (replay, shown) = traced.map_err(|why| Failure(format!("the order of evaluation is not drawn: {why}")))?;
    let title = format!("{} by schedule {name}: {shown}", app.name);
    let drawn = busy("drawing", || {
        let frames = animation::titled_frames(&replay, &title);
        animation::gif(&frames).map(|gif| (gif, frames.len()))
    });
    let (gif, frames) = drawn.map_err(|error| Failure(error.to_string()))?;
    Ok(Animated { gif, frames, shown })
}

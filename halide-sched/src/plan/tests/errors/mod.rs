//! The text of every error.

mod gpu;
mod hints;
mod levels;
mod loops;
mod names;
mod namesakes;
mod reductions;
mod together;

use super::{TARGET, parse};
use crate::plan::resolve;
use expect_test::Expect;
use halide_core::pipeline::Pipeline;

/// The errors of a schedule for the blur of two stages.
fn check_blur(schedule: &str, expected: Expect) {
    check(&super::samples::blur(), schedule, expected);
}

fn check(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    let errors = resolve(pipeline, &parse(schedule), &TARGET).map(drop).expect_err(schedule);
    let text: Vec<String> = errors.iter().map(|e| format!("{e}")).collect();
    expected.assert_eq(&text.join("\n"));
}

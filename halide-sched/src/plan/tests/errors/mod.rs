//! The text of every error.

mod gpu;
mod hints;
mod levels;
mod loops;
mod names;
mod together;

use super::{TARGET, parse};
use crate::plan::resolve;
use expect_test::Expect;
use halide_core::pipeline::Pipeline;

fn check(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    let errors = resolve(pipeline, &parse(schedule), &TARGET).expect_err(schedule);
    let text: Vec<String> = errors.iter().map(|e| format!("{e}")).collect();
    expected.assert_eq(&text.join("\n"));
}

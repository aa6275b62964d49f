//! Text that nobody vetted: parsers never panic, and what they accept prints as text that reads the same.

use crate::case::TARGET;
use halide::ir::{Expr, Program, Stage, Stmt, verify::verify};
use halide::prelude::*;
use halide_testing::pipelines::{PipelineOptions, Random, random_pipeline};
use halide_testing::programs;
use halide_testing::schedules::random::{RandomOptions, random_schedule};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Any text as a schedule.
pub fn schedule(text: &str) -> Result<(), String> {
    match text.parse::<Schedule>() {
        Err(mistakes) if mistakes.0.is_empty() => Err("refused without a mistake".into()),
        Err(_) => Ok(()),
        Ok(schedule) => again(&schedule),
    }
}

/// Any text as an expression, a statement and a program of loop IR; programs are verified too.
pub fn ir(text: &str) -> Result<(), String> {
    text.parse::<Expr>().map_or(Ok(()), |e| again(&e))?;
    text.parse::<Stmt>().map_or(Ok(()), |s| again(&s))?;
    let Ok(program) = text.parse::<Program>() else { return Ok(()) };
    // Only that it answers: text may say what no pass would.
    let _ = verify(&program);
    again(&program)
}

/// Prints and reads.
fn again<T: FromStr<Err: Display> + Display + PartialEq + Debug>(value: &T) -> Result<(), String> {
    let text = value.to_string();
    match text.parse::<T>() {
        Ok(read) if read == *value => Ok(()),
        Ok(read) => Err(format!("`{text}` reads as `{read}`")),
        Err(e) => Err(format!("`{text}` does not read: {e}")),
    }
}

/// The text of a random schedule, with mistakes.
pub fn random_schedule_text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let pipeline = random_pipeline(
        random.bits(),
        PipelineOptions { stages: 4, exact: random.one_in(2), ..PipelineOptions::default() },
    );
    let options = RandomOptions { any_shape: true, long: true, floats: true, ..RandomOptions::default() };
    let text = random_schedule(&pipeline, &TARGET, random.bits(), options).to_string();
    with_mistakes(&text, &mut random)
}

/// The text of a random program, statement or expression of loop IR, with mistakes.
pub fn random_ir_text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let stage = random.pick(&[Stage::Nest, Stage::Bounded, Stage::Flat, Stage::Shaped, Stage::Final]);
    let program = programs::program(&mut programs::Random::new(random.bits()), stage, 12);
    let text = if random.one_in(3) { program.body.to_string() } else { program.to_string() };
    with_mistakes(&text, &mut random)
}

/// Some characters or words changed, lost, doubled, repeated or moved; one time in eight nothing.
pub fn with_mistakes(text: &str, random: &mut Random) -> String {
    const BITS: [&str; 26] = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        ".",
        "-",
        "#",
        "\"",
        "\n",
        " ",
        "0",
        "9",
        "99999999999999999999",
        "1e400",
        "-1",
        "x",
        "where",
        "@",
        "\\",
        "\u{0}",
        "\u{e9}",
        "1.5",
    ];
    let mut text: Vec<char> = text.chars().collect();
    if random.one_in(8) {
        return text.into_iter().collect();
    }
    for _ in 0..1 + random.below(4) {
        let (at, other) = (random.below(text.len() + 1), random.below(text.len() + 1));
        let (from, to) = (at.min(other), at.max(other).min(at.min(other) + 12));
        match random.below(6) {
            0 => drop(text.drain(from..to)),
            1 => drop(text.splice(at..at, random.pick(&BITS).chars())),
            2 => {
                let part = text[from..to].to_vec();
                drop(text.splice(at..at, part));
            }
            3 => drop(text.splice(from..to, random.pick(&BITS).chars())),
            // Deep, or long: nobody writes that, so nothing but a limit keeps it from the stack.
            4 => {
                let part = text[from..to].repeat(1 << random.below(12));
                drop(text.splice(from..to, part));
            }
            _ => text.truncate(at.max(text.len() / 2)),
        }
    }
    text.into_iter().collect()
}

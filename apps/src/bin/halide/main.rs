//! The command line `halide`: runs apps on images, swaps their schedules, times and checks them.

mod args;
mod common;
mod compare;
mod html;
mod list;
mod report;
mod run;

use args::{Cli, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// What ends a command early: a text of at most a screen for stderr, and exit status 1.
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::List { json } => list::list(json),
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::compare(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(text)) => {
            eprintln!("error: {}", one_screen(&text));
            ExitCode::FAILURE
        }
    }
}

/// The text, cut after a screen's worth of lines.
fn one_screen(text: &str) -> String {
    const LINES: usize = 20;
    let count = text.lines().count();
    let mut lines: Vec<String> = text.lines().take(LINES).map(str::to_string).collect();
    if count > LINES {
        lines.push(format!("... and {} more lines", count - LINES));
    }
    lines.join("\n")
}

/// Writes a text and a line end to stdout. A reader that has seen enough (`halide list | head -1`) is no failure.
pub(crate) fn say(text: impl Display) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}

/// Ends the process as clap does for a wrong command line, with exit status 2.
pub(crate) fn usage_error(text: &str) -> ! {
    Cli::command().error(ErrorKind::ArgumentConflict, text).exit()
}

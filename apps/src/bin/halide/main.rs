//! The command line `halide`: runs apps on images, swaps their schedules, times and checks them.

mod args;
mod auto;
mod common;
mod compare;
mod completions;
mod examples;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "without_gpu.rs"]
mod gpu;
mod html;
mod list;
mod machine;
mod output;
mod report;
mod run;
mod terminal;
mod tune;

use args::{Cli, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

pub(crate) use terminal::say;

/// A failure that ends a command early: a text of at most a screen for stderr, and exit status 1.
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

fn main() -> ExitCode {
    bound_threads();
    let result = match Cli::parse().command {
        Command::List { json } => list::list(json),
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Auto(args) => auto::auto(&args),
        Command::Tune(args) => tune::tune(&args),
        Command::Machine(args) => machine::machine(&args),
        Command::Completions { shell } => completions::completions(shell),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(text)) => {
            terminal::error(&one_screen(&text));
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

/// Starts the threads of parallel loops: as many as the environment asks for, but no more than are of any use.
fn bound_threads() {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let most = (8 * cores).max(64);
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse::<usize>().ok());
    if asked.is_some_and(|asked| asked > most) {
        let text = "RAYON_NUM_THREADS asks for more threads than are of use here;";
        terminal::note(format!("{text} {most} are started"));
        // Nobody has started them yet, so this does not fail; if it did, there would be others.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(most).build_global();
    }
}

/// Ends the process as clap does for a wrong command line, with exit status 2.
pub(crate) fn usage_error(text: &str) -> ! {
    Cli::command().error(ErrorKind::ArgumentConflict, text).exit()
}

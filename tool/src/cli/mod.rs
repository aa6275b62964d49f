//! The command line: runs apps on images, swaps their schedules, times and checks them.

mod args;
mod args_common;
mod args_lint;
mod args_report;
mod args_timing;
mod auto;
mod bench;
mod changes;
mod check;
mod common;
mod compare;
mod completions;
mod describe;
mod examples;
mod failure;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "without_gpu.rs"]
mod gpu;
mod help;
mod kept_machine;
mod limit;
mod lint;
mod list;
mod machine;
mod map;
mod new;
mod output;
mod outputs;
mod profile;
mod report;
mod run;
mod runners;
mod sources;
mod stamp;
mod terminal;
mod tool;
mod tune;
mod turns;
mod utc;
mod watch;
mod why;

use args::{Cli, Command};
use clap::FromArgMatches;
use failure::Failure;
use std::process::ExitCode;

pub use tool::Tool;

impl Tool {
    /// Does what the arguments of the process say; its main function. Failures are told on stderr.
    pub fn main(&self) -> ExitCode {
        bound_threads();
        let matches = self.command().get_matches_from(self.with_app(std::env::args_os().collect()));
        let command = match Cli::from_arg_matches(&matches) {
            Ok(cli) => cli.command,
            Err(error) => error.exit(),
        };
        let result = match command {
            Command::List { json } => list::list(self, json),
            Command::Run(args) => run::run(self, &args),
            Command::Compare(args) => compare::compare(self, &args),
            Command::Check(args) => check::check(self, &args),
            Command::Auto(args) => auto::auto(self, &args),
            Command::Tune(args) => tune::tune(self, &args),
            Command::Watch(args) => watch::watch(self, &args),
            Command::Lint(args) => lint::lint(self, &args),
            Command::Why(args) => why::why(self, &args),
            Command::Bench(args) => bench::bench(self, &args),
            Command::Report(args) => report::report(self, &args),
            Command::New(args) => new::new(self, &args),
            Command::Map(args) => map::map(self, &args),
            Command::Machine(args) => machine::machine(&args),
            Command::Completions { shell } => completions::completions(self, shell),
            Command::Help { command, word } => help::help(self, command.as_deref(), word.as_deref()),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(Failure(text)) => {
                terminal::error(&one_screen(&text));
                ExitCode::FAILURE
            }
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

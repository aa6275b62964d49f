//! The command line: runs apps on images, swaps their schedules, times and checks them.

mod args;
mod auto;
mod check;
mod common;
mod compare;
mod completions;
mod examples;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "without_gpu.rs"]
mod gpu;
mod help;
mod html;
mod list;
mod machine;
mod new;
mod output;
mod report;
mod run;
mod terminal;
mod tune;

use crate::app::App;
use args::{Cli, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use terminal::say;

/// A failure that ends a command early: a text of at most a screen for stderr, and exit status 1.
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

/// A command line with its apps.
///
/// ```
/// use halide_tool::Tool;
/// let tool = Tool::new("empty", &[]);
/// assert!(tool.app("blur").is_none());
/// ```
#[derive(Clone, Copy)]
#[must_use = "a tool does nothing until its main function is called"]
pub struct Tool {
    name: &'static str,
    apps: &'static [App],
    sample: Option<&'static [u8]>,
}

impl Tool {
    /// The command line called `name`, of these apps. Where there is one alone, its name may be left out.
    pub const fn new(name: &'static str, apps: &'static [App]) -> Tool {
        Tool { name, apps, sample: None }
    }

    /// The tool with the photograph that apps run on where none is named: an image file as bytes.
    pub const fn sample(self, image: &'static [u8]) -> Tool {
        Tool { sample: Some(image), ..self }
    }

    /// The app called `name`.
    pub fn app(&self, name: &str) -> Option<&'static App> {
        self.apps.iter().find(|app| app.name == name)
    }

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
            Command::New(args) => new::new(self, &args),
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

    /// The command line as clap reads it.
    pub(crate) fn command(&self) -> clap::Command {
        let command = self.with_examples(Cli::command().name(self.name).bin_name(self.name));
        command.mut_subcommands(|subcommand| self.with_examples(subcommand))
    }

    /// The command with examples of this tool's apps alone.
    fn with_examples(&self, command: clap::Command) -> clap::Command {
        let text = command.get_after_help().map(ToString::to_string);
        let shown = text.and_then(|text| examples::of_tool(&text, self.name, self.apps));
        command.after_help(shown.unwrap_or_default())
    }

    /// The arguments with the name of the one app behind a subcommand that takes an app, unless it stands there.
    fn with_app(&self, mut args: Vec<OsString>) -> Vec<OsString> {
        let [app] = self.apps else { return args };
        let takes_app = args.get(1).is_some_and(|word| OF_AN_APP.iter().any(|known| word == known));
        let asks = |arg: &OsString| arg == app.name || arg == "--help" || arg == "-h";
        if takes_app && !args.get(2).is_some_and(asks) {
            args.insert(2, app.name.into());
        }
        args
    }
}

/// The subcommands that begin with the name of an app.
pub(crate) const OF_AN_APP: [&str; 5] = ["run", "compare", "check", "auto", "tune"];

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

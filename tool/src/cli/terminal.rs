//! Words on stdout and stderr: notes, errors and headings, in colours on a terminal, and lines that move meanwhile.
//! The environment variable NO_COLOR turns colours off.

use super::failure::Failure;
use anstream::{eprintln, stdout};
use clap::builder::styling::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
const HEADING: Style = Style::new().bold();

/// The time after which a line says what takes so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two pictures of a line that moves.
const TICK: Duration = Duration::from_millis(100);

/// Writes a note to stderr.
pub(crate) fn note(text: impl Display) {
    eprintln!("{NOTE}note:{NOTE:#} {}", escaped(&text.to_string()));
}

/// Writes an error to stderr.
pub(crate) fn error(text: &str) {
    eprintln!("{ERROR}error:{ERROR:#} {}", escaped(text));
}

/// Writes a text and a line end to stdout. A reader that has seen enough (`halide list | head -1`) is no failure.
pub(crate) fn say(text: impl Display) -> Result<(), Failure> {
    written(writeln!(io::stdout(), "{}", escaped(&text.to_string())))
}

/// Writes a text and a line end to stdout; returns false if its reader is gone.
pub(crate) fn say_to_reader(text: impl Display) -> Result<bool, Failure> {
    let result = writeln!(io::stdout(), "{}", escaped(&text.to_string()));
    let is_gone = result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
    written(result).map(|()| !is_gone)
}

/// Writes a heading and the rest of its line to stdout.
pub(crate) fn say_heading(heading: &str, rest: &str) -> Result<(), Failure> {
    written(writeln!(stdout(), "{HEADING}{}{HEADING:#}{}", escaped(heading), escaped(rest)))
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}

/// The text, in which nothing that came from a file controls the terminal. JSON stays what it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

/// A bar for `steps` steps on a terminal; nothing in a pipe.
pub(crate) fn progress(steps: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(steps).with_message(what.to_string());
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// A line that moves on a terminal; nothing in a pipe.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what.to_string());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
        bar.set_style(style);
    }
    bar
}

/// A line on a terminal that says what goes on, with another one `below` it; nothing in a pipe. It is empty as yet.
pub(crate) fn live(below: Option<&str>) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let template = below.map_or("{wide_msg}".to_string(), |below| format!("{{wide_msg}}\n{below}"));
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// Shows a text in the line that [`live`] made.
pub(crate) fn set_live(bar: &ProgressBar, text: &str) {
    bar.set_message(escaped(text).lines().collect::<Vec<_>>().join(" "));
    bar.tick();
}

/// Does `work`, which is of one step. Where it takes more than a second, a line says `what` is done meanwhile.
pub(crate) fn busy<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        let (working, is_done) = channel::<()>();
        scope.spawn(move || {
            if is_done.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let line = spinner(what).with_elapsed(PATIENCE);
            while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                line.tick();
            }
            line.finish_and_clear();
        });
        let result = work();
        // The line is gone before anything else is written.
        drop(working);
        result
    })
}

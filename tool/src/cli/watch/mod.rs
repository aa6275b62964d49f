//! `halide watch`: a schedule file, timed each time it is saved.
//!
//! One thread looks at the file ([`look`]), the main one compiles, runs and times its versions ([`session`]). A save
//! ends the run that goes on, so a row comes as soon as its version is compiled and has run once. While nothing else is
//! saved, the version takes turns with the best one and the first one ([`series`]), until its times are firm.
//!
//! **Right results.** The first version is held against the interpreter on parts of the output. Once one agrees in
//! every bit, later ones are compared with it, in every value ([`judge`]).
//!
//! **Reports.** A page asks for the report of a version on a thread of its own, and waits: the main thread makes it
//! when nothing is measured ([`reports`]).
//!
//! **Algorithms in Rust.** With `--cargo` a supervisor builds the crate when its sources change, and starts one program
//! after the other, each of which is a watch with the rows of those before it ([`cargo`]).
//!
//! **Nothing is left behind.** There are few threads, the code of the last 16 versions is kept ([`kept`]), and of each
//! save the newest content alone.

mod ask;
mod best_file;
mod cargo;
mod changes;
mod content;
mod file;
mod history;
mod judge;
mod kept;
mod keys;
mod look;
mod mailbox;
mod orders;
mod page;
mod reports;
mod row;
mod series;
mod session;
mod setting;
mod shown;
mod start;
mod state;
mod stopped;
#[cfg(unix)]
mod terminal;
#[cfg(not(unix))]
#[path = "without_terminal.rs"]
mod terminal;
mod versions;

use super::args::{self, WatchArgs};
use super::common;
use super::failure::Failure;
use super::tool::Tool;
use crate::app::App;
use crate::files;
use start::Begun;
use std::path::{Path, PathBuf};

/// The variable that names the file of a [`state::State`] to a program that a supervisor started.
const STATE: &str = "HALIDE_WATCH_STATE";

/// Shows a row for each save of a schedule file until Ctrl-C.
pub(crate) fn watch(tool: &Tool, args: &WatchArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    if args.file.is_some() && args.common.is_synthetic() {
        args::usage_error("with --random or --size there is no image to read");
    }
    check_file(app, &args.schedule)?;
    let state = std::env::var_os(STATE).map(PathBuf::from);
    match (args.cargo, state) {
        (false, _) => start::watch(tool, args, app, Begun::alone(args)),
        (true, Some(path)) => start::watch(tool, args, app, Begun::supervised(path)?),
        (true, None) => cargo::supervise(args, STATE),
    }
}

/// Refuses names that are no place for a file: a typing mistake would be waited for.
fn check_file(app: &App, path: &Path) -> Result<(), Failure> {
    if app.schedules.iter().any(|s| Path::new(s.name) == path) && !path.exists() {
        let (app, name) = (app.name, path.display());
        let remedy = format!("halide run {app} --schedule {name} --print schedule > {name}.sched");
        return Err(Failure(format!(
            "`{name}` is a schedule of `{app}`, and no file; write it to one and watch that: `{remedy}`"
        )));
    }
    match path.parent().filter(|folder| *folder != Path::new("")) {
        Some(folder) if !folder.is_dir() => {
            Err(Failure(format!("{}: there is no folder {}", files::shown(path), files::shown(folder))))
        }
        _ => Ok(()),
    }
}

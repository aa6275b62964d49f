//! `halide watch`: a schedule file, timed each time it is saved.
//!
//! One thread looks at the file ([`look`]), the main one compiles, runs and times its versions ([`session`]). A save
//! ends the run that goes on, so a row comes as soon as its version is compiled and has run once. While nothing else is
//! saved, the version takes turns with the best one and the first one ([`series`]), until its times are firm.
//!
//! **Right results.** The first version is held against the interpreter on parts of the output. Once one agrees in
//! every bit, later ones are compared with it, in every value ([`judge`]).
//!
//! **Nothing is left behind.** There is one thread, the code of the last 16 versions is kept ([`kept`]), and of each
//! save the newest content alone.

mod best_file;
mod changes;
mod content;
mod judge;
mod kept;
mod look;
mod mailbox;
mod page;
mod row;
mod series;
mod session;
mod setting;
mod shown;

use super::args::{self, Backend, WatchArgs};
use super::common::{self, Runner};
use super::failure::Failure;
use super::processor;
use super::stamp;
use super::terminal::note;
use super::tool::Tool;
use crate::app::App;
use crate::files;
use crate::serve::Server;
use content::Seen;
use halide::prelude::*;
use judge::Judge;
use look::Looking;
use mailbox::Mailbox;
use serde_json::json;
use session::Session;
use setting::Setting;
use shown::Shown;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The exit status of a process that Ctrl-C ends while it does not listen.
const INTERRUPTED: i32 = 130;

/// Shows a row for each save of a schedule file until Ctrl-C.
pub(crate) fn watch(tool: &Tool, args: &WatchArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    if args.file.is_some() && args.common.is_synthetic() {
        args::usage_error("with --random or --size there is no image to read");
    }
    check_file(app, &args.schedule)?;
    let server = args.serve.map(page::server).transpose()?;
    let schedule = match content::read(&args.schedule) {
        Seen::Text(text) => Schedule::parse_with(&text, "", args.numbers.set.iter().cloned()).ok(),
        _ => None,
    };
    let job = common::job(tool, app, &args.common, args.file.as_deref(), schedule.as_ref())?;
    let runner = Runner::new(args.backend, args.device.as_deref())?;
    let (interpreter, _) = Runner::new(Backend::Interp, None)?.compile(&job, &Schedule::new(), &args.common)?;
    let outputs = job.outputs()?;
    let mailbox = Arc::new(Mailbox::default());
    end_on_ctrl_c(&mailbox);

    let (algorithm, processor) = (stamp::algorithm(app, &args.common.params)?, processor::model());
    let setting = Setting { job: &job, args, runner: &runner, mailbox: &mailbox, algorithm, processor };
    let shown = start(&setting, server)?;
    let mut session = Session::new(setting, shown, outputs, Judge::new(interpreter));
    let end = args.lasts.and_then(|lasts| Instant::now().checked_add(lasts));
    let looking = Looking::start(&args.schedule, &mailbox, end)?;
    while !mailbox.is_over() && !session.is_done() {
        match mailbox.take() {
            Some(saved) => session.saved(saved)?,
            None if session.is_measuring() => session.round()?,
            None => mailbox.wait(Duration::from_secs(60)),
        }
    }
    drop(looking);
    session.end()
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

/// Ends the watch on Ctrl-C: a second one does not wait for what is compiled.
fn end_on_ctrl_c(mailbox: &Arc<Mailbox>) {
    let mailbox = mailbox.clone();
    let end = move || {
        if mailbox.end() {
            std::process::exit(INTERRUPTED);
        }
    };
    if let Err(error) = ctrlc::set_handler(end) {
        note(format!("Ctrl-C ends halide at once: {error}"));
    }
}

/// Says what is watched.
fn start(setting: &Setting<'_>, server: Option<Server>) -> Result<Shown, Failure> {
    let Setting { job, args, algorithm, processor, .. } = setting;
    let (width, height) = job.size;
    let (threads, file) = (common::threads(&args.common), files::shown(&args.schedule));
    let mut shown = Shown::new(args.json, server);
    let facts = json!({
        "event": "start", "app": job.app.name, "file": file, "size": [width, height], "threads": threads,
        "processor": processor, "algorithm": algorithm, "url": shown.url(),
    });
    let title = format!("{} {width}x{height}, {threads} threads, on {processor}; watching {file}", job.app.name);
    shown.start(&title, &facts)?;
    Ok(shown)
}

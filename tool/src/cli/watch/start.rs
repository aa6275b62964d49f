//! The beginning of a watch: everything that it needs, and the loop of its main thread.

use super::super::args::{Backend, WatchArgs};
use super::super::common::{self, Runner};
use super::super::failure::Failure;
use super::super::stamp;
use super::super::terminal::note;
use super::super::tool::Tool;
use super::ask::reporter;
use super::content::{self, Seen};
use super::judge::Judge;
use super::keys;
use super::look::Looking;
use super::mailbox::Mailbox;
use super::orders;
use super::page;
use super::session::Session;
use super::setting::Setting;
use super::shown::Shown;
use super::state::State;
use super::stopped::Stopped;
use super::terminal::{Keys, Terminal};
use crate::app::App;
use crate::files;
use crate::job::Job;
use crate::processor;
use crate::serve::Server;
use halide::prelude::*;
use serde_json::json;
use std::io::stdin;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The exit status of a process that Ctrl-C ends while it does not listen.
pub(super) const INTERRUPTED: i32 = 130;

/// The way in which a watch begins.
pub(super) struct Begun {
    /// The file for the rows, where there is a supervisor.
    path: Option<PathBuf>,
    state: State,
    terminal: Option<Arc<Terminal>>,
}

impl Begun {
    /// The beginning of a watch of its own. Readers of JSON press no keys.
    pub(super) fn alone(args: &WatchArgs) -> Begun {
        let terminal = if args.json { None } else { Terminal::open() };
        Begun { path: None, state: State { program: 1, ..State::default() }, terminal }
    }

    /// The beginning of a watch that a supervisor started.
    ///
    /// # Errors
    /// The file is not its.
    pub(super) fn supervised(path: PathBuf) -> Result<Begun, Failure> {
        let state = State::read(&path).map_err(|text| Failure(format!("{}: {text}", files::shown(&path))))?;
        Ok(Begun { path: Some(path), state, terminal: None })
    }

    /// Returns true if there were other programs before.
    fn is_resumed(&self) -> bool {
        self.state.program > 1
    }
}

/// The things that versions are run with.
struct Tools {
    job: Job,
    runner: Runner,
    judge: Judge,
    outputs: Vec<AnyBuffer>,
    algorithm: String,
}

/// Watches the file until the end.
pub(super) fn watch(tool: &Tool, args: &WatchArgs, app: &'static App, mut begun: Begun) -> Result<(), Failure> {
    let mailbox = Arc::new(Mailbox::default());
    let post = mailbox.clone();
    let port = begun.state.port.or(args.serve);
    let server = port.map(|port| page::server(port, reporter(move |ask| post.ask(ask)))).transpose()?;
    let tools = tools(tool, args, app);
    if !begun.is_resumed()
        && let Err(failure) = tools
    {
        return Err(failure);
    }
    begun.state.port = server.as_ref().map(Server::port);
    begun.state.ready = begun.state.program;
    let has_keys = begun.terminal.is_some() || begun.state.has_keys;
    let shown = Shown::new(args.json, server, has_keys.then_some(keys::LINE));
    let _keys = listen(&begun, &mailbox)?;
    match tools {
        Ok(tools) => watch_with(args, app, tools, begun, (shown, &mailbox)),
        Err(Failure(text)) => Stopped::new(args, begun.path.as_deref(), begun.state, shown).wait(text, &mailbox),
    }
}

/// Watches the file with all that is needed.
fn watch_with(
    args: &WatchArgs,
    app: &'static App,
    tools: Tools,
    begun: Begun,
    (mut shown, mailbox): (Shown, &Arc<Mailbox>),
) -> Result<(), Failure> {
    let Tools { job, runner, judge, outputs, algorithm } = tools;
    let (algorithm, processor) = (&algorithm[..], &processor::model()[..]);
    let (job, runner, state) = (&job, &runner, begun.path.as_deref());
    let setting = Setting { app, job, args, runner, mailbox, algorithm, processor, state };
    say_start(&setting, &begun, &mut shown)?;
    shown.resume(&begun.state.shown);
    if let Err(text) = setting.keep(&begun.state) {
        shown.note(text);
    }
    // A supervisor knows by itself when the time is over.
    let lasts = args.lasts.filter(|_| state.is_none());
    let end = lasts.and_then(|lasts| Instant::now().checked_add(lasts));
    let mut session = Session::new(setting, shown, outputs, judge, begun.state);
    let looking = Looking::start(&args.schedule, mailbox, end)?;
    while !mailbox.is_over() && !session.is_done() {
        if mailbox.take_revert() {
            session.revert();
        }
        match mailbox.take() {
            Some(saved) => session.saved(saved)?,
            None if session.is_measuring() && !mailbox.is_paused() => session.round()?,
            None => match mailbox.take_ask() {
                Some(ask) => session.answer(ask)?,
                None => mailbox.wait(Duration::from_secs(60)),
            },
        }
    }
    drop(looking);
    session.end()
}

/// Makes what versions are run with.
fn tools(tool: &Tool, args: &WatchArgs, app: &'static App) -> Result<Tools, Failure> {
    let schedule = match content::read(&args.schedule) {
        Seen::Text(text) => Schedule::parse_with(&text, "", args.numbers.set.iter().cloned()).ok(),
        _ => None,
    };
    let job = common::job(tool, app, &args.common, args.file.as_deref(), schedule.as_ref())?;
    let runner = Runner::new(args.backend, args.device.as_deref())?;
    let (interpreter, _) = Runner::new(Backend::Interp, None)?.compile(&job, &Schedule::new(), &args.common)?;
    let outputs = job.outputs()?;
    let algorithm = stamp::algorithm(app, &args.common.params)?;
    Ok(Tools { job, runner, judge: Judge::new(interpreter), outputs, algorithm })
}

/// Listens to whoever tells the watch what to do: Ctrl-C, keys, or a supervisor.
fn listen(begun: &Begun, mailbox: &Arc<Mailbox>) -> Result<Option<Keys>, Failure> {
    end_on_ctrl_c(mailbox, begun.terminal.clone());
    let post = mailbox.clone();
    if begun.path.is_some() {
        let follow = move || orders::follow(stdin().lock(), &post);
        thread::Builder::new().name("halide-orders".into()).spawn(follow)?;
        return Ok(None);
    }
    let start = |terminal| Keys::start(terminal, move |key| orders::press(key, &post));
    Ok(begun.terminal.as_ref().map(start).transpose()?)
}

/// Ends the watch on Ctrl-C: a second one does not wait for what is compiled.
fn end_on_ctrl_c(mailbox: &Arc<Mailbox>, terminal: Option<Arc<Terminal>>) {
    let mailbox = mailbox.clone();
    let end = move || {
        if mailbox.end() {
            if let Some(terminal) = &terminal {
                terminal.restore();
            }
            std::process::exit(INTERRUPTED);
        }
    };
    if let Err(error) = ctrlc::set_handler(end) {
        note(format!("Ctrl-C ends halide at once: {error}"));
    }
}

/// Says what is watched.
fn say_start(setting: &Setting<'_>, begun: &Begun, shown: &mut Shown) -> Result<(), Failure> {
    let Setting { job, args, algorithm, processor, .. } = setting;
    let (width, height) = job.size;
    let (threads, file) = (common::threads(&args.common), files::shown(&args.schedule));
    let program = begun.state.program;
    let facts = json!({
        "event": "start", "app": job.app.name, "file": file, "size": [width, height], "threads": threads,
        "processor": processor, "algorithm": algorithm, "url": shown.url(), "program": program,
    });
    let title = format!("{} {width}x{height}, {threads} threads, on {processor}; watching {file}", job.app.name);
    let title = if begun.is_resumed() { format!("program {program}: {title}") } else { title };
    shown.start(&title, &facts, !begun.is_resumed())
}

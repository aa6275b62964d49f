//! `halide watch --cargo`: a supervisor that builds the crate when its sources change, and starts one program after the
//! other. Each watches the schedule file with the rows of those before it, which stand in a file ([`State`]).
//!
//! While cargo builds, nothing is timed. A build that fails is a row, and the program goes on. The supervisor reads the
//! keys of the terminal, so a program that crashes leaves it as it was; such an end is a row, too. When the supervisor
//! ends, orders end, and with them the program.

mod build;
mod messages;
mod program;
mod sources;
mod target;

use super::super::args::WatchArgs;
use super::super::failure::Failure;
use super::super::terminal::{busy, note, say};
use super::keys::Key;
use super::orders::Order;
use super::row::{Outcome, Row};
use super::start::INTERRUPTED;
use super::state::State;
use super::terminal::{Keys, Terminal};
use build::{Build, Built};
use program::Program;
use sources::{Marks, Sources};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};
use target::Target;

/// The time between two looks at everything.
const TICK: Duration = Duration::from_millis(30);

/// The end of a supervisor: all is well, or the status of the program that ended.
type End = Option<i32>;

/// A supervisor of programs.
struct Supervisor<'a> {
    args: &'a WatchArgs,
    target: Target,
    variable: &'a str,
    /// The file for the rows.
    state: &'a Path,
    has_keys: bool,
    /// The number of the last program.
    number: u64,
    program: Option<Program>,
    /// The marks of its file when it was started.
    marks: Option<Marks>,
    /// The program that is started when the one that runs has ended.
    next: Option<PathBuf>,
    build: Option<Build>,
    /// True if sources changed since the build began.
    is_stale: bool,
    is_over: Arc<AtomicBool>,
}

/// Builds and starts programs until the end. `variable` names the file for the rows to them.
pub(super) fn supervise(args: &WatchArgs, variable: &str) -> Result<(), Failure> {
    if cfg!(windows) {
        let text = "a program that runs cannot be built again on this system; start the watch again after a build";
        return Err(Failure(format!("--cargo: {text}")));
    }
    let (exe, here) = (std::env::current_exe()?, std::env::current_dir()?);
    let target = Target::new(&exe, &here, args.manifest_path.as_deref(), args.features.as_deref())?;
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state.json");
    let terminal = if args.json { None } else { Terminal::open() };
    let is_over = Arc::new(AtomicBool::new(false));
    end_on_ctrl_c(&is_over, terminal.clone());
    let (press, keys) = channel();
    // A key after the end is nobody's.
    let start = |terminal| Keys::start(terminal, move |key| press.send(key).unwrap_or(()));
    let listening = terminal.as_ref().map(start).transpose()?;
    let mut supervisor = Supervisor {
        args,
        target,
        variable,
        state: &state,
        has_keys: listening.is_some(),
        number: 0,
        program: None,
        marks: None,
        next: None,
        build: None,
        is_stale: false,
        is_over,
    };
    let end = supervisor.run(&exe, &keys);
    drop(listening);
    drop(supervisor);
    drop(folder);
    match end? {
        None => Ok(()),
        Some(code) => std::process::exit(code),
    }
}

/// Ends all on Ctrl-C, which the program hears as well; a second one does not wait for it.
fn end_on_ctrl_c(is_over: &Arc<AtomicBool>, terminal: Option<Arc<Terminal>>) {
    let is_over = is_over.clone();
    let end = move || {
        if is_over.swap(true, Ordering::Relaxed) {
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

impl Supervisor<'_> {
    /// Builds once, starts the program, and goes on until the end.
    fn run(&mut self, exe: &Path, keys: &Receiver<Key>) -> Result<End, Failure> {
        let until = self.args.lasts.and_then(|lasts| Instant::now().checked_add(lasts));
        let mut sources = Sources::new(&self.target.folder(), Instant::now());
        let first = busy("cargo build", || self.first_build());
        match first {
            Built::Program(built) => self.start(&built)?,
            Built::Failed(text) => {
                // The program that runs was built from sources that were right.
                self.start(exe)?;
                self.order(&Order::Defect(text));
            }
            Built::Broken(_) if self.has_ended() => return Ok(None),
            Built::Broken(text) => return Err(Failure(text)),
        }
        loop {
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if is_late || self.has_ended() || self.has_rows() {
                return self.end();
            }
            for key in keys.try_iter() {
                match &mut self.program {
                    Some(program) => program.order(&Order::Press(key)),
                    None if key == Key::Quit => return self.end(),
                    None => {}
                }
            }
            if sources.look(Instant::now()) {
                self.begin_build()?;
            }
            if let Some(build) = self.build.take_if(|build| build.is_over()) {
                self.built(build.result())?;
            }
            let status = self.program.as_mut().map(Program::status).transpose()?.flatten();
            if let Some(status) = status
                && let Some(end) = self.exited(status)?
            {
                return Ok(end);
            }
            sleep(TICK);
        }
    }

    fn has_ended(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns true if no program runs, and there are as many rows as were asked for.
    fn has_rows(&self) -> bool {
        let is_enough = |most: u64| State::read(self.state).is_ok_and(|state| state.rows >= most);
        self.program.is_none() && self.args.saves.is_some_and(is_enough)
    }

    /// Builds before there is a program.
    fn first_build(&self) -> Built {
        let mut build = match Build::start(&self.target) {
            Ok(build) => build,
            Err(text) => return Built::Broken(text),
        };
        while !build.is_over() {
            if self.has_ended() {
                build.kill();
                return Built::Broken("it was ended".to_string());
            }
            sleep(TICK);
        }
        build.result()
    }

    /// Starts a build, during which nothing is timed. One that goes on is followed by another one.
    fn begin_build(&mut self) -> Result<(), Failure> {
        self.is_stale = self.build.is_some();
        if self.is_stale {
            return Ok(());
        }
        self.order(&Order::Pause);
        match Build::start(&self.target) {
            Ok(build) => self.build = Some(build),
            Err(text) => self.built(Built::Broken(text))?,
        }
        Ok(())
    }

    /// Goes on after a build: with another program, or with a row that says why there is none.
    fn built(&mut self, built: Built) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_stale) {
            return self.begin_build();
        }
        match built {
            Built::Program(exe) if self.program.is_none() => self.start(&exe),
            Built::Program(exe) if Marks::new(&exe) == self.marks => {
                self.order(&Order::GoOn);
                Ok(())
            }
            Built::Program(exe) => {
                self.next = Some(exe);
                self.order(&Order::HandOver);
                Ok(())
            }
            Built::Failed(text) | Built::Broken(text) if self.program.is_none() => self.row(text),
            Built::Failed(text) | Built::Broken(text) => {
                self.order(&Order::Defect(text));
                self.order(&Order::GoOn);
                Ok(())
            }
        }
    }

    fn order(&mut self, order: &Order) {
        if let Some(program) = &mut self.program {
            program.order(order);
        }
    }

    /// Starts a program with the rows so far.
    fn start(&mut self, exe: &Path) -> Result<(), Failure> {
        self.number += 1;
        let mut state = self.rows();
        (state.program, state.has_keys) = (self.number, self.has_keys);
        state.write(self.state).map_err(Failure)?;
        self.marks = Marks::new(exe);
        match Program::start(exe, (self.variable, self.state)) {
            Ok(program) => self.program = Some(program),
            Err(error) if self.number == 1 => return Err(error.into()),
            Err(error) => self.row(format!("the program does not start: {error}"))?,
        }
        Ok(())
    }

    /// The rows so far. A file that a crash left broken is none.
    fn rows(&self) -> State {
        State::read(self.state).unwrap_or_default()
    }

    /// Goes on after the end of the program: with the next one, to the end, or with a row.
    fn exited(&mut self, status: ExitStatus) -> Result<Option<End>, Failure> {
        self.program = None;
        if let Some(exe) = self.next.take() {
            self.start(&exe)?;
            return Ok(None);
        }
        let has_begun = self.rows().ready > 0;
        match status.code() {
            Some(0) => Ok(Some(None)),
            // Its own words are on stderr, as without a supervisor.
            code if !has_begun || code == Some(INTERRUPTED) => Ok(Some(Some(code.unwrap_or(1)))),
            _ => {
                self.row(format!("the program ended with {status}; it starts again when its sources change"))?;
                Ok(None)
            }
        }
    }

    /// Shows a row while there is no program that does.
    fn row(&self, text: String) -> Result<(), Failure> {
        let mut state = self.rows();
        let outcome = Outcome::Error { text, goes_on: None };
        let row = Row { number: state.rows + 1, saved: SystemTime::now(), is_done: true, outcome };
        state.add(&row);
        state.write(self.state).map_err(Failure)?;
        if self.args.json { say(row.json()) } else { say(row.text()) }
    }

    /// Ends the build and the program that go on.
    fn end(&mut self) -> Result<End, Failure> {
        if let Some(build) = self.build.take() {
            build.kill();
        }
        let status = self.program.as_mut().map(Program::end).transpose()?;
        Ok(status.filter(|status| !status.success()).map(|status| status.code().unwrap_or(1)))
    }
}

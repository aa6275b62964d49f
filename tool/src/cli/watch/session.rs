//! The versions of a watched schedule: compiled, run, judged and timed, a row each.

use super::super::common::{Bench, threads, timed};
use super::super::failure::Failure;
use super::super::outputs;
use super::super::stamp;
use super::ask::Ask;
use super::best_file::BestFile;
use super::content::{self, Seen};
use super::file;
use super::history::Fate;
use super::judge::{Judge, Verdict};
use super::kept::Version;
use super::mailbox::Saved;
use super::reports::{NoReport, Reports};
use super::row::{Outcome, Row, Standing, Timed};
use super::series::{Ran, Series};
use super::setting::Setting;
use super::shown::Shown;
use super::state::State;
use super::versions::{Best, Versions};
use crate::files;
use crate::samples::Samples;
use crate::serve::Answer;
use crate::serve::path::Form;
use halide::prelude::*;
use indicatif::ProgressBar;
use std::time::{Duration, Instant, SystemTime};

/// The time after which a version that never ran to its end has a row.
const LONG: Duration = Duration::from_secs(1);

/// A row that is still measured.
struct Open {
    number: u64,
    saved: SystemTime,
    timed: Timed,
    ran: Ran,
    /// The text of the file.
    text: String,
    series: Series,
}

impl Open {
    fn row(&self, is_done: bool) -> Row {
        let outcome = Outcome::Timed(Box::new(self.timed.clone()));
        Row { number: self.number, saved: self.saved, is_done, outcome }
    }
}

/// A watch that goes on.
pub(super) struct Session<'a> {
    setting: Setting<'a>,
    shown: Shown,
    outputs: Vec<AnyBuffer>,
    judge: Judge,
    versions: Versions,
    best_file: BestFile,
    /// The rows so far, which a program after this one goes on with.
    state: State,
    reports: Reports,
    open: Option<Open>,
    /// The version that was written back to the file, with its text.
    reverted: Option<(u64, String)>,
    /// The last note, which is not said again.
    noted: Option<String>,
}

impl<'a> Session<'a> {
    /// A watch with the rows of programs before this one.
    pub(super) fn new(
        setting: Setting<'a>,
        shown: Shown,
        outputs: Vec<AnyBuffer>,
        judge: Judge,
        state: State,
    ) -> Session<'a> {
        Session {
            best_file: BestFile::beside(&setting.args.schedule),
            setting,
            shown,
            outputs,
            judge,
            versions: Versions::default(),
            state,
            reports: Reports::default(),
            open: None,
            reverted: None,
            noted: None,
        }
    }

    /// Returns true once as many rows are done as were asked for, or nobody reads them any more.
    pub(super) fn is_done(&self) -> bool {
        let enough = self.setting.args.saves.is_some_and(|most| self.state.rows >= most && self.open.is_none());
        enough || !self.shown.is_read()
    }

    /// Returns true while a row is still measured.
    pub(super) fn is_measuring(&self) -> bool {
        self.open.is_some()
    }

    /// Makes a row of a save. A version has none if the next one is saved before it ran, unless it ran for long.
    pub(super) fn saved(&mut self, saved: Saved) -> Result<(), Failure> {
        self.close()?;
        if self.is_done() {
            return Ok(());
        }
        let started = Instant::now();
        let goes_on = self.versions.goes_on();
        let outcome = match &saved.seen {
            Seen::Gone => Outcome::Gone { goes_on },
            Seen::Defect(text) => Outcome::Error { text: text.clone(), goes_on },
            Seen::Text(text) => match self.version(text, &saved) {
                Ok(()) => return Ok(()),
                Err(_) if self.setting.mailbox.is_busy() && !self.setting.mailbox.has_news() => {
                    // A pause, or a defect of something else: this version has its turn afterwards.
                    self.setting.mailbox.put_back_save(saved);
                    return Ok(());
                }
                Err(_) if self.setting.mailbox.is_busy() => {
                    let time = started.elapsed();
                    if time < LONG || self.setting.mailbox.is_over() {
                        return Ok(());
                    }
                    let text = format!("no result after {:.1} s, when the next version was saved", time.as_secs_f64());
                    Outcome::Error { text, goes_on }
                }
                Err(Failure(text)) => Outcome::Error { text, goes_on },
            },
        };
        let number = self.state.rows + 1;
        if let Outcome::Error { text, .. } = &outcome {
            self.reports.add(number, Fate::Failed { text: text.clone(), goes_on });
        }
        self.done(&Row { number, saved: saved.at, is_done: true, outcome })?;
        self.rest();
        Ok(())
    }

    /// Shows a row that is done, and keeps it for a program after this one.
    fn done(&mut self, row: &Row) -> Result<(), Failure> {
        self.state.add(row);
        self.shown.row(row)?;
        let failed = self.setting.keep(&self.state).err();
        self.tell(failed);
        Ok(())
    }

    /// Compiles and runs a version, and opens its row.
    fn version(&mut self, text: &str, saved: &Saved) -> Result<(), Failure> {
        let name = files::shown(&self.setting.args.schedule);
        let schedule = Schedule::parse_with(text, &name, self.setting.args.numbers.set.iter().cloned())?;
        self.tell_stale(text, &name)?;
        self.shown.state("compiling");
        let (version, is_compiled) = self.compiled(schedule)?;
        self.shown.state("running");
        outputs::poison(&mut self.outputs)?;
        let Setting { job, mailbox, .. } = self.setting;
        let cancel = Some(mailbox.run());
        let bench = Bench { job, compiled: &version.compiled, threads: self.setting.threads(), cancel };
        let timing = bench.time(1, &mut self.outputs, &ProgressBar::hidden())?;
        let compile_ms = version.compile_ms + timing.variants_ms;
        let version = Version { compile_ms, ..version };
        self.versions.keep(&version);
        let is_loose = version.schedule.reassociates();
        let quick = self.judge.is_quick();
        let verdict = quick.then(|| self.judge.judge(job, &mut self.outputs, is_loose, &mailbox.run()));
        let number = self.state.rows + 1;
        let ran = Ran { version, ms: timing.min() };
        let (series, standing) = self.versions.series(&ran);
        let mut samples = Samples::default();
        samples.push(ran.ms);
        let changes = self.changes(&ran.version.schedule, text);
        let timed = Timed { changes, samples, standing, kept_as: None, compile_ms, is_compiled, verdict };
        self.versions.set_newest(number, &ran.version.schedule);
        self.state.rows = number;
        self.state.schedule = Some(ran.version.text.clone());
        self.reports.add(number, Fate::Ran { key: ran.version.text.clone(), text: text.to_string() });
        let (saved, text) = (saved.at, text.to_string());
        let open = self.open.insert(Open { number, saved, timed, ran, text, series });
        self.shown.row(&open.row(false))?;
        self.show_details();
        Ok(())
    }

    /// A version with its code, and true if it had to be compiled.
    fn compiled(&mut self, schedule: Schedule) -> Result<(Version, bool), Failure> {
        let text = schedule.to_string();
        if let Some(version) = self.versions.known(&text) {
            return Ok((version, false));
        }
        let Setting { job, runner, .. } = self.setting;
        let (compiled, compile_ms) = runner.compile(job, &schedule, self.setting.common())?;
        Ok((Version { text, schedule, compiled, compile_ms }, true))
    }

    /// Answers a request for a report, or leaves it for later where a save comes in between.
    pub(super) fn answer(&mut self, ask: Ask) -> Result<(), Failure> {
        self.shown.state("making a report");
        let (setting, versions) = (self.setting, &mut self.versions);
        let report = self.reports.report(ask.wanted(), &setting, &mut |text| versions.known(text));
        match (ask, report) {
            (ask, Err(NoReport::Ended)) => setting.mailbox.put_back(ask),
            (Ask::Send { form, reply, .. }, report) => {
                let answer = match (report, form) {
                    (Ok(data), Form::Page) => Answer::Page(halide_report::html::live(&data)),
                    (Ok(data), Form::Data) => Answer::Data(data.to_string()),
                    (Err(NoReport::Ended), _) => Answer::Busy,
                    (Err(NoReport::Missing(text)), _) => Answer::Missing(text),
                };
                // A page that is gone needs no answer.
                let _ = reply.send(answer);
            }
            (Ask::Write, Ok(data)) => self.shown.note(file::write_report(setting.job.app.name, data)),
            (Ask::Write, Err(NoReport::Missing(text))) => self.shown.note(text),
        }
        self.rest();
        Ok(())
    }

    /// Writes the best version back to the file, which then is saved like any other.
    pub(super) fn revert(&mut self) {
        let path = &self.setting.args.schedule;
        let name = files::shown(path);
        let Some(best) = &self.versions.best else {
            return self.shown.note(format!("{name} stays as it is: there is no best version yet"));
        };
        let number = best.number;
        if content::read(path) == Seen::Text(best.text.clone()) {
            return self.shown.note(format!("{name} is version {number}, the best, already"));
        }
        match file::write(path, &best.text) {
            Ok(()) => self.reverted = Some((number, best.text.clone())),
            Err(text) => self.shown.note(text),
        }
    }

    /// Gives the page the text and the loop nest of the open row.
    fn show_details(&self) {
        if let Some(open) = self.open.as_ref().filter(|_| self.shown.wants_details()) {
            let loops = open.ran.version.compiled.loops().unwrap_or_else(|error| error.to_string());
            self.shown.details(open.number, &open.text, &loops);
        }
    }

    /// Judges the open row by the interpreter, which takes so long that it is done when times are firm. Returns false
    /// if it was ended by a save.
    fn judge_slowly(&mut self) -> Result<bool, Failure> {
        let Setting { job, mailbox, .. } = self.setting;
        let Some(open) = self.open.as_mut().filter(|open| open.timed.verdict.is_none()) else { return Ok(true) };
        outputs::poison(&mut self.outputs)?;
        let (version, threads) = (&open.ran.version, self.setting.threads());
        let is_loose = version.schedule.reassociates();
        let verdict = match timed(job, &version.compiled, threads, Some(&mailbox.run()), &mut self.outputs) {
            Ok(_) => self.judge.judge(job, &mut self.outputs, is_loose, &mailbox.run()),
            Err(Failure(text)) => Verdict::Unchecked(text),
        };
        let is_ended = mailbox.is_busy() && matches!(verdict, Verdict::Unchecked(_));
        if !is_ended {
            open.timed.verdict = Some(verdict);
        }
        Ok(!is_ended)
    }

    /// The changes since the version before, behind the words for a version that is a special one.
    fn changes(&mut self, schedule: &Schedule, text: &str) -> Vec<String> {
        let reverted = self.reverted.take().filter(|(_, written)| written == text);
        let mut all: Vec<String> =
            reverted.map(|(number, _)| format!("reverted to version {number}")).into_iter().collect();
        if let (None, Some(program)) = (self.versions.goes_on(), self.setting.program(&self.state)) {
            all.push(program);
        }
        all.extend(self.versions.changes(schedule, text, self.state.schedule.as_deref()));
        all
    }

    /// Says that the stamp in a text is for another algorithm.
    fn tell_stale(&mut self, text: &str, name: &str) -> Result<(), Failure> {
        let Setting { job, .. } = self.setting;
        let note = stamp::stale(text, name, &job.app, &self.setting.common().params)?;
        self.tell(note);
        Ok(())
    }

    /// Says something, unless it was the last that was said.
    fn tell(&mut self, note: Option<String>) {
        if let Some(note) = note.filter(|note| self.noted.as_ref() != Some(note)) {
            self.shown.note(&note);
            self.noted = Some(note);
        }
    }

    /// One round more of the open row, which is closed when it is firm.
    pub(super) fn round(&mut self) -> Result<(), Failure> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Setting { job, mailbox, .. } = self.setting;
        let (threads, outputs) = (self.setting.threads(), &mut self.outputs);
        let round = open.series.round(|compiled| {
            let cancel = mailbox.run();
            timed(job, compiled, threads, Some(&cancel), outputs).map(|(ms, _)| ms)
        });
        match round {
            Ok(()) => {}
            Err(_) if mailbox.is_busy() => return Ok(()),
            Err(Failure(text)) => {
                self.tell(Some(format!("a later run failed: {text}")));
                return self.close();
            }
        }
        if let Some(samples) = open.series.samples() {
            open.timed.samples = samples.clone();
        }
        open.timed.standing = open.series.standing();
        if open.series.is_firm() {
            let is_judged = self.judge_slowly()?;
            return if is_judged { self.close() } else { Ok(()) };
        }
        // Of interest to a person; programs get the row when it is done.
        if !self.setting.args.json {
            self.shown.row(&open.row(false))?;
        }
        Ok(())
    }

    /// Ends the measurement of the open row: what is known of it by now is its result.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let is_handed_over = self.setting.mailbox.is_handed_over();
        let early = if is_handed_over { "another program took over before" } else { "it was saved again before" };
        open.timed.verdict.get_or_insert_with(|| Verdict::Unchecked(early.to_string()));
        let is_wrong = open.timed.verdict.as_ref().is_some_and(Verdict::is_wrong);
        if let Standing::Faster(delta) = open.timed.standing
            && is_wrong
        {
            open.timed.standing = Standing::Open(delta);
        }
        let ran = Ran { ms: open.timed.samples.min(), ..open.ran.clone() };
        let best = Best { number: open.number, ran, text: open.text.clone() };
        match open.timed.standing {
            Standing::First if !is_wrong => self.versions.set_best(best),
            Standing::Faster(_) => {
                self.versions.set_best(best);
                if open.series.beats_first() {
                    let written = self.best_file.write(&self.setting.best_text(&open.text, open.timed.samples.min()));
                    open.timed.kept_as = written.is_ok().then(|| self.best_file.name());
                    self.tell(written.err());
                }
            }
            _ => {}
        }
        if let Some(best) = &self.versions.best {
            self.state.best = Some((best.number, best.ran.ms));
        }
        self.done(&open.row(true))?;
        self.rest();
        Ok(())
    }

    /// Says in the line that moves that the next save is waited for.
    fn rest(&self) {
        let best = self.versions.best.as_ref();
        let best = best.map_or(String::new(), |best| format!("; the best is {}, {:.3} ms", best.number, best.ran.ms));
        let name = files::shown(&self.setting.args.schedule);
        let count = threads(self.setting.common());
        self.shown.state(&format!("watching {name}{best}; {count} threads; Ctrl-C ends it"));
    }

    /// Ends the watch.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        self.close()?;
        if self.setting.mailbox.is_handed_over() {
            self.shown.hand_over();
            return Ok(());
        }
        let count = self.state.rows;
        let rows = format!("{count} row{}", if count == 1 { "" } else { "s" });
        self.shown.end(&format!("{rows}{}", self.versions.words()))
    }
}

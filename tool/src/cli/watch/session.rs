//! The versions of a watched schedule: compiled, run, judged and timed, a row each.

use super::super::common::{Bench, threads, timed};
use super::super::failure::Failure;
use super::super::outputs;
use super::super::stamp;
use super::best_file::BestFile;
use super::changes::changes;
use super::content::Seen;
use super::judge::{Judge, Verdict};
use super::kept::{Kept, Version};
use super::mailbox::Saved;
use super::row::{Outcome, Row, Standing, Timed};
use super::series::{Ran, Series};
use super::setting::Setting;
use super::shown::Shown;
use crate::files;
use crate::samples::Samples;
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
    kept: Kept,
    best_file: BestFile,
    rows: u64,
    /// The first version that ran, with its row.
    first: Option<(u64, Ran)>,
    best: Option<(u64, Ran)>,
    /// The newest version that ran.
    newest: Option<(u64, Schedule)>,
    open: Option<Open>,
    /// The last note, which is not said again.
    noted: Option<String>,
}

impl<'a> Session<'a> {
    /// A watch without rows yet.
    pub(super) fn new(setting: Setting<'a>, shown: Shown, outputs: Vec<AnyBuffer>, judge: Judge) -> Session<'a> {
        let best_file = BestFile::beside(&setting.args.schedule);
        let (first, best, newest, open, noted) = (None, None, None, None, None);
        let kept = Kept::default();
        Session { setting, shown, outputs, judge, kept, best_file, rows: 0, first, best, newest, open, noted }
    }

    /// Returns true once as many rows are done as were asked for, or nobody reads them any more.
    pub(super) fn is_done(&self) -> bool {
        let enough = self.setting.args.saves.is_some_and(|most| self.rows >= most && self.open.is_none());
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
        let goes_on = self.newest.as_ref().map(|(number, _)| *number);
        let outcome = match &saved.seen {
            Seen::Gone => Outcome::Gone { goes_on },
            Seen::Defect(text) => Outcome::Error { text: text.clone(), goes_on },
            Seen::Text(text) => match self.version(text, &saved) {
                Ok(()) => return Ok(()),
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
        self.rows += 1;
        self.shown.row(&Row { number: self.rows, saved: saved.at, is_done: true, outcome })?;
        self.rest();
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
        self.kept.keep(&version);
        let is_loose = version.schedule.reassociates();
        let quick = self.judge.is_quick();
        let verdict = quick.then(|| self.judge.judge(job, &mut self.outputs, is_loose, &mailbox.run()));
        self.rows += 1;
        let ran = Ran { version, ms: timing.min() };
        let (best, first) = (self.best.as_ref(), self.first.as_ref());
        let series = Series::new(&ran, best.map(|(_, ran)| ran), first.map(|(_, ran)| ran));
        let standing = match (series.standing(), best) {
            // From single runs of different moments.
            (Standing::Open(_), Some((_, best))) => Standing::Open(ran.ms / best.ms - 1.0),
            (standing, _) => standing,
        };
        let mut samples = Samples::default();
        samples.push(ran.ms);
        let changes = self.changes(&ran.version.schedule, text);
        let timed = Timed { changes, samples, standing, kept_as: None, compile_ms, is_compiled, verdict };
        self.newest = Some((self.rows, ran.version.schedule.clone()));
        let (number, saved, text) = (self.rows, saved.at, text.to_string());
        let open = self.open.insert(Open { number, saved, timed, ran, text, series });
        self.shown.row(&open.row(false))?;
        self.show_details();
        Ok(())
    }

    /// A version with its code, and true if it had to be compiled.
    fn compiled(&mut self, schedule: Schedule) -> Result<(Version, bool), Failure> {
        let text = schedule.to_string();
        if let Some(version) = self.kept.get(&text) {
            return Ok((version, false));
        }
        // The best and the first are never given up.
        let pinned = [&self.best, &self.first].into_iter().flatten().find(|(_, ran)| ran.version.text == text);
        if let Some((_, ran)) = pinned {
            return Ok((ran.version.clone(), false));
        }
        let Setting { job, runner, .. } = self.setting;
        let (compiled, compile_ms) = runner.compile(job, &schedule, self.setting.common())?;
        Ok((Version { text, schedule, compiled, compile_ms }, true))
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

    /// The changes since the version before, or words for a version without one or without directives.
    fn changes(&self, schedule: &Schedule, text: &str) -> Vec<String> {
        if schedule.is_empty() {
            let nothing = if text.trim().is_empty() { "the file is empty" } else { "no directives" };
            return vec![format!("{nothing}: the default schedule")];
        }
        match &self.newest {
            Some((_, before)) => changes(before, schedule),
            None => {
                let count = schedule.len();
                vec![format!("the first version, {count} directive{}", if count == 1 { "" } else { "s" })]
            }
        }
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
        let number = open.number;
        let early = || Verdict::Unchecked("it was saved again before".to_string());
        open.timed.verdict.get_or_insert_with(early);
        let is_wrong = open.timed.verdict.as_ref().is_some_and(Verdict::is_wrong);
        if let Standing::Faster(delta) = open.timed.standing
            && is_wrong
        {
            open.timed.standing = Standing::Open(delta);
        }
        let ran = Ran { ms: open.timed.samples.min(), ..open.ran.clone() };
        match open.timed.standing {
            Standing::First if !is_wrong => {
                (self.first, self.best) = (Some((number, ran.clone())), Some((number, ran)))
            }
            Standing::Faster(_) => {
                self.best = Some((number, ran));
                if open.series.beats_first() {
                    let written = self.best_file.write(&self.setting.best_text(&open.text, open.timed.samples.min()));
                    open.timed.kept_as = written.is_ok().then(|| self.best_file.name());
                    self.tell(written.err());
                }
            }
            _ => {}
        }
        self.shown.row(&open.row(true))?;
        self.rest();
        Ok(())
    }

    /// Says in the line that moves that the next save is waited for.
    fn rest(&self) {
        let best = self.best.as_ref();
        let best = best.map_or(String::new(), |(number, ran)| format!("; the best is {number}, {:.3} ms", ran.ms));
        let name = files::shown(&self.setting.args.schedule);
        let count = threads(self.setting.common());
        self.shown.state(&format!("watching {name}{best}; {count} threads; Ctrl-C ends it"));
    }

    /// Ends the watch.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        self.close()?;
        let rows = format!("{} row{}", self.rows, if self.rows == 1 { "" } else { "s" });
        let best = match (&self.best, &self.first) {
            (Some((number, best)), Some((first, _))) if number == first => {
                format!("; the first version, {number}, is the best: {:.3} ms", best.ms)
            }
            (Some((number, best)), _) => format!("; the best is {number}: {:.3} ms", best.ms),
            _ => String::new(),
        };
        self.shown.end(&format!("{rows}{best}"))
    }
}

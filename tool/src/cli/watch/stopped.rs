//! A program that cannot watch, since its algorithm has mistakes or its input is not there: it shows why in a row, and
//! waits for the program after it.

use super::super::args::WatchArgs;
use super::super::failure::Failure;
use super::content::Seen;
use super::mailbox::Mailbox;
use super::row::{Outcome, Row};
use super::shown::Shown;
use super::state::State;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A watch that does not run anything.
pub(super) struct Stopped<'a> {
    args: &'a WatchArgs,
    path: Option<&'a Path>,
    state: State,
    shown: Shown,
}

impl<'a> Stopped<'a> {
    pub(super) fn new(args: &'a WatchArgs, path: Option<&'a Path>, state: State, mut shown: Shown) -> Stopped<'a> {
        shown.resume(&state.shown);
        Stopped { args, path, state, shown }
    }

    /// Shows why nothing runs, and waits for the end. Defects have their rows meanwhile.
    pub(super) fn wait(mut self, text: String, mailbox: &Mailbox) -> Result<(), Failure> {
        self.row(text, SystemTime::now())?;
        while !mailbox.is_over() && !self.is_done() {
            // There is nothing to revert to, and no report of anything.
            mailbox.take_revert();
            match mailbox.take() {
                Some(saved) => {
                    if let Seen::Defect(text) = saved.seen {
                        self.row(text, saved.at)?;
                    }
                }
                None if mailbox.take_ask().is_some() => {}
                None => mailbox.wait(Duration::from_secs(60)),
            }
        }
        if mailbox.is_handed_over() {
            self.shown.hand_over();
            return Ok(());
        }
        self.shown.end(&format!("{} rows", self.state.rows))
    }

    fn is_done(&self) -> bool {
        self.args.saves.is_some_and(|most| self.state.rows >= most) || !self.shown.is_read()
    }

    fn row(&mut self, text: String, saved: SystemTime) -> Result<(), Failure> {
        let outcome = Outcome::Error { text, goes_on: None };
        let row = Row { number: self.state.rows + 1, saved, is_done: true, outcome };
        self.state.add(&row);
        self.shown.row(&row)?;
        if let Some(Err(text)) = self.path.map(|path| self.state.write(path)) {
            self.shown.note(text);
        }
        self.shown.state("waiting for a change of the sources; Ctrl-C ends it");
        Ok(())
    }
}

//! The post between the threads of a watch: the newest save, requests, the run that goes on, and whether to end.

use super::ask::Ask;
use super::content::Seen;
use halide::prelude::*;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The most requests that wait.
const MOST_ASKS: usize = 6;

/// The most defects that wait for their rows.
const MOST_DEFECTS: usize = 16;

/// The reason that a watch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Somebody ended it.
    Asked,
    /// Another program goes on with its rows.
    HandedOver,
}

/// A new content of the watched file, or a defect of something else.
pub(super) struct Saved {
    pub(super) seen: Seen,
    pub(super) at: SystemTime,
}

/// The post between the thread that looks at a file and the one that times its versions.
#[derive(Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    news: Option<Saved>,
    /// Defects of other things than the watched file: each has a row.
    defects: VecDeque<Saved>,
    asks: VecDeque<Ask>,
    is_to_revert: bool,
    /// True while the machine is busy with something else, and nothing is to be timed.
    is_paused: bool,
    end: Option<End>,
    /// The handle of the run that goes on, or of the last one.
    run: Option<Cancel>,
}

impl State {
    fn has_saves(&self) -> bool {
        self.news.is_some() || !self.defects.is_empty()
    }

    fn is_busy(&self) -> bool {
        self.end.is_some() || self.is_paused || self.has_saves()
    }

    /// Returns true if there is something to do.
    fn has_work(&self) -> bool {
        let has_post = self.has_saves() || !self.asks.is_empty();
        self.end.is_some() || self.is_to_revert || (!self.is_paused && has_post)
    }

    fn cancel(&mut self) {
        self.run.take().iter().for_each(Cancel::cancel);
    }
}

impl Mailbox {
    /// Posts a save, in place of one that nobody has taken yet, and ends the run that goes on.
    pub(super) fn post(&self, saved: Saved) {
        let mut state = self.lock();
        state.news = Some(saved);
        state.cancel();
        self.changed.notify_all();
    }

    /// Posts a defect of something else than the watched file, which has a row of its own.
    pub(super) fn post_defect(&self, text: String) {
        let mut state = self.lock();
        if state.defects.len() < MOST_DEFECTS {
            state.defects.push_back(Saved { seen: Seen::Defect(text), at: SystemTime::now() });
        }
        state.cancel();
        self.changed.notify_all();
    }

    /// Posts a request for a report. Returns false if it will have no answer, since too many wait or the watch ends.
    pub(super) fn ask(&self, ask: Ask) -> bool {
        let mut state = self.lock();
        let is_taken = state.end.is_none() && state.asks.len() < MOST_ASKS;
        if is_taken {
            state.asks.push_back(ask);
            self.changed.notify_all();
        }
        is_taken
    }

    /// Puts a request back that was taken and had to be left, before all others.
    pub(super) fn put_back(&self, ask: Ask) {
        let mut state = self.lock();
        if state.end.is_none() {
            state.asks.push_front(ask);
        }
    }

    /// Takes the request that waits for longest.
    pub(super) fn take_ask(&self) -> Option<Ask> {
        let mut state = self.lock();
        if state.is_paused { None } else { state.asks.pop_front() }
    }

    /// Asks for the best version in place of the newest.
    pub(super) fn revert(&self) {
        self.lock().is_to_revert = true;
        self.changed.notify_all();
    }

    /// Takes the wish for the best version.
    pub(super) fn take_revert(&self) -> bool {
        std::mem::take(&mut self.lock().is_to_revert)
    }

    /// Ends the run that goes on, and begins none, until it is told to go on.
    pub(super) fn pause(&self, is_paused: bool) {
        let mut state = self.lock();
        state.is_paused = is_paused;
        if is_paused {
            state.cancel();
        }
        self.changed.notify_all();
    }

    /// Returns true while nothing is to be timed.
    pub(super) fn is_paused(&self) -> bool {
        self.lock().is_paused
    }

    /// Ends the watch, and the run that goes on. Returns true if that was asked for before.
    pub(super) fn end(&self) -> bool {
        self.finish(End::Asked)
    }

    /// Ends the watch, whose rows another program goes on with.
    pub(super) fn hand_over(&self) {
        self.finish(End::HandedOver);
    }

    fn finish(&self, end: End) -> bool {
        let mut state = self.lock();
        // Those who wait for an answer need not any more.
        state.asks.clear();
        state.cancel();
        self.changed.notify_all();
        let was_over = state.end.is_some();
        state.end.get_or_insert(end);
        was_over
    }

    /// Returns true once the watch is to end.
    pub(super) fn is_over(&self) -> bool {
        self.lock().end.is_some()
    }

    /// Returns true if another program goes on with the rows.
    pub(super) fn is_handed_over(&self) -> bool {
        self.lock().end == Some(End::HandedOver)
    }

    /// Returns true if there is something better to do than to go on timing.
    pub(super) fn is_busy(&self) -> bool {
        self.lock().is_busy()
    }

    /// Returns true if the watch is to end, or there is a newer content of the file.
    pub(super) fn has_news(&self) -> bool {
        let state = self.lock();
        state.end.is_some() || state.news.is_some()
    }

    /// Takes a defect, or the newest save.
    pub(super) fn take(&self) -> Option<Saved> {
        let mut state = self.lock();
        if state.is_paused {
            return None;
        }
        state.defects.pop_front().or_else(|| state.news.take())
    }

    /// A handle for a run that begins now, which news end.
    pub(super) fn run(&self) -> Cancel {
        let mut state = self.lock();
        let cancel = Cancel::new();
        if state.is_busy() {
            cancel.cancel();
        }
        state.run = Some(cancel.clone());
        cancel
    }

    /// Puts a save back that was taken and had to be left, unless there is a newer one.
    pub(super) fn put_back_save(&self, saved: Saved) {
        self.lock().news.get_or_insert(saved);
    }

    /// Waits for something to do, the end, or the end of a pause, but no longer than `most`.
    pub(super) fn wait(&self, most: Duration) {
        let state = self.lock();
        let was_paused = state.is_paused;
        let nothing = |state: &mut State| !state.has_work() && state.is_paused == was_paused;
        drop(self.changed.wait_timeout_while(state, most, nothing));
    }

    /// Waits for the end, but no longer than `most`; returns true if it came.
    pub(super) fn wait_for_end(&self, most: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), most, |state| state.end.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.end.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every update is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::path::{Form, Wanted};
    use std::sync::mpsc::channel;

    #[test]
    fn news_end_runs_and_the_newest_counts() {
        let mailbox = Mailbox::default();
        let run = mailbox.run();
        assert!(!run.is_cancelled() && !mailbox.is_busy());
        for text in ["a", "b"] {
            mailbox.post(Saved { seen: Seen::Text(text.to_string()), at: SystemTime::now() });
        }
        assert!(run.is_cancelled() && mailbox.is_busy());
        assert!(mailbox.run().is_cancelled(), "a run that begins while news wait");
        mailbox.wait(Duration::from_secs(3600));
        assert!(matches!(mailbox.take(), Some(Saved { seen: Seen::Text(text), .. }) if text == "b"));
        assert!(mailbox.take().is_none() && !mailbox.wait_for_end(Duration::ZERO));
        let run = mailbox.run();
        assert!(!mailbox.end() && mailbox.end(), "the second time it was asked for before");
        assert!(run.is_cancelled() && mailbox.is_over() && mailbox.wait_for_end(Duration::from_secs(3600)));
    }
    #[test]
    fn requests_wait_in_order_and_are_given_up_at_the_end() {
        let mailbox = Mailbox::default();
        let ask = |number| {
            let (reply, answer) = channel();
            let is_taken = mailbox.ask(Ask::Send { wanted: Wanted::One(number), form: Form::Page, reply });
            (is_taken, answer)
        };
        let waiting: Vec<_> = (1..=MOST_ASKS as u64).map(ask).collect();
        assert!(waiting.iter().all(|(is_taken, _)| *is_taken) && !ask(9).0, "too many wait");
        assert!(!mailbox.is_busy(), "requests end no run");
        mailbox.wait(Duration::from_secs(3600));
        mailbox.pause(true);
        assert!(mailbox.take_ask().is_none() && mailbox.run().is_cancelled());
        mailbox.pause(false);
        let first = mailbox.take_ask().unwrap();
        assert_eq!(first.wanted(), Wanted::One(1));
        mailbox.put_back(first);
        assert_eq!(mailbox.take_ask().map(|ask| ask.wanted()), Some(Wanted::One(1)));
        assert!(!mailbox.end() && !ask(10).0);
        assert!(waiting[1].1.recv().is_err(), "nobody answers any more");
        mailbox.put_back(Ask::Write);
        assert!(mailbox.take_ask().is_none() && !mailbox.is_handed_over());
    }

    #[test]
    fn defects_have_rows_of_their_own_and_wait_while_it_is_paused() {
        let mailbox = Mailbox::default();
        mailbox.post(Saved { seen: Seen::Text("a".to_string()), at: SystemTime::now() });
        mailbox.pause(true);
        ["b", "c"].iter().for_each(|text| mailbox.post_defect(text.to_string()));
        assert!(mailbox.take().is_none() && mailbox.is_paused());
        mailbox.wait(Duration::ZERO);
        mailbox.pause(false);
        let mut seen = Vec::new();
        while let Some(saved) = mailbox.take() {
            seen.push(saved.seen);
        }
        let defect = |text: &str| Seen::Defect(text.to_string());
        assert_eq!(seen, [defect("b"), defect("c"), Seen::Text("a".to_string())]);
        mailbox.revert();
        assert!(mailbox.take_revert() && !mailbox.take_revert());
        mailbox.hand_over();
        assert!(mailbox.is_over() && mailbox.is_handed_over() && mailbox.end() && mailbox.is_handed_over());
    }
}

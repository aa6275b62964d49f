//! The post between the threads of a watch: the newest save, the run that goes on, and whether to end.

use super::content::Seen;
use halide::prelude::*;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// A new content of the watched file.
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
    is_over: bool,
    /// The handle of the run that goes on, or of the last one.
    run: Option<Cancel>,
}

impl State {
    fn is_busy(&self) -> bool {
        self.is_over || self.news.is_some()
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

    /// Ends the watch, and the run that goes on. Returns true if that was asked for before.
    pub(super) fn end(&self) -> bool {
        let mut state = self.lock();
        state.cancel();
        self.changed.notify_all();
        std::mem::replace(&mut state.is_over, true)
    }

    /// Returns true once the watch is to end.
    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Returns true if there is something better to do than to go on timing.
    pub(super) fn is_busy(&self) -> bool {
        self.lock().is_busy()
    }

    /// Takes the newest save.
    pub(super) fn take(&self) -> Option<Saved> {
        self.lock().news.take()
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

    /// Waits for news or the end, but no longer than `most`.
    pub(super) fn wait(&self, most: Duration) {
        let state = self.lock();
        drop(self.changed.wait_timeout_while(state, most, |state| !state.is_busy()));
    }

    /// Waits for the end, but no longer than `most`; returns true if it came.
    pub(super) fn wait_for_end(&self, most: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), most, |state| !state.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every update is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

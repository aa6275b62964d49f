//! The events that pages get, the newest of each key, for as many pages as come and go.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most events that are kept for pages that come later.
pub(super) const MOST_EVENTS: usize = 256;

/// Events in order, and whether more will come.
#[derive(Default)]
pub(super) struct Log {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    /// The number of the next event.
    next: u64,
    is_over: bool,
}

struct Event {
    number: u64,
    key: String,
    /// The event as it goes over the wire.
    text: Arc<str>,
}

/// The events that a page has not had.
pub(super) struct News {
    pub(super) texts: Vec<Arc<str>>,
    /// The number to ask for next.
    pub(super) next: u64,
    pub(super) is_over: bool,
}

impl Log {
    /// Adds an event in place of the last one with the same key.
    pub(super) fn add(&self, key: &str, event: &str, data: &str) {
        let mut text = format!("event: {event}\n");
        data.lines().for_each(|line| text += &format!("data: {line}\n"));
        text.push('\n');
        let mut state = self.lock();
        state.events.retain(|event| event.key != key);
        let number = state.next;
        state.next += 1;
        state.events.push_back(Event { number, key: key.to_string(), text: text.into() });
        // The first event says what is watched, and stays.
        if state.events.len() > MOST_EVENTS {
            state.events.remove(1);
        }
        self.changed.notify_all();
    }

    /// Ends it: no more events come.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits for events from number `from` on, but no longer than `most`.
    pub(super) fn wait(&self, from: u64, most: Duration) -> News {
        let nothing = |state: &mut State| state.next <= from && !state.is_over;
        let waited = self.changed.wait_timeout_while(self.lock(), most, nothing);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let texts = state.events.iter().filter(|event| event.number >= from).map(|event| event.text.clone()).collect();
        News { texts, next: state.next, is_over: state.is_over }
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
    fn the_newest_event_of_each_key_is_kept() {
        let log = Log::default();
        let at_once = |from| log.wait(from, Duration::ZERO);
        let texts = |news: &News| news.texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        log.add("a", "row", "1");
        log.add("b", "row", "2\n3");
        log.add("a", "row", "4");
        let news = at_once(0);
        assert_eq!(texts(&news), ["event: row\ndata: 2\ndata: 3\n\n", "event: row\ndata: 4\n\n"]);
        assert_eq!((news.next, at_once(news.next).texts.len()), (3, 0));
        (0..MOST_EVENTS).for_each(|n| log.add(&n.to_string(), "row", "x"));
        let news = at_once(0);
        assert_eq!((news.texts.len(), &*news.texts[0]), (MOST_EVENTS, "event: row\ndata: 2\ndata: 3\n\n"));
        log.end();
        assert!(log.is_over() && log.wait(news.next, Duration::from_secs(3600)).is_over);
    }
}

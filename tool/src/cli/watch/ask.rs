//! Requests for reports, which wait until nothing is measured.

use crate::serve::path::{Form, Wanted};
use crate::serve::{Answer, Reporter};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A request for a report.
pub(super) enum Ask {
    /// For a page, whose connection waits for the reply.
    Send { wanted: Wanted, form: Form, reply: Sender<Answer> },
    /// For a file, of the newest version.
    Write,
}

impl Ask {
    /// The versions of the report.
    pub(super) fn wanted(&self) -> Wanted {
        match self {
            Ask::Send { wanted, .. } => *wanted,
            Ask::Write => Wanted::Newest,
        }
    }
}

/// A maker of reports that asks another thread, by `post`, and waits for its reply. `post` returns false where there
/// will be none.
pub(super) fn reporter(post: impl Fn(Ask) -> bool + Send + Sync + 'static) -> Box<Reporter> {
    Box::new(move |wanted, form| {
        let (reply, answer): (Sender<Answer>, Receiver<Answer>) = channel();
        let is_posted = post(Ask::Send { wanted, form, reply });
        // A request that is given up takes its sender with it.
        if is_posted { answer.recv().unwrap_or(Answer::Busy) } else { Answer::Busy }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn requests_that_nobody_answers_do_not_wait() {
        let refused = reporter(|_| false);
        assert!(matches!(refused(Wanted::Newest, Form::Page), Answer::Busy));
        let dropped = reporter(|ask| {
            drop(ask);
            true
        });
        assert!(matches!(dropped(Wanted::One(1), Form::Data), Answer::Busy));
        let seen = Mutex::new(None);
        let answered = reporter(move |ask| {
            *seen.lock().unwrap() = Some(ask.wanted());
            match ask {
                Ask::Send { reply, .. } => reply.send(Answer::Data("1".to_string())).is_ok(),
                Ask::Write => false,
            }
        });
        assert!(matches!(answered(Wanted::Two(1, 2), Form::Data), Answer::Data(text) if text == "1"));
    }
}

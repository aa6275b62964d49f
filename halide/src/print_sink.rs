//! The receiver of the lines that a pipeline prints, and the treatment of its panics.

use crate::error::Error;
use halide_core::interp::PrintSink;
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The receiver of the lines that a pipeline prints, for one run. Its panics end where lines are given to it: nothing
/// of an engine unwinds, on whichever thread; [`Sink::after`] makes errors of them.
#[derive(Clone)]
pub(crate) struct Sink {
    /// The caller's receiver.
    receiver: Arc<PrintSink>,
    /// The same, for engines.
    write: Arc<PrintSink>,
    panicked: Panicked,
}

/// The text of the first panic of a run. Later lines of that run are left out.
type Panicked = Arc<Mutex<Option<String>>>;

impl Sink {
    pub(crate) fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Sink {
        Sink::of(Arc::new(write))
    }
    fn of(receiver: Arc<PrintSink>) -> Sink {
        let panicked = Panicked::default();
        let (to, noted) = (receiver.clone(), panicked.clone());
        let write = move |line: &str| {
            if noted.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| to(line))) {
                let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                noted.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
            }
        };
        Sink { receiver, write: Arc::new(write), panicked }
    }
    /// The same receiver for another run, in which it has not panicked.
    pub(crate) fn begin(&self) -> Sink {
        Sink::of(self.receiver.clone())
    }

    /// As the engines take it.
    pub(crate) fn get(&self) -> Option<&PrintSink> {
        Some(&*self.write)
    }

    /// The result of a run that printed here.
    ///
    /// # Errors
    /// [`Error::Print`] if the receiver of the lines panicked.
    pub(crate) fn after<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        match &*self.panicked.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(text) => Err(Error::Print { panic: text.clone() }),
            None => result,
        }
    }
}

impl Default for Sink {
    /// The standard error output, a whole line at a time; lines are lost where nobody reads it any more.
    fn default() -> Sink {
        Sink::new(|line| drop(writeln!(std::io::stderr(), "{line}")))
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

//! Limits of runs: a cap on memory, a time to give up after, and cancellation from another thread.

pub use crate::available_memory::available_memory;
use crate::error::Error;
pub use halide_core::limits::OverCap;
use halide_core::limits::{Limits, Stop};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A handle that ends runs from another thread: clones are the same handle. See
/// [`Call::cancel_with`](crate::call::Call::cancel_with).
///
/// ```
/// use halide::prelude::*;
/// let x = Var::new("x");
/// let mut f = Func::new("f");
/// f[x] = x + 1;
/// let compiled = Pipeline::new([&f])?.compile(&Schedule::new(), &Target::host())?;
/// let cancel = Cancel::new();
/// cancel.cancel();
/// let error = compiled.inputs().cancel_with(&cancel).realize::<i32>([8]).unwrap_err();
/// assert!(matches!(error, Error::Cancelled));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Mutex<Cancelling>>);

#[derive(Debug, Default)]
struct Cancelling {
    cancelled: bool,
    /// The runs that go on.
    runs: Vec<Weak<Limits>>,
}

impl Cancel {
    /// A handle that has not cancelled anything yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }
    /// Ends all runs that have this handle, and each that begins later: with [`Error::Cancelled`], soon. Runs that are
    /// done do not change; a second time nothing more happens.
    pub fn cancel(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        state.runs.drain(..).filter_map(|run| run.upgrade()).for_each(|run| run.stop(Stop::Cancelled));
    }
    /// Returns true once [`Cancel::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }
    fn register(&self, run: &Arc<Limits>) {
        let mut state = self.lock();
        if state.cancelled {
            return run.stop(Stop::Cancelled);
        }
        state.runs.retain(|run| run.strong_count() > 0);
        state.runs.push(Arc::downgrade(run));
    }
    fn lock(&self) -> MutexGuard<'_, Cancelling> {
        // Every update is complete before anything can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The limits that a call asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) memory_cap: Option<u64>,
    pub(crate) give_up_after: Option<Duration>,
    pub(crate) cancel: Option<Cancel>,
}

impl Asked {
    /// The limits of a run that begins now, and what watches its time.
    pub(crate) fn begin(&self) -> Result<(Arc<Limits>, Option<Watch>), Error> {
        let limits = Arc::new(match self.memory_cap {
            Some(bytes) => Limits::with_cap(bytes),
            None => Limits::of_machine(available_memory),
        });
        if let Some(cancel) = &self.cancel {
            cancel.register(&limits);
        }
        let watch = match self.give_up_after {
            None => None,
            Some(Duration::ZERO) => {
                limits.stop(Stop::TimeUp);
                None
            }
            Some(time) => Watch::new(time, &limits)?,
        };
        match limits.stopped() {
            Some(stop) => Err(self.ended(stop)),
            None => Ok((limits, watch)),
        }
    }
    /// The error of a run that was ended early.
    pub(crate) fn ended(&self, stop: Stop) -> Error {
        match stop {
            Stop::Cancelled => Error::Cancelled,
            Stop::TimeUp => Error::GaveUp { after: self.give_up_after.unwrap_or_default() },
        }
    }
}

/// A thread that ends a run when its time is up; ends with this.
pub(crate) struct Watch {
    done: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// `None` for a time that never comes.
    fn new(time: Duration, limits: &Arc<Limits>) -> Result<Option<Watch>, Error> {
        if cfg!(all(target_family = "wasm", target_os = "unknown")) {
            // There even reading the clock would panic.
            return Err(Error::NoWatch { why: "WebAssembly has neither threads nor a clock here".into() });
        }
        let Some(end) = Instant::now().checked_add(time) else { return Ok(None) };
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let (waits, limits) = (done.clone(), limits.clone());
        let wait = move || {
            let (done, woken) = &*waits;
            let mut over = done.lock().unwrap_or_else(PoisonError::into_inner);
            while !*over {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return limits.stop(Stop::TimeUp);
                }
                over = woken.wait_timeout(over, left).unwrap_or_else(PoisonError::into_inner).0;
            }
        };
        let thread = std::thread::Builder::new().name("halide-watch".into()).stack_size(64 << 10).spawn(wait);
        let thread = thread.map_err(|why| Error::NoWatch { why: why.to_string() })?;
        Ok(Some(Watch { done, thread: Some(thread) }))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *self.done.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.done.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked.
            let _ = thread.join();
        }
    }
}

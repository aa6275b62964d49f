//! Limits of runs: a cap on memory, a time to give up after, and cancellation from another thread.

use crate::call::Call;
use crate::error::Error;
pub use crate::machine::available_memory;
pub use halide_core::limits::OverCap;
use halide_core::limits::{Limits, Stop};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A handle that ends runs from another thread: clones are the same handle. See [`Call::cancel_with`].
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
    /// Ends all runs that have this handle, and each that begins later: with [`Error::Cancelled`], soon. Runs that are done do
    /// not change; a second time nothing more happens.
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

impl<'c> Call<'c> {
    /// Lets the run have at most so many bytes of memory at once: what it allocates itself, that is outputs that the caller
    /// does not give, values of Funcs and copies. Where it would need more, it ends with [`Error::Memory`]: before it starts
    /// if the sizes are known then, so that nothing is written. Not counted are inputs and outputs that the caller gives, memory of
    /// a graphics processor, and up to 256 KiB for each thread that small values share. The stack that code needs where a thread
    /// has too little left is never refused, but leaves less for the rest.
    ///
    /// By default a run may have what the machine has available when it comes to need more than 64 MiB:
    /// [`available_memory`].
    pub fn memory_cap(mut self, bytes: u64) -> Call<'c> {
        self.how_mut().asked.memory_cap = Some(bytes);
        self
    }
    /// Ends the run with [`Error::GaveUp`] if it is not done after `time`, which begins with the `realize` method. What outputs
    /// hold then is not specified, and all memory of the run is free.
    ///
    /// Compiled code looks whether it is to end at every iteration of parallel loops, and of serial loops around others of 64
    /// iterations or more; the evaluator and the interpreter at every iteration and every batch of points. So the run ends after at most one loop without such a
    /// loop in it, on each thread: milliseconds, unless that loop alone is very long. What a driver does with one kernel, the
    /// closure of an extern stage, and code that is being compiled are waited for.
    pub fn give_up_after(mut self, time: Duration) -> Call<'c> {
        self.how_mut().asked.give_up_after = Some(time);
        self
    }
    /// Lets `handle` end the run from another thread with [`Error::Cancelled`], as soon as [`Call::give_up_after`] says. One
    /// handle may be given to any number of runs.
    pub fn cancel_with(mut self, handle: &Cancel) -> Call<'c> {
        self.how_mut().asked.cancel = Some(handle.clone());
        self
    }
}

/// The limits that a call asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    memory_cap: Option<u64>,
    give_up_after: Option<Duration>,
    cancel: Option<Cancel>,
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

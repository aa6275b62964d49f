//! The case that a long run is at, for those that a process does not survive: machine code that crashes, memory that
//! runs out, compilation without end.

use halide_core::limits::{Limits, Stop};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// The exit status of a process whose case takes too long.
const TOO_LONG: i32 = 99;

/// A case may take so many times its limit where it is not computing.
const WAITING: u32 = 8;

/// Keeps the seed of the case that runs in the file that `HALIDE_FUZZ_LAST` names, and ends the process when one takes
/// longer than `HALIDE_FUZZ_LIMIT` seconds of processors: others that use the machine do not make a case long. Does
/// nothing where neither is set.
pub(crate) struct Watch {
    file: Option<std::path::PathBuf>,
    current: Arc<Mutex<Option<(u64, Start)>>>,
}

/// The beginning of a case: the time, and what the process had used of processors by then.
#[derive(Clone, Copy)]
struct Start(Instant, Option<Duration>);

impl Start {
    fn now() -> Start {
        Start(Instant::now(), used())
    }
    /// True if the case took longer than `limit`, or waits for something.
    fn is_beyond(self, limit: Duration) -> bool {
        let Start(time, before) = self;
        match used().zip(before) {
            Some((now, before)) => now.saturating_sub(before) > limit || time.elapsed() > limit * WAITING,
            None => time.elapsed() > limit,
        }
    }
}

/// The time of processors that this process has used, where the system says so.
fn used() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may have anything in it: the 12th and 13th field, in hundredths of a second.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (next()? + next()?)))
}

impl Watch {
    /// From the environment.
    pub(crate) fn of_run() -> Watch {
        let current = Arc::new(Mutex::new(None));
        let limit = number("HALIDE_FUZZ_LIMIT").map(Duration::from_secs);
        if let Some(limit) = limit {
            let current = current.clone();
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                    let case: Option<(u64, Start)> = current.lock().ok().and_then(|case| *case);
                    if let Some((seed, _)) = case.filter(|(_, start)| start.is_beyond(limit)) {
                        eprintln!("seed {seed} takes longer than {limit:?}");
                        std::process::exit(TOO_LONG);
                    }
                }
            });
        }
        Watch { file: std::env::var_os("HALIDE_FUZZ_LAST").map(Into::into), current }
    }

    /// A case begins.
    pub(crate) fn begin(&self, seed: u64) {
        if let Some(file) = &self.file
            && let Err(e) = std::fs::write(file, seed.to_string())
        {
            eprintln!("{}: {e}", file.display());
        }
        self.set(Some((seed, Start::now())));
    }

    /// It is over.
    pub(crate) fn end(&self) {
        self.set(None);
    }

    fn set(&self, case: Option<(u64, Start)>) {
        if let Ok(mut current) = self.current.lock() {
            *current = case;
        }
    }
}

/// Reads a number from the environment.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|v| v.parse().ok())
}

/// Calls `run`, whose limits these are, and orders it to stop when its time is up.
pub(crate) fn for_seconds<T>(time: Duration, limits: &Limits, run: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            if ended.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
                limits.stop(Stop::TimeUp);
            }
        });
        let result = run();
        drop(running);
        result
    })
}

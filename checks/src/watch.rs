//! The case that a long run is at, for those that a process does not survive: machine code that crashes, memory that runs
//! out, compilation without end.

use crate::runs::number;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The exit status of a process whose case takes too long.
const TOO_LONG: i32 = 99;

/// Keeps the seed of the case that runs in the file that `HALIDE_FUZZ_LAST` names, and ends the process when one takes
/// longer than `HALIDE_FUZZ_LIMIT` seconds. Does nothing where neither is set.
pub(crate) struct Watch {
    file: Option<std::path::PathBuf>,
    current: Arc<Mutex<Option<(u64, Instant)>>>,
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
                    let case: Option<(u64, Instant)> = current.lock().ok().and_then(|case| *case);
                    if let Some((seed, _)) = case.filter(|(_, start)| start.elapsed() > limit) {
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
        self.set(Some((seed, Instant::now())));
    }

    /// It is over.
    pub(crate) fn end(&self) {
        self.set(None);
    }

    fn set(&self, case: Option<(u64, Instant)>) {
        if let Ok(mut current) = self.current.lock() {
            *current = case;
        }
    }
}

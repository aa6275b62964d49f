//! A clock for durations on the host. A browser's clock is not the standard library's, so there nothing is timed.

use std::time::Duration;
#[cfg(not(target_arch = "wasm32"))]
use std::time::Instant;

/// A moment.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    #[cfg(not(target_arch = "wasm32"))]
    at: Instant,
}

impl Moment {
    pub(super) fn now() -> Moment {
        Moment {
            #[cfg(not(target_arch = "wasm32"))]
            at: Instant::now(),
        }
    }
    /// The time since then.
    pub(super) fn elapsed(self) -> Duration {
        #[cfg(not(target_arch = "wasm32"))]
        return self.at.elapsed();
        #[cfg(target_arch = "wasm32")]
        return Duration::ZERO;
    }
}

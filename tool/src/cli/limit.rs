//! Runs that are ended after a time.

use halide::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Does `work`, whose runs are cancelled after `limit`; returns its result, or `None` where it was ended.
pub(crate) fn within<T>(limit: Duration, work: impl FnOnce(&Cancel) -> T) -> Option<T> {
    let cancel = Cancel::new();
    let (working, is_done) = channel::<()>();
    thread::scope(|scope| {
        let late = cancel.clone();
        let waiting = scope.spawn(move || {
            let is_late = is_done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if is_late {
                late.cancel();
            }
            is_late
        });
        let result = work(&cancel);
        drop(working);
        let is_late = waiting.join().unwrap_or(false);
        (!is_late).then_some(result)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_takes_too_long_is_cancelled() {
        assert_eq!(within(Duration::from_secs(60), |_| 1), Some(1));
        let late = within(Duration::ZERO, |cancel| {
            while !cancel.is_cancelled() {
                thread::yield_now();
            }
        });
        assert_eq!(late, None);
    }
}

//! The limits of one run: a cap on memory, and a flag that ends it early.
//!
//! The threads of a run share its [`Limits`]. Nothing here asks the machine or a clock:
//! whoever starts the run hands in a function that does, and raises the flag when time is up.
//!
//! Sizes that are known before a run are refused then (`ir/footprint` evaluates the sizes of allocations at the root),
//! the rest where it is allocated. Machine code polls the flag in loops whose iterations are long, never in innermost
//! ones.

pub use crate::tuning::UNMETERED_BYTES;

use crate::buffer::Dim;
use crate::types::ScalarType;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The reason that a run was ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Cancelled by the caller.
    Cancelled,
    /// Ended when its time was up.
    TimeUp,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Cancelled => "the run was cancelled",
            Stop::TimeUp => "the time of the run was up",
        })
    }
}

/// An allocation that would exceed the cap on memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OverCap {
    /// Bytes that it needs.
    pub bytes: u64,
    /// Bytes that the run had by then.
    pub held: u64,
    /// The cap: the most bytes that the run may have.
    pub cap: u64,
    /// True if the cap is the memory that the machine had left, false if it was asked for.
    pub of_machine: bool,
}

impl fmt::Display for OverCap {
    /// Writes the predicate of a sentence whose subject is the allocation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "needs {} bytes", self.bytes)?;
        if self.held > 0 {
            write!(f, " beside the {} that the run has", self.held)?;
        }
        match self.of_machine {
            true => write!(f, ", and this machine has {} available", self.cap),
            false => write!(f, ", and the run's cap on memory is {}", self.cap),
        }
    }
}

crate::error::debug_is_display!(OverCap);

impl std::error::Error for OverCap {}

/// The limits of one run. The default is none.
#[derive(Debug, Default)]
pub struct Limits {
    /// 0 while the run may go on.
    stop: AtomicU8,
    /// Bytes that are charged.
    held: AtomicU64,
    cap: Cap,
}

#[derive(Debug, Default)]
enum Cap {
    #[default]
    None,
    Bytes(u64),
    /// The memory that the machine has available, and its answer once asked.
    Machine(fn() -> Option<u64>, OnceLock<u64>),
}

impl Limits {
    /// Limits memory to so many bytes at once.
    pub fn with_cap(bytes: u64) -> Limits {
        Limits { cap: Cap::Bytes(bytes), ..Limits::default() }
    }
    /// Limits memory to what `available` says, which is asked once, when more than [`UNMETERED_BYTES`] is needed; no
    /// cap where it does not know.
    pub fn of_machine(available: fn() -> Option<u64>) -> Limits {
        Limits { cap: Cap::Machine(available, OnceLock::new()), ..Limits::default() }
    }

    /// Checks that `bytes` more are within the cap, beside `own` that whoever asks has without having charged them.
    /// `spare` says how many bytes are kept from earlier runs and will be used for it, which the machine does not count
    /// as available.
    ///
    /// # Errors
    /// They are not.
    pub fn check(&self, bytes: u64, own: u64, spare: impl FnOnce() -> u64) -> Result<(), OverCap> {
        let held = self.held.load(Ordering::Relaxed).saturating_add(own);
        let total = held.saturating_add(bytes);
        let (cap, of_machine) = match &self.cap {
            Cap::None => return Ok(()),
            Cap::Bytes(cap) => (*cap, false),
            Cap::Machine(..) if total <= UNMETERED_BYTES => return Ok(()),
            Cap::Machine(available, answer) => {
                let ask = || available().map_or(u64::MAX, |free| free.saturating_add(spare()).saturating_add(held));
                (*answer.get_or_init(ask), true)
            }
        };
        if total <= cap { Ok(()) } else { Err(OverCap { bytes, held, cap, of_machine }) }
    }
    /// Charges `bytes`, until [`Limits::release`].
    ///
    /// # Errors
    /// They would exceed the cap; then nothing is charged.
    pub fn charge(&self, bytes: u64) -> Result<(), OverCap> {
        self.check(bytes, 0, || 0)?;
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
    /// Charges `bytes` for as long as the result lives.
    ///
    /// # Errors
    /// As of [`Limits::charge`].
    pub fn hold(&self, bytes: u64) -> Result<Held<'_>, OverCap> {
        self.charge(bytes)?;
        Ok(Held { limits: self, bytes })
    }
    /// Gives back what was charged.
    pub fn release(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Ends the run as soon as whatever works on it looks here. The first reason stays.
    pub fn stop(&self, why: Stop) {
        let code = match why {
            Stop::Cancelled => 1,
            Stop::TimeUp => 2,
        };
        // Whoever came first has stopped it.
        let _ = self.stop.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }
    /// Returns the reason that the run is to end, if it is.
    pub fn stopped(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Cancelled),
            _ => Some(Stop::TimeUp),
        }
    }
    /// The flag that compiled code polls: not 0 once the run is to end.
    pub fn flag(&self) -> &AtomicU8 {
        &self.stop
    }
}

/// Bytes that are charged until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct Held<'a> {
    limits: &'a Limits,
    bytes: u64,
}

impl Held<'_> {
    /// Leaves them charged for as long as there are the limits.
    pub fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.limits.release(self.bytes);
    }
}

/// Returns how many bytes a buffer with these dimensions takes.
pub fn bytes_of(ty: ScalarType, dims: impl IntoIterator<Item = Dim>) -> u64 {
    let mut elements = 1u64;
    for d in dims {
        if d.extent <= 0 {
            return 0;
        }
        let reach = d.stride.unsigned_abs().saturating_mul(d.extent as u64 - 1);
        elements = elements.saturating_add(reach);
    }
    elements.saturating_mul(ty.bytes() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_counts_what_is_held() {
        let limits = Limits::with_cap(100);
        assert_eq!(limits.charge(60), Ok(()));
        assert_eq!(limits.charge(41), Err(OverCap { bytes: 41, held: 60, cap: 100, of_machine: false }));
        assert_eq!(limits.check(30, 10, || 0), Ok(()));
        assert_eq!(limits.check(30, 11, || 0), Err(OverCap { bytes: 30, held: 71, cap: 100, of_machine: false }));
        limits.release(60);
        assert!(limits.hold(100).is_ok(), "and given back at once");
        assert_eq!(limits.charge(100), Ok(()));
        assert_eq!(limits.check(u64::MAX, u64::MAX, || 0).map_err(|o| o.held), Err(u64::MAX));
        assert_eq!(Limits::with_cap(0).charge(0), Ok(()));
        assert!(Limits::with_cap(0).charge(1).is_err() && Limits::default().charge(u64::MAX).is_ok());
    }

    #[test]
    fn the_machine_is_asked_once_and_only_for_much() {
        let limits = Limits::of_machine(|| panic!("nobody needs to know"));
        assert_eq!(limits.charge(UNMETERED_BYTES), Ok(()));
        let limits = Limits::of_machine(|| Some(2 * UNMETERED_BYTES));
        limits.charge(UNMETERED_BYTES).unwrap();
        let more = 2 * UNMETERED_BYTES + UNMETERED_BYTES / 2;
        assert_eq!(limits.check(more, 0, || UNMETERED_BYTES / 2), Ok(()), "what is available, and what was kept");
        assert_eq!(limits.check(more, 0, || 0), Ok(()), "the first answer stays");
        assert!(limits.check(more, 1, || 0).is_err_and(|over| over.of_machine && over.cap == more + UNMETERED_BYTES));
        assert!(Limits::of_machine(|| None).charge(u64::MAX).is_ok());
    }

    #[test]
    fn the_first_reason_to_stop_stays() {
        let limits = Limits::default();
        assert_eq!(limits.stopped(), None);
        limits.stop(Stop::TimeUp);
        limits.stop(Stop::Cancelled);
        assert_eq!((limits.stopped(), limits.flag().load(Ordering::Relaxed)), (Some(Stop::TimeUp), 2));
    }

    #[test]
    fn bytes_of_a_buffer_are_counted_with_its_gaps() {
        let dim = |extent, stride| Dim { min: 5, extent, stride };
        assert_eq!(bytes_of(ScalarType::U16, [dim(3, 1), dim(4, -10)]), 2 * 33);
        assert_eq!(bytes_of(ScalarType::F64, []), 8);
        assert_eq!(bytes_of(ScalarType::F64, [dim(0, 1), dim(i64::MAX, i64::MAX)]), 0);
        assert_eq!(bytes_of(ScalarType::F64, [dim(i64::MAX, i64::MAX)]), u64::MAX);
    }

    #[test]
    fn an_allocation_over_the_cap_says_what_it_needs() {
        let over = OverCap { bytes: 9, held: 0, cap: 5, of_machine: false };
        assert_eq!(over.to_string(), "needs 9 bytes, and the run's cap on memory is 5");
        let over = OverCap { held: 3, of_machine: true, ..over };
        assert_eq!(over.to_string(), "needs 9 bytes beside the 3 that the run has, and this machine has 5 available");
    }
}

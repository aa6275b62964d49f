//! The end of a tuning: by the clock, or since nothing better is found.

use super::event::Ended;
use std::time::{Duration, Instant};

/// The least gain that counts.
const GAIN: f64 = 0.005;

/// The candidates without a gain after which a search ends.
const PATIENCE: usize = 200;

/// The candidates that are tried however long the first ones take to compile.
const LEAST: usize = 64;

/// The share of the time without a gain after which a search ends: a part of this.
const PART: u32 = 3;

/// The share of the time that the last duel has: a part of this.
const DUEL: u32 = 20;

/// The course of a search: its time, and its last gain.
pub(super) struct Course {
    begun: Instant,
    budget: Duration,
    best: f64,
    gained: Instant,
    since: usize,
}

impl Course {
    pub(super) fn new(begun: Instant, budget: Duration) -> Course {
        Course { begun, budget, best: 1.0, gained: Instant::now(), since: 0 }
    }

    /// A candidate was tried, and the best one takes so long now.
    pub(super) fn tried(&mut self, best: f64) {
        self.since += 1;
        if best < self.best * (1.0 - GAIN) {
            self.best = best;
            self.gained = Instant::now();
            self.since = 0;
        }
    }

    /// The reason to end, if there is one; the last duel takes `duel`, or the last twentieth of the time.
    pub(super) fn ended(&self, duel: Duration) -> Option<Ended> {
        let left = self.budget.saturating_sub(self.begun.elapsed());
        if left <= duel.max(self.budget / DUEL) {
            return Some(Ended::TimeUp);
        }
        let is_long = self.since >= LEAST && self.gained.elapsed() > self.budget / PART;
        (is_long || self.since >= PATIENCE).then_some(Ended::NoGain)
    }
}

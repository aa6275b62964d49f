//! Schedules that nobody wrote.

pub mod random;

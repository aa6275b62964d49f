//! Decision procedures for expressions of loop IR: the simplifier under known facts, and bounds, which call it.
//!
//! Pure, and ignorant of passes, schedules and Funcs. `simplify` never calls `bounds`.

pub mod bounds;
pub mod simplify;
mod tuning;

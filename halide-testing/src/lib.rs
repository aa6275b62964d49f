//! Random pipelines, schedules and programs of loop IR, for tests and fuzzing. No shipped crate depends on it.
//!
//! What is drawn belongs to its seed: the same on every machine. `halide-checks` states what must hold of it.

pub mod pipelines;
pub mod programs;
pub mod schedules;

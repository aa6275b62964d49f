//! From `Pipeline` + `Schedule` + `Target` to loops: schedules as values, bounds inference, lowering.
//!
//! Pure: no I/O, clock, environment, threads or globals. Modules, low to high: `access`, `idioms`, `schedule`,
//! `plan`, `lower`, `nest`.

mod access;
mod idioms;
pub mod lower;
pub mod nest;
pub mod plan;
pub mod schedule;
mod tuning;

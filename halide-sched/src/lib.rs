//! From `Pipeline` + `Schedule` + `Target` to loops: schedules as values, bounds inference, lowering.
//!
//! Pure: no I/O, clock, environment, threads or globals. Modules, low to high:
//! `words`, `features`, `target` (leaves), `schedule`, `ir`, `device`, `simplify`, `bounds`, `access`, `plan`, `lower`, `auto`, `report`.

mod access;
pub mod auto;
pub mod bounds;
pub mod device;
pub mod features;
pub mod ir;
pub mod lower;
pub mod plan;
pub mod schedule;
pub mod simplify;
pub mod target;
mod words;

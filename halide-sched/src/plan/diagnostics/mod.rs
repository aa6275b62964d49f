//! Diagnostics: what can be wrong with a schedule for a pipeline, as conditions with messages and remedies.

mod error;
mod gpu;
mod graph;
mod groups;
mod instructions;
mod loops;
mod names;
mod places;
mod problem;
mod reasons;

pub(super) use error::Errors;
pub use error::ScheduleError;
pub use problem::Problem;
pub use reasons::{CallObstacle, JoinReason, OrderReason, ScanReason, Shared, StepReason, TogetherReason};

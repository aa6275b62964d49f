//! The plan: the checked, resolved form of a schedule, which lowering reads. `resolve` is the only road to it.

mod access;
mod affine;
mod compute_with;
mod convert;
mod dependence;
mod diagnostics;
mod draft;
mod expressions;
mod facts;
mod gpu;
mod graph;
mod labels;
mod legal;
mod levels;
mod monoid;
mod options;
mod part;
mod query;
mod rdomain;
mod resolve;
mod rewrite;
mod rfactor;
mod stage;
mod tails;
#[cfg(test)]
mod tests;
mod types;

pub use access::Collision;
pub(crate) use compute_with::block_order;
pub use dependence::Conflict;
pub use diagnostics::{OrderReason, Problem, ScheduleError, Shared, StepReason};
pub use expressions::reachable;
pub use facts::order;
pub use monoid::MonoidReason;
pub use options::StageOptions;
pub use part::{Part, main_part, part};
pub use query::image_buffer;
pub use resolve::resolve;
pub use types::{
    BoundConstraint, FuncPlan, Level, LoopLabel, LoopPlan, Plan, PlanTail, Prefetch, Room, Source, StagePlan, StageVar,
    StageVarInfo, StorageDim, Transform, VarOrigin, With,
};

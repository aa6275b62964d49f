//! The plan: the checked, resolved form of a schedule, which lowering reads. `resolve` is the only road to it.
//!
//! **Reductions.** Loops over reduction variables run at once where `access` proves that no two iterations meet, or
//! where `dependence` does, which also knows predicates, parts of splits and linear conditions; it also says which
//! orders of loops keep what depends on what. `monoid` is a table of operations with their laws and identities, which a
//! test tries to refute. A recognised operation may run in another order (`reorder`, `fuse`), in parts (`rfactor`,
//! which adds a Func), or by steps that do not disturb each other (`atomic`).
//!
//! **Floats.** Nothing is reassociated or contracted unless a stage's `float` directive says so: lowering then makes
//! `mul_add` of products and sums, but for what `strict_float` encloses, and laws of sums count as laws.

mod access;
mod affine;
mod called;
mod cases;
mod compute_with;
mod convert;
mod dependence;
mod diagnostics;
mod distinct;
mod draft;
mod expressions;
mod facts;
mod func_order;
mod gpu;
mod graph;
mod instruct;
mod known;
mod labels;
mod legal;
mod levels;
mod monoid;
mod named_instructions;
mod options;
mod owner;
mod part;
mod possible;
mod query;
mod rdomain;
mod recurrence;
mod reshape;
mod resolve;
mod rewrite;
mod rewritten;
mod rfactor;
mod scan;
mod scan_loops;
mod shared_loops;
mod stage;
mod tails;
#[cfg(test)]
mod tests;
mod types;

pub use access::Collision;
pub use called::with_callees;
pub(crate) use compute_with::block_order;
pub use dependence::Conflict;
pub use diagnostics::{
    CallObstacle, JoinReason, OrderReason, Problem, ScanReason, ScheduleError, Shared, StepReason, TogetherReason,
};
pub use expressions::reachable;
pub use facts::order;
pub use instruct::{MapError, Mapping, mappings};
pub use monoid::MonoidReason;
pub use options::StageOptions;
pub use part::{Part, main_part, memoized, memoized_part, part, part_behind};
pub use possible::{Possible, PossibleVar, possible};
pub use query::image_buffer;
pub use resolve::resolve;
pub use types::{
    Agreement, BoundConstraint, BoxDim, BoxTerm, FuncPlan, HeldValues, InstructionCall, KnownSpan, Level, LoopLabel,
    LoopPlan, Plan, PlanTail, Prefetch, Property, Room, Source, StagePlan, StageVar, StageVarInfo, StorageDim,
    StoragePart, Transform, Used, VarOrigin, With,
};

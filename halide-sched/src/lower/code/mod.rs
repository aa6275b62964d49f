//! Passes before code generation: loop-invariant code motion, common subexpressions, functions.

pub mod cse;
pub mod licm;
pub mod outline_tasks;
pub(crate) mod polynomial;
pub mod register_promotion;
pub mod split_functions;

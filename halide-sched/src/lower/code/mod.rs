//! Passes before code generation: registers, loop-invariant code motion, common subexpressions, functions.

pub mod cse;
pub mod licm;
pub mod outline_tasks;
pub(crate) mod polynomial;
pub(crate) mod register;
pub mod register_promotion;
pub mod scalar_replacement;
pub mod split_functions;

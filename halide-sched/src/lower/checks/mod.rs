//! Checks of arguments, coordinates and accesses, and the budget of code.

pub mod budget;
pub mod check_accesses;
pub(crate) mod check_arguments;
pub(crate) mod check_coordinates;
pub(crate) mod check_factors;
pub(crate) mod exact_indices;
pub mod trust;

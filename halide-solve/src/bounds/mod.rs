//! Symbolic and constant bounds of expressions: which coordinates a computation can touch.
//!
//! `interval` gives the symbolic interval of an expression when symbols range over intervals, `difference` constant
//! bounds of how far two expressions are apart, `monotone` whether an expression grows with a symbol, and `solve` for
//! which values of a symbol a condition holds. All of them call the simplifier; it never calls them.

mod difference;
mod exact;
mod interval;
mod monotone;
mod solve;
#[cfg(test)]
mod tests;

pub use difference::constant_difference;
pub use difference::{at_most, at_most_through, difference_through, upper_difference, upper_through};
pub use exact::exact;
pub use interval::{Interval, interval_of, interval_with_values};
pub use monotone::{Monotone, monotone, monotone_under};
pub use solve::{solve_for, solve_outer};

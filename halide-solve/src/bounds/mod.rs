//! Symbolic and constant bounds of expressions: which coordinates a computation can touch.
//!
//! `interval` gives the symbolic interval of an expression when symbols range over intervals, `monotone` says if an
//! expression grows with a symbol, and `solve` for which values of a symbol a condition holds. All of them call the
//! simplifier; it never calls them. Constant bounds of how far two expressions are apart are its
//! [`BoundQuery`](crate::simplify::BoundQuery).

mod exact;
mod interval;
mod monotone;
mod solve;
#[cfg(test)]
mod tests;

pub use exact::exact;
pub use interval::{Interval, interval_of, interval_with_values};
pub use monotone::{Monotone, monotone, monotone_under};
pub use solve::{solve_for, solve_outer};

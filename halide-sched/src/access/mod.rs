//! Proof that accesses stay inside of their buffers, independent of how lowering came to them.
//!
//! An access `buf[index]` is in bounds if a list of inequalities `0 <= p` holds, each a polynomial over integers
//! ([`split`] writes them down: one pair for each dimension that the strides tell apart). An inequality is *hoisted*
//! out of the loops around it ([`hoist`]): each loop variable is replaced by the end of its range that makes the
//! polynomial least. [`prove`] then decides it where it can: by its definitions alone, or by refuting the contrary
//! under all that is known ([`linear`]: the simplex method with case splits). What it cannot decide becomes a check at
//! the place that hoisting reached, which `lower/checks/check_accesses` writes into the program.
//!
//! This module is the second opinion on `bounds`, `simplify` and every pass of lowering, so it uses none of them: it
//! knows the loop IR and nothing else. All it trusts is the meaning of expressions, the ranges of loops, and the
//! conditions and assertions that the program itself tests before an access.
//!
//! The decomposition of a flat index by its strides follows Grosser, Ramanujam, Pouchet, Sadayappan and Pop,
//! *Optimistic Delinearization of Parametrically Sized Arrays* (ICS 2015); elimination is Fourier and Motzkin's, with a
//! limit.
//!
//! Polynomials are hash-consed in one arena per analysis (`poly`). A question that is false at one of eight samples of
//! values at which its facts hold has no proof (`samples`). Names of sums are replaced first (`expand`), and accesses
//! that differ by a constant are moved once. Data that becomes an index is bounded by its type, by what is stored
//! (`data`), or by expressions of its ends (`ends`); floats have intervals of constants (`floats`). `exact` says where
//! a question is exact: along a loop nothing in it falls while something else rises; short periods and few lanes are
//! taken apart. `choices` asks for each value of what may be one of several.

mod atoms;
mod choices;
mod conditions;
mod data;
mod eliminate;
mod emit;
mod ends;
mod exact;
mod expand;
mod floats;
mod hoist;
mod linear;
mod mono;
mod poly;
mod prove;
mod read;
mod samples;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use conditions::conditions;
pub(crate) use data::Elements;
pub(crate) use emit::{condition, is_expressible};
pub(crate) use exact::{Asked, Exact};
pub(crate) use hoist::{Frame, FrameKind, Hoisted};
pub(crate) use poly::{Poly, Sums};
pub(crate) use prove::Prover;
pub(crate) use read::{Definition, Definitions, LaneOf, Reader};
pub(crate) use split::{Access, Extents};

//! Updates that combine the old value with new ones by an operation whose order does not matter.
//!
//! An update `f[..] = op(f[..], e)` folds the values `e` of its iterations into an element. If `op` is associative, the
//! fold can be done in parts: each part from the identity of `op`, then the parts into the element, in their order. If
//! it is commutative as well, in any order. `pattern` is the table of known operations, `find` recognises them.
//!
//! What the table claims is no more than this; that it holds, `tests` tries to refute with random values.

mod declared;
mod find;
mod pattern;
#[cfg(test)]
mod tests;

pub use declared::MonoidReason;
pub(super) use declared::declared;
pub(super) use find::{Fold, Parts, fold, operator_along};
pub(super) use pattern::Law;

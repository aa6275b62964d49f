//! Idioms: integer arithmetic that machines have an operation for, as portable code writes it.
//!
//! Portable code widens before it adds, so that nothing overflows. A machine has instructions for what is meant, and
//! twice as many lanes of half the width. [`IDIOMS`] has a row for each: the pattern, which is its meaning, what it is
//! replaced by, the condition under which both are the same, and the machine instructions. `find_intrinsics` replaces
//! patterns by the table; the instructions that schedules may use come from it, too. Tests hold each row against the
//! values of all operands of 8 bits, and of the corners of wider ones.

mod matching;
mod meaning;
mod pattern;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use matching::replace;
pub(crate) use pattern::{Idiom, Machine, Types};
pub(crate) use table::{IDIOMS, PRODUCTS};

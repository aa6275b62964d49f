//! The simplifier: expressions and statements of loop IR in a normal form, under known facts.
//!
//! Index arithmetic is exact, so sums are brought into one normal form (`linear`), and products, quotients (`index`),
//! minima (`lattice`) and comparisons (`compare`) work on it. Data arithmetic wraps or is IEEE; it is rewritten by
//! tables of rules (`rules`). `README.md` states the laws that all of it keeps.

mod abstract_value;
mod bound_query;
mod cast;
mod compare;
mod congruence;
mod counterexamples;
mod dead;
mod expr;
mod facts;
mod index;
mod lanes;
mod linear;
mod memo;
mod min_max;
mod prove;
mod range;
mod relational_bounds;
mod rules;
mod scoped_memo;
mod stmt;
mod transitive_definitions;
pub mod walk;

pub use bound_query::BoundQuery;
pub use dead::drop_dead_lets;
pub use expr::simplify;
pub use expr::{extreme_of_many, is_long_extreme};
pub use facts::Facts;
pub use linear::{Form, Linear, Term, Terms};
pub use prove::prove;
pub use range::{Congruence, Range};
pub use stmt::simplify_noting_dead;
pub use stmt::{Proofs, simplify_stmt};

pub use transitive_definitions::{FarValues, Reach};

#[cfg(test)]
mod stmt_tests;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

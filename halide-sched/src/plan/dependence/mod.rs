//! The order of iterations that an update needs: two iterations, of which one stores to an element and the other stores
//! to or loads the same element, must come in the order of the definition.
//!
//! Unknown are the variables of two iterations, what splits make of them, and what is constant for the run. Ranges of
//! variables, predicates of the domain, coordinates and splits are linear conditions on these; what is not linear may
//! be anything. An order of loops is legal if no two iterations that the definition orders one way, and that touch one
//! element, come the other way: a few systems of conditions (`system`), each without a solution.

mod between;
mod nest;
mod system;

pub(crate) use between::Together;
pub use nest::Conflict;
pub(crate) use nest::{Access, Nest, Space};

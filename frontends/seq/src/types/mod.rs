//! Types, classes of types and schemes.

mod class;
mod scheme;
mod ty;

pub use class::Class;
pub use scheme::Scheme;
pub(crate) use ty::SCALAR_NAMES;
pub use ty::{Type, Variable};

//! Types with variables that each use replaces.

use super::class::Class;
use super::ty::{Type, Variable};
use std::fmt;

/// A type that holds for all types of its variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheme {
    /// Its variables, and the types that each may be.
    pub(crate) variables: Vec<(Variable, Class)>,
    /// The type.
    pub ty: Type,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ty.fmt(f)
    }
}

impl Scheme {
    /// The type of what returns nothing.
    pub(crate) fn nothing() -> Scheme {
        Scheme { variables: Vec::new(), ty: Type::Tuple(Vec::new().into()) }
    }
}

//! Sets of types that operations have.

use super::ty::Type;
use halide_core::types::ScalarType;
use std::fmt;

/// A set of types, closed under the distinctions that operations make.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Class(u8);

impl Class {
    /// Truth values.
    pub const BOOL: Class = Class(1);
    /// Integers.
    pub const INTEGER: Class = Class(2);
    /// Floating-point numbers.
    pub const REAL: Class = Class(4);
    /// Sequences, tuples and functions.
    const COMPOUND: Class = Class(8);
    /// Integers and reals.
    pub const NUMBER: Class = Class(2 | 4);
    /// Truth values and integers.
    pub const BITS: Class = Class(1 | 2);
    /// All but compounds.
    pub const SCALAR: Class = Class(1 | 2 | 4);
    /// Every type.
    pub const ANY: Class = Class(15);

    /// The class of one type that is no variable.
    pub(crate) fn of(ty: &Type) -> Class {
        match ty {
            Type::Scalar(ScalarType::Bool) => Class::BOOL,
            Type::Scalar(ty) if ty.is_float() => Class::REAL,
            Type::Scalar(_) => Class::INTEGER,
            _ => Class::COMPOUND,
        }
    }

    /// The types of both; `None` if there are none.
    pub(crate) fn meet(self, other: Class) -> Option<Class> {
        let both = self.0 & other.0;
        (both != 0).then_some(Class(both))
    }

    /// Returns true if every type of `other` is in it.
    pub(crate) fn contains(self, other: Class) -> bool {
        self.0 & other.0 == other.0
    }

    /// The type of what has no other: an integer, else a real, else a truth value.
    pub(crate) fn default_type(self) -> Option<Type> {
        match self {
            Class::ANY => None,
            _ if self.contains(Class::INTEGER) => Some(Type::INT),
            _ if self.contains(Class::REAL) => Some(Type::Scalar(ScalarType::F64)),
            _ if self.contains(Class::BOOL) => Some(Type::BOOL),
            _ => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Class::BOOL => "Bool",
            Class::INTEGER => "an integer",
            Class::REAL => "a real number",
            Class::NUMBER => "a number",
            Class::BITS => "Bool or an integer",
            Class::SCALAR => "a scalar",
            Class::COMPOUND => "a sequence, a tuple or a function",
            Class::ANY => "any type",
            _ => "another type",
        })
    }
}

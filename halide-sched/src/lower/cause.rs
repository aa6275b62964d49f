//! Directives that multiply code: what errors of the budget name.

use halide_core::error::Location;
use std::fmt;

/// A directive that multiplies code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The loop or the definition.
    pub name: String,
    /// The multiplication.
    pub how: Multiplies,
    /// The directive's place in the schedule.
    pub at: Option<Location>,
}

/// The number of times that a directive has code written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Multiplies {
    /// Copies of an unrolled loop's body.
    Unrolled(i64),
    /// Lanes of a vectorized loop.
    Vectorized(i64),
    /// Variants of a definition, with all that is computed inside of their loops.
    Specialised(u64),
    /// A prologue, a steady state and an epilogue of a loop.
    Cut,
}

impl Multiplies {
    /// Returns the number of times.
    pub(crate) fn times(self) -> u64 {
        match self {
            Multiplies::Unrolled(n) | Multiplies::Vectorized(n) => n.unsigned_abs(),
            Multiplies::Specialised(n) => n,
            Multiplies::Cut => 3,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{at}: ")?;
        }
        match self.how {
            Multiplies::Unrolled(n) => write!(f, "`{}` is unrolled {n} times", self.name),
            Multiplies::Vectorized(n) => write!(f, "`{}` is vectorized by {n}", self.name),
            Multiplies::Specialised(n) => write!(f, "`{}` has {n} variants", self.name),
            Multiplies::Cut => write!(f, "`{}` is cut into prologue, steady state and epilogue", self.name),
        }
    }
}

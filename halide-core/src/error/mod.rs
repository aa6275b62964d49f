//! The mistakes that an algorithm can have.

pub(crate) mod debug;
mod kinds;

pub use crate::location::Location;
pub(crate) use debug::debug_is_display;
pub use kinds::AlgorithmErrorKind;

use std::fmt;

/// One mistake in an algorithm: what is wrong, where, and what would do.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlgorithmError {
    /// The place of the mistake in the source.
    pub at: Location,
    /// The mistake.
    pub kind: AlgorithmErrorKind,
}

impl fmt::Display for AlgorithmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  help: {}", self.at, self.kind.reason(), self.kind.help())
    }
}

debug_is_display!(AlgorithmError, AlgorithmErrors);

impl std::error::Error for AlgorithmError {}

/// Every mistake of an algorithm, sorted by place; never empty.
#[derive(Clone, PartialEq, Eq)]
pub struct AlgorithmErrors(pub Vec<AlgorithmError>);

impl fmt::Display for AlgorithmErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AlgorithmErrors {}

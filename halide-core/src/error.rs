//! Places in the user's source, and what can be wrong with an algorithm.

use std::fmt;

/// A place in the user's source: where an expression, definition or directive was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file as the compiler names it, or a name for text that was parsed.
    pub file: &'static str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl Location {
    /// The caller's place; meaningful in functions marked `#[track_caller]`.
    #[track_caller]
    pub fn caller() -> Location {
        std::panic::Location::caller().into()
    }
}

impl From<&'static std::panic::Location<'static>> for Location {
    fn from(at: &'static std::panic::Location<'static>) -> Location {
        Location { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

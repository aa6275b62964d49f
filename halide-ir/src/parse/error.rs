//! The error of text that is no loop IR.

use std::fmt;

/// A reason for which text is no loop IR, with its place.
#[derive(Clone, PartialEq, Eq)]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The defect of the text.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

halide_core::debug_is_display!(ParseError);

impl std::error::Error for ParseError {}

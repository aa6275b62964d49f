//! The errors of texts that are no schedules.

use halide_core::error::Location;
use std::fmt;

/// Everything that is wrong with a text that should be a schedule.
#[derive(Clone, PartialEq, Eq)]
pub struct ParseErrors(pub Vec<ParseError>);

/// One thing that is wrong with a text that should be a schedule.
#[derive(Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The place in the text.
    pub at: Location,
    /// The message: what was expected, and what is there.
    pub message: String,
    /// The remedy, if one is known.
    pub help: Option<String>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl fmt::Display for ParseErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let line = if i == 0 { "" } else { "\n" };
            write!(f, "{line}{error}")?;
        }
        Ok(())
    }
}

halide_core::debug_is_display!(ParseError, ParseErrors);

impl std::error::Error for ParseError {}
impl std::error::Error for ParseErrors {}

//! Errors of replays and pictures.

use std::fmt;

/// A trace that cannot be replayed, or a picture that cannot be encoded.
#[derive(Clone)]
#[non_exhaustive]
pub enum OrderError {
    /// The run failed.
    Run(Box<halide::Error>),
    /// The run has more events than a replay keeps.
    TooManyEvents {
        /// The most events of a replay.
        most: usize,
    },
    /// A canvas has more cells than can be told apart in a picture.
    TooManyCells {
        /// The Func or image.
        name: String,
        /// Its cells.
        cells: u128,
        /// The most cells of a canvas.
        most: usize,
    },
    /// The run stored nothing.
    Empty,
    /// An encoder failed.
    Encode {
        /// The format.
        format: &'static str,
        /// The encoder's message.
        message: String,
    },
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::Run(error) => write!(f, "the traced run failed: {error}"),
            OrderError::TooManyEvents { most } => {
                write!(f, "the run has more than {most} events to draw; trace a smaller region")
            }
            OrderError::TooManyCells { name, cells, most } => {
                write!(f, "`{name}` has {cells} points to draw, where {most} fit; trace a smaller region")
            }
            OrderError::Empty => write!(f, "the run stored nothing to draw; trace a region with points"),
            OrderError::Encode { format, message } => {
                write!(f, "the picture cannot be encoded as {format}: {message}; draw a smaller one")
            }
        }
    }
}

halide::debug_is_display!(OrderError);

impl std::error::Error for OrderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OrderError::Run(error) => Some(error.as_ref()),
            _ => None,
        }
    }
}

//! Requirements, and lines to print.

use crate::location::Location;
use crate::value::Scalar;

/// A requirement, or a line to print.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoteDef {
    /// The kind of note.
    pub kind: NoteKind,
    /// The text, with spaces between the pieces.
    pub text: Vec<Piece>,
    /// The place in the source where it was written.
    pub at: Location,
}

/// The kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// The run fails where the condition does not hold.
    Require,
    /// A line is printed where the condition holds.
    Print,
}

/// A piece of what a note says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Always the same.
    Text(String),
    /// The next of the values.
    Value,
}

/// The text of `pieces` with `values` filled in, with spaces between.
pub fn note_text(pieces: &[Piece], values: &[Scalar]) -> String {
    let mut values = values.iter();
    let words = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Value => values.next().map_or_else(|| "?".to_string(), Scalar::to_string),
    });
    words.collect::<Vec<_>>().join(" ")
}

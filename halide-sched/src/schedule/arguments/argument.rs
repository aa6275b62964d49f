//! The parts that all kinds of arguments share.

use super::super::error::ParseError;
use super::super::text::Text;
use super::super::values::{Amount, Condition, Site};
use std::fmt;

/// A kind of argument of directives. A type that is its own kind is read in one way wherever it is an argument.
pub(crate) trait Argument {
    /// The argument.
    type Value;
    /// The kind in words.
    const KIND: &'static str;
    /// True if the argument may be left out.
    const OPTIONAL: bool = false;
    /// Reads an argument with the comma before it.
    fn read(args: &mut Reader<'_, '_>) -> Result<Self::Value, ParseError>;
    /// Writes an argument, or nothing where it may be left out.
    fn write(value: &Self::Value, out: &mut Written<'_, '_>) -> fmt::Result;
    /// Makes an argument at random.
    fn draw(from: &mut dyn Draws) -> Self::Value;
}

/// A source of arguments for directives that are drawn at random: sensible ones, or any at all.
pub trait Draws {
    /// Returns a number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize;
    /// Returns the name of a loop.
    fn loop_name(&mut self) -> String;
    /// Returns a name for a loop that a directive makes.
    fn new_name(&mut self) -> String;
    /// Returns the name of a dimension.
    fn dim(&mut self) -> String;
    /// Returns the name of a Func.
    fn func(&mut self) -> String;
    /// Returns the name of a Func or an image.
    fn func_or_image(&mut self) -> String;
    /// Returns an integer.
    fn integer(&mut self) -> i64;
    /// Returns a constant or a parameter.
    fn amount(&mut self) -> Amount;
    /// Returns a loop of another stage.
    fn site(&mut self) -> Site;
    /// Returns the condition of a specialisation.
    fn condition(&mut self) -> Condition;
}

/// The arguments of a directive while they are read.
pub(crate) struct Reader<'a, 't> {
    pub(super) text: &'a mut Text<'t>,
    /// True if there are parentheses.
    open: bool,
    pub(super) first: bool,
}

impl<'a, 't> Reader<'a, 't> {
    /// Arguments from `text`, which stands behind the parenthesis if one is `open`.
    pub(crate) fn new(text: &'a mut Text<'t>, open: bool) -> Reader<'a, 't> {
        Reader { text, open, first: true }
    }

    /// Goes on to an argument that must be there.
    pub(crate) fn required(&mut self) -> Result<&mut Text<'t>, ParseError> {
        if !std::mem::replace(&mut self.first, false) {
            self.text.expect(",")?;
        }
        Ok(self.text)
    }

    /// Goes on to a list in brackets, and reads it.
    pub(crate) fn bracketed<T>(
        &mut self,
        item: impl Fn(&mut Text<'_>) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let text = self.required()?;
        text.expect("[")?;
        text.items("]", item)
    }

    /// Goes on to an argument that may be left out, unless it is.
    pub(super) fn optional(&mut self) -> Option<&mut Text<'t>> {
        let more = match std::mem::replace(&mut self.first, false) {
            true => self.open && !self.text.sees(")"),
            false => self.text.take(","),
        };
        more.then_some(&mut *self.text)
    }
}

/// The arguments of a directive while they are written.
pub(crate) struct Written<'w, 'f> {
    out: &'w mut fmt::Formatter<'f>,
    first: bool,
    /// True if a list stands in brackets, as the next one then does.
    pub(super) brackets: bool,
}

impl<'w, 'f> Written<'w, 'f> {
    pub(crate) fn new(out: &'w mut fmt::Formatter<'f>) -> Written<'w, 'f> {
        Written { out, first: true, brackets: false }
    }

    pub(super) fn argument(&mut self, value: impl fmt::Display) -> fmt::Result {
        let comma = if std::mem::replace(&mut self.first, false) { "" } else { ", " };
        write!(self.out, "{comma}{value}")
    }
}

/// Returns up to three arguments.
pub(super) fn several<T>(from: &mut dyn Draws, mut one: impl FnMut(&mut dyn Draws) -> T) -> Vec<T> {
    (0..from.below(4)).map(|_| one(from)).collect()
}

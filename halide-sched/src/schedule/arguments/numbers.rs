//! Arguments that are numbers.

use super::super::error::ParseError;
use super::super::text::{Text, separated};
use super::super::values::{Amount, Identity};
use super::argument::{Argument, Draws, Reader, Written, several};
use super::words::choice;
use std::fmt;

impl Argument for Amount {
    type Value = Amount;
    const KIND: &'static str = "amount";
    fn read(args: &mut Reader<'_, '_>) -> Result<Amount, ParseError> {
        amount(args.required()?)
    }
    fn write(value: &Amount, out: &mut Written<'_, '_>) -> fmt::Result {
        out.argument(value)
    }
    fn draw(from: &mut dyn Draws) -> Amount {
        from.amount()
    }
}

/// A constant, a parameter or `natural`.
pub(crate) fn amount(text: &mut Text<'_>) -> Result<Amount, ParseError> {
    text.amount()
}

/// The factor of a split, if there is one.
pub(crate) struct Factor;

impl Argument for Factor {
    type Value = Option<Amount>;
    const KIND: &'static str = "amount";
    const OPTIONAL: bool = true;
    fn read(args: &mut Reader<'_, '_>) -> Result<Option<Amount>, ParseError> {
        args.optional().map(amount).transpose()
    }
    fn write(value: &Option<Amount>, out: &mut Written<'_, '_>) -> fmt::Result {
        value.iter().try_for_each(|value| out.argument(value))
    }
    fn draw(from: &mut dyn Draws) -> Option<Amount> {
        if from.below(2) == 0 { None } else { Some(from.amount()) }
    }
}

/// An integer.
pub(crate) struct Integer;

impl Argument for Integer {
    type Value = i64;
    const KIND: &'static str = "integer";
    fn read(args: &mut Reader<'_, '_>) -> Result<i64, ParseError> {
        integer(args.required()?)
    }
    fn write(value: &i64, out: &mut Written<'_, '_>) -> fmt::Result {
        out.argument(value)
    }
    fn draw(from: &mut dyn Draws) -> i64 {
        from.integer()
    }
}

/// Declares kinds of integers that may be left out.
macro_rules! integer_or {
    ($($(#[$doc:meta])+ $kind:ident $default:literal;)*) => {$(
        $(#[$doc])+
        pub(crate) struct $kind;

        impl Argument for $kind {
            type Value = i64;
            const KIND: &'static str = concat!("integer, by default ", $default);
            const OPTIONAL: bool = true;
            fn read(args: &mut Reader<'_, '_>) -> Result<i64, ParseError> {
                args.optional().map_or(Ok($default), integer)
            }
            fn write(value: &i64, out: &mut Written<'_, '_>) -> fmt::Result {
                out.argument(value)
            }
            fn draw(from: &mut dyn Draws) -> i64 {
                from.integer()
            }
        }
    )*};
}

integer_or! {
    /// A number of iterations.
    Offset 1;
    /// The rest of a division.
    Remainder 0;
}

fn integer(text: &mut Text<'_>) -> Result<i64, ParseError> {
    text.number("a number")
}

/// The first coordinate and the extent of each dimension: `[0, 100], [0, 80]`.
pub(crate) struct Estimates;

impl Argument for Estimates {
    type Value = Vec<(i64, i64)>;
    const KIND: &'static str = "[min, extent], ...";
    fn read(args: &mut Reader<'_, '_>) -> Result<Vec<(i64, i64)>, ParseError> {
        let mut region = Vec::new();
        while let Some(text) = args.optional() {
            text.expect("[")?;
            let min = integer(text)?;
            text.expect(",")?;
            region.push((min, integer(text)?));
            text.expect("]")?;
        }
        Ok(region)
    }
    fn write(region: &Vec<(i64, i64)>, out: &mut Written<'_, '_>) -> fmt::Result {
        region.iter().try_for_each(|(min, extent)| out.argument(format_args!("[{min}, {extent}]")))
    }
    fn draw(from: &mut dyn Draws) -> Vec<(i64, i64)> {
        several(from, |from| (from.integer(), from.integer()))
    }
}

/// The identity of an operation: a value, or in brackets one for each element of a tuple.
pub(crate) struct Identities;

impl Argument for Identities {
    type Value = Vec<Identity>;
    const KIND: &'static str = "identity or [identities]";
    fn read(args: &mut Reader<'_, '_>) -> Result<Vec<Identity>, ParseError> {
        let text = args.required()?;
        if text.take("[") { text.items("]", identity) } else { Ok(vec![identity(text)?]) }
    }
    fn write(identity: &Vec<Identity>, out: &mut Written<'_, '_>) -> fmt::Result {
        match &identity[..] {
            [value] => out.argument(value),
            _ => out.argument(format_args!("[{}]", separated(identity))),
        }
    }
    fn draw(from: &mut dyn Draws) -> Vec<Identity> {
        several(from, |from| match from.below(3) {
            0 => Identity::Lowest,
            1 => Identity::Highest,
            _ => Identity::Const(from.integer()),
        })
    }
}

fn identity(text: &mut Text<'_>) -> Result<Identity, ParseError> {
    let expected = "a number, `lowest` or `highest`";
    if text.sees_number() {
        return text.number(expected).map(Identity::Const);
    }
    choice(text, expected, &[Identity::Lowest, Identity::Highest], Identity::word)
}

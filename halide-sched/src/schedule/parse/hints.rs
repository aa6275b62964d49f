//! The arguments of the words about sizes, caches, and operations that the compiler does not know.

use super::super::directive::{Identity, PrefetchBound, Verb};
use super::ParseError;
use super::directive::{next_integer, next_var, one_of, var};
use super::text::Text;

/// `f, at, from`, then an offset, then what is done at the bounds.
pub(super) fn prefetch(text: &mut Text<'_>) -> Result<Verb, ParseError> {
    let what = text.func("the name of a Func or an image")?.name;
    let (at, from) = (next_var(text)?, next_var(text)?);
    let offset = if text.sees(",") { next_integer(text)? } else { 1 };
    let choices = [PrefetchBound::GuardWithIf, PrefetchBound::Clamp, PrefetchBound::NonFaulting];
    let expected = "GuardWithIf, Clamp or NonFaulting";
    let bound =
        if text.take(",") { one_of(text, expected, choices, PrefetchBound::word)? } else { PrefetchBound::default() };
    Ok(Verb::Prefetch { what, at, from, offset, bound })
}

/// `x, 0, 100`.
pub(super) fn set_estimate(text: &mut Text<'_>) -> Result<Verb, ParseError> {
    Ok(Verb::SetEstimate { var: var(text)?, min: next_integer(text)?, extent: next_integer(text)? })
}

/// `[0, 100], [0, 80]`, up to `)`.
pub(super) fn set_estimates(text: &mut Text<'_>) -> Result<Verb, ParseError> {
    let mut region = Vec::new();
    while !text.sees(")") {
        if !region.is_empty() {
            text.expect(",")?;
        }
        text.expect("[")?;
        let min = text.integer("a number")?;
        let extent = next_integer(text)?;
        text.expect("]")?;
        region.push((min, extent));
    }
    Ok(Verb::SetEstimates(region))
}

/// `0`, or `[0, 1]` for a tuple; then `commutative`, if it is.
pub(super) fn monoid(text: &mut Text<'_>) -> Result<Verb, ParseError> {
    let identity = if text.take("[") { text.items("]", identity)? } else { vec![identity(text)?] };
    let commutes = text.take(",");
    if commutes {
        one_of(text, "`commutative`", [()], |()| "commutative")?;
    }
    Ok(Verb::Monoid { identity, commutes })
}

fn identity(text: &mut Text<'_>) -> Result<Identity, ParseError> {
    let what = "a number, `lowest` or `highest`";
    if text.peek_integer() {
        return text.integer(what).map(Identity::Const);
    }
    one_of(text, what, [Identity::Lowest, Identity::Highest], Identity::word)
}

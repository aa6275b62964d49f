//! Arguments that are one of a few words.

use super::super::error::ParseError;
use super::super::text::Text;
use super::super::values::{Align, FloatMode, Memory, Partition, PrefetchBound, Tail};
use super::argument::{Argument, Draws, Reader, Written};
use halide_ir::spelling::closest;
use std::fmt;

/// A value that is written as a word.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// All of them.
    const ALL: &'static [Self];
    /// Returns the word.
    fn word(self) -> &'static str;
    /// Returns the words in a sentence.
    fn expected() -> String {
        let words: Vec<&str> = Self::ALL.iter().map(|value| value.word()).collect();
        match &words[..] {
            [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.concat(),
        }
    }
}

/// Reads the word of a value.
pub(crate) fn one_of<W: Word>(text: &mut Text<'_>) -> Result<W, ParseError> {
    choice(text, &W::expected(), W::ALL, W::word)
}

/// Reads one of the words that `word` gives for `choices`.
pub(super) fn choice<T: Copy>(
    text: &mut Text<'_>,
    expected: &str,
    choices: &[T],
    word: impl Fn(T) -> &'static str,
) -> Result<T, ParseError> {
    let mut error = text.expected(expected);
    let found = text.word(expected)?;
    choices.iter().copied().find(|c| word(*c) == found).ok_or_else(|| {
        let near = closest(found, choices.iter().map(|c| word(*c)));
        error.help = near.map(|near| format!("did you mean `{near}`?"));
        error
    })
}

/// Declares words that are the names of variants, and the kind of an argument that is one of them. With `or`, it may be
/// left out.
macro_rules! words {
    ($($ty:ident $words:literal $(or $default:ident)? { $($variant:ident),* })*) => {$(
        impl Word for $ty {
            const ALL: &'static [$ty] = &[$($ty::$variant),*];
            fn word(self) -> &'static str {
                match self {
                    $($ty::$variant => stringify!($variant)),*
                }
            }
        }

        word_argument!($ty $words $(or $default)?);
    )*};
}

macro_rules! word_argument {
    ($ty:ident $words:literal) => {
        impl Argument for $ty {
            type Value = $ty;
            const KIND: &'static str = $words;
            fn read(args: &mut Reader<'_, '_>) -> Result<$ty, ParseError> {
                one_of(args.required()?)
            }
            fn write(value: &$ty, out: &mut Written<'_, '_>) -> fmt::Result {
                out.argument(Word::word(*value))
            }
            fn draw(from: &mut dyn Draws) -> $ty {
                <$ty as Word>::ALL[from.below(<$ty as Word>::ALL.len())]
            }
        }
    };
    ($ty:ident $words:literal or $default:ident) => {
        impl Argument for $ty {
            type Value = $ty;
            const KIND: &'static str = $words;
            const OPTIONAL: bool = true;
            fn read(args: &mut Reader<'_, '_>) -> Result<$ty, ParseError> {
                args.optional().map_or(Ok($ty::$default), one_of)
            }
            fn write(value: &$ty, out: &mut Written<'_, '_>) -> fmt::Result {
                if *value == $ty::$default { Ok(()) } else { out.argument(Word::word(*value)) }
            }
            fn draw(from: &mut dyn Draws) -> $ty {
                <$ty as Word>::ALL[from.below(<$ty as Word>::ALL.len())]
            }
        }
    };
}

words! {
    Partition "choice of partition" { Auto, Never, Always }
    Memory "kind of memory" { Auto, Heap, Stack, Register, Shared, Global }
    PrefetchBound "treatment of bounds, by default GuardWithIf" or GuardWithIf { GuardWithIf, Clamp, NonFaulting }
}

impl Word for FloatMode {
    const ALL: &'static [FloatMode] = &[FloatMode::Strict, FloatMode::Contract, FloatMode::Relaxed];
    fn word(self) -> &'static str {
        FloatMode::word(self)
    }
}

word_argument!(FloatMode "mode of floats");

impl Word for Tail {
    const ALL: &'static [Tail] = &Tail::ALL;
    fn word(self) -> &'static str {
        Tail::word(self)
    }
    fn expected() -> String {
        "a tail strategy".to_string()
    }
}

word_argument!(Tail "tail strategy" or Auto);

impl Word for Align {
    const ALL: &'static [Align] = &[Align::NoAlign, Align::AlignStart, Align::AlignEnd];
    fn word(self) -> &'static str {
        match self {
            Align::NoAlign => "NoAlign",
            Align::AlignStart => "AlignStart",
            Align::AlignEnd => "AlignEnd",
        }
    }
}

impl Argument for Align {
    type Value = Align;
    const KIND: &'static str = "alignment";
    const OPTIONAL: bool = true;
    /// Reads alignments up to one that is for a single loop; the last one counts.
    fn read(args: &mut Reader<'_, '_>) -> Result<Align, ParseError> {
        let mut align = Align::default();
        while !args.text.sees_pair(",", "[") {
            match args.optional() {
                Some(text) => align = one_of(text)?,
                None => break,
            }
        }
        Ok(align)
    }
    fn write(align: &Align, out: &mut Written<'_, '_>) -> fmt::Result {
        if *align == Align::default() { Ok(()) } else { out.argument(align.word()) }
    }
    fn draw(from: &mut dyn Draws) -> Align {
        Align::ALL[from.below(Align::ALL.len())]
    }
}

/// Declares flags: words that may be left out, and their value where they stand.
macro_rules! flag {
    ($($(#[$doc:meta])+ $kind:ident $word:literal $value:literal;)*) => {$(
        $(#[$doc])+
        pub(crate) struct $kind;

        impl Argument for $kind {
            type Value = bool;
            const KIND: &'static str = concat!("`", $word, "`");
            const OPTIONAL: bool = true;
            fn read(args: &mut Reader<'_, '_>) -> Result<bool, ParseError> {
                let expected = if args.first { concat!("`", $word, "` or `)`") } else { concat!("`", $word, "`") };
                args.optional().map_or(Ok(!$value), |text| choice(text, expected, &[$value], |_| $word))
            }
            fn write(value: &bool, out: &mut Written<'_, '_>) -> fmt::Result {
                if *value == $value { out.argument($word) } else { Ok(()) }
            }
            fn draw(from: &mut dyn Draws) -> bool {
                from.below(2) == 0
            }
        }
    )*};
}

flag! {
    /// Coordinates are computed in falling order; the value says that they grow.
    Backward "backward" false;
    /// The operation commutes.
    Commutative "commutative" true;
    /// The order of iterations does not matter.
    AnyOrder "any_order" true;
}

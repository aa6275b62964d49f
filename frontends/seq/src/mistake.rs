//! The mistakes that a proc can have before it runs: of its text and of its types.

use crate::span::Span;
use crate::tuning::MOST_PARTS;
use crate::types::{Class, Type};
use halide_core::debug_is_display;
use std::fmt;

/// One mistake of a proc, with its place.
#[derive(Clone, PartialEq)]
pub struct Mistake {
    /// The place in the text, or in the Rust file.
    pub span: Span,
    /// The problem.
    pub kind: Box<MistakeKind>,
}

/// The kinds of mistakes.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum MistakeKind {
    /// A character that begins no token.
    Character(char),
    /// A number that no type holds, or no number at all.
    Number(String),
    /// A line that is indented as no line around it.
    Indentation,
    /// An expression with too many others inside of each other.
    TooHigh,
    /// A bracket that is never closed.
    Unclosed,
    /// One token in the place of another.
    Unexpected {
        /// A description of what must stand here.
        expected: &'static str,
        /// The token.
        found: String,
    },
    /// A text without a def.
    NoDef,
    /// A def or an arm that ends without `return`.
    NoReturn(String),
    /// A statement behind one that returns.
    Unreachable,
    /// Two parameters, or two names of a pattern, that are the same.
    Twice(String),
    /// A name that nothing binds.
    UnknownName {
        /// The name.
        name: String,
        /// The most similar name that is bound here.
        nearest: Option<String>,
    },
    /// A value of another type than its place asks for.
    Type {
        /// The type that the place asks for.
        expected: Type,
        /// The type of the value.
        found: Type,
        /// The parts of these that differ, where they are not the whole.
        parts: Option<(Type, Type)>,
    },
    /// A type with too many parts.
    LargeType,
    /// A type that would contain itself.
    Infinite(Type),
    /// A type that an operation does not have.
    Class {
        /// The types that are allowed.
        expected: Wanted,
        /// The type of the value, or those that it may have.
        found: Wanted,
    },
    /// A call with too many or too few arguments.
    Arity {
        /// The name of the function.
        callee: String,
        /// The number of its parameters.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
    /// A call of what is no function.
    NotAFunction(Type),
    /// A sequence or a result of functions.
    FunctionAsData(Type),
    /// A def that calls itself, and then does something with the result.
    NotATailCall(String),
}

/// One type, or any of several.
#[derive(Clone, PartialEq, Debug)]
pub enum Wanted {
    /// The type.
    Type(Type),
    /// The types.
    Class(Class),
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Type(ty) => ty.fmt(f),
            Wanted::Class(class) => class.fmt(f),
        }
    }
}

impl Mistake {
    pub(crate) fn new(span: Span, kind: impl Into<Box<MistakeKind>>) -> Mistake {
        Mistake { span, kind: kind.into() }
    }

    fn reason(&self) -> String {
        match &*self.kind {
            MistakeKind::Character(c) => format!("`{c}` begins nothing that a proc may contain"),
            MistakeKind::Number(text) => format!("`{text}` is no number that Long or Double holds"),
            MistakeKind::Indentation => "the line is indented as no line around it".into(),
            MistakeKind::TooHigh => "the expression has too many operators on each other's results".into(),
            MistakeKind::Unclosed => "the bracket is never closed".into(),
            MistakeKind::Unexpected { expected, found } => format!("expected {expected}, found {found}"),
            MistakeKind::NoDef => "the text defines no proc".into(),
            MistakeKind::NoReturn(name) => format!("`{name}` ends without `return`"),
            MistakeKind::Unreachable => "the statement is never reached".into(),
            MistakeKind::Twice(name) => format!("`{name}` is bound twice here"),
            MistakeKind::UnknownName { name, .. } => format!("`{name}` is not defined"),
            MistakeKind::Type { expected, found, parts } => {
                let names = Type::display_together(&[expected, found]);
                let (expected, found) = (&names[0], &names[1]);
                match parts {
                    None => format!("expected {expected}, found {found}"),
                    Some((a, b)) => {
                        let parts = Type::display_together(&[a, b]);
                        format!("expected {expected}, found {found}: {} is not {}", parts[1], parts[0])
                    }
                }
            }
            MistakeKind::LargeType => format!("the type of the value has more than {MOST_PARTS} parts"),
            MistakeKind::Infinite(ty) => format!("the type would contain itself: {ty}"),
            MistakeKind::Class { expected, found } => format!("expected {expected}, found {found}"),
            MistakeKind::Arity { callee, expected, found } => {
                format!("`{callee}` takes {expected} argument{}, {found} given", if *expected == 1 { "" } else { "s" })
            }
            MistakeKind::NotAFunction(ty) => format!("a value of type {ty} is called"),
            MistakeKind::FunctionAsData(ty) => format!("functions are no data: {ty}"),
            MistakeKind::NotATailCall(name) => format!("`{name}` calls itself, and uses the result"),
        }
    }

    fn help(&self) -> Option<String> {
        Some(match &*self.kind {
            MistakeKind::Indentation => "indent it as the line above, or as one around that".into(),
            MistakeKind::TooHigh => "give a part of it a name".into(),
            MistakeKind::NoDef => "write `def name(parameters): ..`".into(),
            MistakeKind::NoReturn(_) => "end it with `return value`, in both arms of an `if`".into(),
            MistakeKind::Unreachable => "remove it, or the `return` before it".into(),
            MistakeKind::UnknownName { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            MistakeKind::Class { expected: Wanted::Class(Class::BOOL), .. } => "compare it with something".into(),
            MistakeKind::Infinite(_) => "a function that takes itself, or a sequence in itself, has no type".into(),
            MistakeKind::NotATailCall(_) => "return the call itself, and pass what is still to be done with it".into(),
            MistakeKind::FunctionAsData(_) => "call the function here, or pass it to a primitive".into(),
            _ => return None,
        })
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.span, self.reason())?;
        match self.help() {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// Every mistake of a proc, in the order of their places; never empty.
#[derive(Clone, PartialEq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, mistake) in self.0.iter().enumerate() {
            write!(f, "{}{mistake}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

debug_is_display!(Mistake, Mistakes);

impl std::error::Error for Mistake {}
impl std::error::Error for Mistakes {}

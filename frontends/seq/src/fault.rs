//! The mistakes that only a run finds, and what cannot be lowered.

use crate::span::Span;
use crate::tuning::{MOST_CALLS, MOST_ROUNDS};
use crate::types::Type;
use halide_core::debug_is_display;
use std::fmt;

/// A reason that a proc has no value.
#[derive(Clone, PartialEq)]
pub struct Fault {
    /// The place of the primitive in the proc.
    pub span: Span,
    /// The problem.
    pub kind: Box<FaultKind>,
}

/// The kinds of faults.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// An index that is none of the sequence's.
    Outside {
        /// The primitive, or `x[i]`.
        primitive: &'static str,
        /// The place of the index in the sequence of indices; `None` of `x[i]`.
        position: Option<usize>,
        /// The index.
        index: i128,
        /// The number of elements.
        extent: usize,
    },
    /// Sequences of different lengths that are walked together.
    Lengths {
        /// The primitive.
        primitive: &'static str,
        /// The length of the first one.
        first: usize,
        /// The length of the other.
        other: usize,
    },
    /// A number of elements below 0.
    Negative {
        /// The primitive.
        primitive: &'static str,
        /// The number.
        length: i64,
    },
    /// Calls inside of each other that are too many.
    Calls,
    /// More elements than the interpreter has memory for.
    TooLong {
        /// The number.
        length: usize,
    },
    /// A def that calls itself again and again.
    Endless,
    /// An argument of another type than the proc takes.
    Argument {
        /// The parameter, from 0.
        parameter: usize,
        /// The type that the proc takes.
        expected: Type,
        /// The type of the argument.
        found: Type,
    },
    /// A number of arguments that the proc does not take.
    Arguments {
        /// The number of parameters.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
    /// A use of a primitive that lowering makes no pipeline of.
    Unsupported(&'static str),
    /// A tree that inference should have refused: a defect of this crate.
    Confused,
}

impl Fault {
    pub(crate) fn new(span: Span, kind: FaultKind) -> Fault {
        Fault { span, kind: Box::new(kind) }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason())
    }
}

impl FaultKind {
    fn reason(&self) -> String {
        match self {
            FaultKind::Outside { primitive, position: None, index, extent } => {
                format!("`{primitive}` has index {index} where there are {extent} elements")
            }
            FaultKind::Outside { primitive, position: Some(position), index, extent } => {
                format!("`{primitive}` has index {index} at position {position} where there are {extent} elements")
            }
            FaultKind::Lengths { primitive, first, other } => {
                format!("`{primitive}` takes sequences of one length but there are {first} and {other} elements")
            }
            FaultKind::Negative { primitive, length } => format!("`{primitive}` cannot make {length} elements"),
            FaultKind::Calls => format!("more than {MOST_CALLS} calls are inside of each other"),
            FaultKind::TooLong { length } => format!("{length} elements are too many for the interpreter of procs"),
            FaultKind::Endless => format!("the def calls itself more than {MOST_ROUNDS} times"),
            FaultKind::Argument { parameter, expected, found } => {
                let names = Type::display_together(&[expected, found]);
                format!("argument {} is {}, but {} is expected", parameter + 1, names[1], names[0])
            }
            FaultKind::Arguments { expected, found } => format!("the proc takes {expected} arguments, {found} given"),
            FaultKind::Unsupported(what) => format!("{what} cannot be a pipeline"),
            FaultKind::Confused => "the proc has a mistake that its types do not show: a defect of halide-seq".into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.span, self.kind)
    }
}

debug_is_display!(Fault);

impl std::error::Error for Fault {}

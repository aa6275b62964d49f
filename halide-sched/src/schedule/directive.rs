//! A directive: its subject, its word and its arguments. The table of directives says what there is.

use super::arguments::{
    AnyOrder, Argument, AxisLoops, Backward, Commutative, Dim, Dims, Estimates, Factor, FuncOrImage, Funcs, Identities,
    InstructionName, Integer, Loop, LoopAligns, LoopOrLoops, Loops, Message, NewDim, NewLoop, NewLoopOrLoops, Offset,
    Remainder, Written, kind,
};
use super::table::with_directives;
use super::values::{
    Align, Amount, Condition, FloatMode, Identity, LoopKind, Memory, Partition, PrefetchBound, Site, Tail,
};
use halide_core::error::Location;
use std::fmt;

/// One directive with its subject and place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Directive {
    /// The stage or Func whose loops or storage it speaks of.
    pub subject: Subject,
    /// The word and its arguments.
    pub verb: Verb,
    /// The place at which it was written; not part of equality of schedules.
    pub at: Option<Location>,
}

/// The stage a directive speaks of: `f`, `f.update(1)`, or a specialisation of it, `f.specialize(COND)`; or every
/// update of a Func, `f.updates()`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject {
    /// Name of the Func. `g.in(f)` names the wrapper that `in_` made of `g` for `f`; `g.in()` the global one.
    pub func: String,
    /// 0 is the pure definition, `k` the k-th update (`update(k - 1)` in text and builder).
    pub stage: usize,
    /// True if it speaks of every update of the Func, `updates()` in text and builder; `stage` is 0 then.
    pub updates: bool,
    /// The chain of specialisations (by position, from 0, in the order they were written) this speaks of; empty is the
    /// general case.
    pub specializations: Vec<usize>,
}

/// The kinds of things that directives speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The graph of Funcs: a new Func is made before anything else is decided.
    Graph,
    /// A Func as a whole: its region, its place, its storage.
    Func,
    /// The loops of a stage, or of one of its specialisations.
    Stage,
}

/// Declares the variants of [`Verb`], one after the other.
macro_rules! variants {
    ({ $($done:tt)* }) => {
        /// The directives with their arguments, in the order in which they are written. Words that differ in one
        /// argument alone are one variant. The methods of [`StageSchedule`](super::StageSchedule) document each.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // The table of directives has the documentation.
        pub enum Verb { $($done)* }
    };
    ({ $($done:tt)* } $verb:ident [] {}; $($rest:tt)*) => {
        variants!({ $($done)* $verb, } $($rest)*);
    };
    ({ $($done:tt)* } $verb:ident [] ($argument:ident: $kind:ident); $($rest:tt)*) => {
        variants!({ $($done)* $verb(kind!($kind)), } $($rest)*);
    };
    (
        { $($done:tt)* } $verb:ident [$($field:ident: $ty:ty)?] { $($argument:ident: $kind:ident),* };
        $($rest:tt)*
    ) => {
        variants!({ $($done)* $verb { $($field: $ty,)? $($argument: kind!($kind)),* }, } $($rest)*);
    };
}

/// A variant with its arguments in variables, as a pattern or as an expression.
macro_rules! shape {
    ($verb:ident {} $($value:tt)*) => { Verb::$verb { $($value)* } };
    ($verb:ident ($argument:ident: $kind:ident)) => { Verb::$verb($argument) };
    ($verb:ident { $($argument:ident: $kind:ident),* } $($value:tt)+) => {
        Verb::$verb { $($value)+, $($argument),* }
    };
    ($verb:ident { $($argument:ident: $kind:ident),* }) => { Verb::$verb { $($argument),* } };
}

pub(super) use shape;

/// Writes the arguments of a variant.
macro_rules! write_arguments {
    ($out:ident {}) => { Ok(()) };
    ($out:ident ($argument:ident: $kind:ident)) => { <$kind as Argument>::write($argument, $out) };
    ($out:ident { $($argument:ident: $kind:ident),* }) => {{
        $(<$kind as Argument>::write($argument, $out)?;)*
        Ok(())
    }};
}

macro_rules! verb {
    ($(
        $scope:ident $([$field:ident: $ty:ty])? $verb:ident $arguments:tt {
            $($(#[doc = $doc:literal])+ $word:literal $([$($value:tt)*])? as $halide:literal $(reads $reads:tt)?
                { $($methods:tt)* })+
        }
    )*) => {
        variants!({} $($verb [$($field: $ty)?] $arguments;)*);

        impl Verb {
            /// Returns the word of the directive.
            pub fn word(&self) -> &'static str {
                match self {
                    $($(Verb::$verb { $($($value)*,)? .. } => $word,)+)*
                }
            }

            /// Returns the kind of thing that the directive speaks of.
            pub fn scope(&self) -> Scope {
                match self {
                    $(Verb::$verb { .. } => Scope::$scope,)*
                }
            }

            fn write_arguments(&self, out: &mut Written<'_, '_>) -> fmt::Result {
                match self {
                    $(shape!($verb $arguments $($field: _)?) => write_arguments!(out $arguments),)*
                }
            }
        }
    };
}

with_directives!(verb);

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.word())?;
        self.write_arguments(&mut Written::new(f))?;
        f.write_str(")")
    }
}

impl Directive {
    /// Returns true if the stage that it speaks of may round differently than the algorithm says.
    pub fn reassociates(&self) -> bool {
        matches!(self.verb, Verb::Float(FloatMode::Contract | FloatMode::Relaxed))
    }
}

impl Subject {
    /// The general case of the pure definition of `func`.
    pub fn func(func: impl Into<String>) -> Subject {
        Subject { func: func.into(), stage: 0, updates: false, specializations: Vec::new() }
    }
}

/// Returns the word of the directive that gives a loop a kind.
pub(crate) fn kind_word(kind: LoopKind) -> &'static str {
    Verb::Mark { kind, var: String::new(), factor: None, tail: Tail::Auto }.word()
}

/// Returns the word of the directive that chooses how a loop is partitioned.
pub(crate) fn partition_word(how: Partition) -> &'static str {
    Verb::Partition { how, var: String::new() }.word()
}

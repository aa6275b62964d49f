//! The rows of the table of directives as values: what there is to write, for the parser, for help and for lists.

use super::arguments::{
    AnyOrder, Argument, AxisLoops, Backward, Commutative, Dim, Dims, Draws, Estimates, Factor, FuncOrImage, Funcs,
    Identities, InstructionName, Integer, Loop, LoopAligns, LoopOrLoops, Loops, Message, NewDim, NewLoop,
    NewLoopOrLoops, Offset, Reader, Remainder,
};
use super::directive::{Scope, Verb, shape};
use super::error::ParseError;
use super::table::{with_directives, with_spellings};
use super::text::Text;
use super::tiling::{Tiling, marks};
use super::values::{Align, Amount, Condition, FloatMode, LoopKind, Memory, Partition, PrefetchBound, Site, Tail};
use halide_core::error::Location;
use halide_ir::spelling::closest;

/// A directive of the text form: its word, its arguments and its documentation.
#[derive(Debug)]
pub struct Row {
    /// The word that begins it.
    pub word: &'static str,
    /// The kind of thing that it speaks of.
    pub scope: Scope,
    /// Its arguments in order.
    pub parameters: &'static [Parameter],
    /// Halide's name for it; empty if Halide has no such directive.
    pub halide: &'static str,
    doc: &'static str,
    read: fn(&mut Reader<'_, '_>) -> Result<Vec<Verb>, ParseError>,
    draw: fn(&mut dyn Draws) -> Vec<Verb>,
}

/// An argument of a directive.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its kind, such as `loop`.
    pub kind: &'static str,
    /// True if it may be left out.
    pub optional: bool,
}

impl Row {
    /// Returns the documentation.
    pub fn doc(&self) -> String {
        self.doc.split_whitespace().collect::<Vec<&str>>().join(" ")
    }

    /// Returns true if the parentheses may be left out, since every argument may.
    pub fn is_bare(&self) -> bool {
        self.parameters.iter().all(|parameter| parameter.optional)
    }

    /// Returns the directive with random arguments, or several where it stands for several.
    pub fn draw(&self, from: &mut dyn Draws) -> Vec<Verb> {
        (self.draw)(from)
    }
}

/// Returns the rows of all directives.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    DIRECTIVES.iter().chain(SPELLINGS)
}

/// Returns the row of the directive that `word` begins.
pub(super) fn row(word: &str) -> Option<&'static Row> {
    rows().find(|row| row.word == word)
}

/// Reads the arguments of the directive `word`, which stands at `at`. More than one verb only for words that stand for
/// several directives.
pub(super) fn read(text: &mut Text<'_>, word: &str, at: Location) -> Result<Vec<Verb>, ParseError> {
    let Some(row) = row(word) else {
        text.expect("(")?;
        let help = closest(word, rows().map(|row| row.word)).map(|near| format!("did you mean `{near}`?"));
        return Err(ParseError { at, message: format!("expected a directive, found `{word}`"), help });
    };
    let open = text.take("(");
    if !open && !row.is_bare() {
        text.expect("(")?;
    }
    let verbs = (row.read)(&mut Reader::new(text, open))?;
    if open {
        text.expect(")")?;
    }
    Ok(verbs)
}

/// The parameters that a list of arguments declares.
macro_rules! parameters {
    (( $($tokens:tt)* )) => { parameters!({ $($tokens)* }) };
    ({ $($argument:ident: $kind:ident),* }) => {
        &[$(Parameter {
            name: stringify!($argument),
            kind: <$kind as Argument>::KIND,
            optional: <$kind as Argument>::OPTIONAL,
        }),*]
    };
}

/// Reads arguments into variables of their names.
macro_rules! read_arguments {
    ($args:ident ( $($tokens:tt)* )) => { read_arguments!($args { $($tokens)* }); };
    ($args:ident { $($argument:ident: $kind:ident),* }) => {
        $(let $argument = <$kind as Argument>::read($args)?;)*
        let _ = $args;
    };
}

/// Draws arguments into variables of their names.
macro_rules! draw_arguments {
    ($from:ident ( $($tokens:tt)* )) => { draw_arguments!($from { $($tokens)* }); };
    ($from:ident { $($argument:ident: $kind:ident),* }) => {
        $(let $argument = <$kind as Argument>::draw($from);)*
        let _ = $from;
    };
}

/// One row; `$verbs` makes directives of the arguments.
macro_rules! row {
    ($scope:ident $word:literal $halide:literal $doc:expr, $arguments:tt => $verbs:expr) => {
        Row {
            word: $word,
            scope: Scope::$scope,
            parameters: parameters!($arguments),
            halide: $halide,
            doc: $doc,
            read: |args| {
                read_arguments!(args $arguments);
                Ok($verbs)
            },
            draw: |from| {
                draw_arguments!(from $arguments);
                $verbs
            },
        }
    };
}

/// The row of a word with the arguments of its variant, or with those that it reads instead.
macro_rules! directive_row {
    ($scope:ident $word:literal $halide:literal $doc:expr, $verb:ident $arguments:tt [$($value:tt)*]) => {
        row!($scope $word $halide $doc, $arguments => vec![shape!($verb $arguments $($value)*)])
    };
    (
        $scope:ident $word:literal $halide:literal $doc:expr, $verb:ident $arguments:tt [$($value:tt)*]
        ($argument:ident: $kind:ident => $verbs:expr)
    ) => {
        row!($scope $word $halide $doc, { $argument: $kind } => $verbs)
    };
}

macro_rules! directives {
    ($(
        $scope:ident $([$field:ident: $ty:ty])? $verb:ident $arguments:tt {
            $($(#[doc = $doc:literal])+ $word:literal $([$($value:tt)*])? as $halide:literal $(reads $reads:tt)?
                { $($methods:tt)* })+
        }
    )*) => {
        /// The words of variants of [`Verb`].
        static DIRECTIVES: &[Row] = &[
            $($(directive_row!(
                $scope $word $halide concat!($($doc),+), $verb $arguments [$($($value)*)?] $($reads)?
            ),)+)*
        ];
    };
}

macro_rules! spellings {
    ($($(#[doc = $doc:literal])+ $scope:ident $word:literal as $halide:literal $arguments:tt => $verbs:expr;)*) => {
        /// The words that stand for other directives.
        static SPELLINGS: &[Row] = &[$(row!($scope $word $halide concat!($($doc),+), $arguments => $verbs)),*];
    };
}

with_directives!(directives);
with_spellings!(spellings);

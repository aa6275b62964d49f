//! Expressions that say something when they are evaluated: requirements, and lines to print.
//!
//! A requirement is part of the meaning of a pipeline: a run fails if and only if a point that the outputs need (as the
//! interpreter evaluates them: lazily in `select`, only where a domain's predicate holds) evaluates one whose condition
//! does not hold. Points that a schedule computes beyond that make no error. One that depends on nothing but parameters
//! and the shapes of images is checked before anything is written; by the time that another one fails, parts of the
//! outputs may have been.
//!
//! Printing is no part of the meaning. A line is printed for every time that a point is computed, so schedules change
//! how often and in which order that is; each line is whole, also those of tasks that run at once.

use super::into::IntoExpr;
use super::make::{self, binary};
use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::ops::BinOp;
use crate::pipeline::{NoteDef, NoteKind, Piece};
use crate::types::ScalarType;
use crate::value::Element;
use std::rc::Rc;

/// Part of a message: a text, or an expression whose value is shown.
pub enum Part {
    /// A text.
    Text(String),
    /// A scalar.
    Value(Expr),
}

/// A type whose values can be part of a message.
pub trait IntoPart {
    /// Converts to a part.
    fn part(self) -> Part;
}

impl<T: IntoExpr> IntoPart for T {
    #[track_caller]
    fn part(self) -> Part {
        Part::Value(self.expr())
    }
}

impl IntoPart for &str {
    fn part(self) -> Part {
        Part::Text(self.to_string())
    }
}

impl IntoPart for String {
    fn part(self) -> Part {
        Part::Text(self)
    }
}

/// A message: one part, or a tuple of up to 8. They are shown with spaces between.
pub trait Message {
    /// The parts in order.
    fn parts(self) -> Vec<Part>;
}

impl<T: IntoPart> Message for T {
    #[track_caller]
    fn parts(self) -> Vec<Part> {
        vec![self.part()]
    }
}

impl Message for () {
    fn parts(self) -> Vec<Part> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+);)*) => {$(
        impl<$($name: IntoPart),+> Message for ($($name,)+) {
            #[track_caller]
            fn parts(self) -> Vec<Part> {
                vec![$(self.$index.part()),+]
            }
        }
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

/// `value`; a run that needs it where `condition` does not hold is an `Err` that says where this stands, at what
/// coordinates, and `message`. Where `condition` compares `value` with something, that bounds it wherever it is used.
///
/// The value and the message's are evaluated only where `condition` holds, or does not.
#[track_caller]
pub fn require(condition: impl IntoExpr, value: impl IntoExpr, message: impl Message) -> Expr {
    let at = Location::caller();
    note(NoteKind::Require, condition.expr(), value.expr(), message.parts(), at)
}

/// `value`; each time it is computed, prints a line of it and `message`. That is no part of a pipeline's meaning:
/// schedules change how often and in which order a point is computed.
#[track_caller]
pub fn print(value: impl IntoExpr, message: impl Message) -> Expr {
    let (at, value) = (Location::caller(), value.expr());
    note(NoteKind::Print, true.expr(), value, with_value(value, message.parts()), at)
}

/// The same as [`print()`], where `condition` holds.
#[track_caller]
pub fn print_when(condition: impl IntoExpr, value: impl IntoExpr, message: impl Message) -> Expr {
    let (at, value) = (Location::caller(), value.expr());
    note(NoteKind::Print, condition.expr(), value, with_value(value, message.parts()), at)
}

/// Promises that `value` is in `low` to `high`: a fact for bounds where it is a coordinate, and a requirement that is
/// checked.
#[track_caller]
pub fn promise_clamped(value: impl IntoExpr, low: impl IntoExpr, high: impl IntoExpr) -> Expr {
    let (at, value, low, high) = (Location::caller(), value.expr(), low.expr(), high.expr());
    let inside = binary(BinOp::BitAnd, binary(BinOp::Ge, value, low, at), binary(BinOp::Le, value, high, at), at);
    let parts = vec![value.part(), "is promised to be".part(), low.part(), "to".part(), high.part()];
    note(NoteKind::Require, inside, value, parts, at)
}

/// `value`, of which it is promised that it is `low` to `high`, and nobody checks. It is what [`clamp`](super::clamp)
/// gives, so a promise that does not hold gives other values, but never an access outside of memory.
#[track_caller]
pub fn promise_clamped_unchecked(value: impl IntoExpr, low: impl IntoExpr, high: impl IntoExpr) -> Expr {
    let at = Location::caller();
    binary(BinOp::Min, binary(BinOp::Max, value.expr(), low.expr(), at), high.expr(), at)
}

/// A mark that nothing is stored: as the value of a definition, of an element of a tuple, or of what a
/// [`select`](super::select) there gives.
///
/// An update leaves the element as it is. The first definition of an output leaves what the caller's buffer holds
/// (zeros, where it is made for the call), so updates may go on from that; that of any other Func is zero.
#[track_caller]
pub fn undef<T: Element>() -> Expr {
    arena::add(Kind::Undef, Ty::One(T::TYPE), Location::caller())
}

fn with_value(value: Expr, mut parts: Vec<Part>) -> Vec<Part> {
    parts.insert(0, Part::Value(value));
    parts
}

fn note(kind: NoteKind, condition: Expr, value: Expr, parts: Vec<Part>, at: Location) -> Expr {
    make_note(kind, condition, value, parts, at).unwrap_or_else(|poison| poison)
}

fn make_note(kind: NoteKind, condition: Expr, value: Expr, parts: Vec<Part>, at: Location) -> Result<Expr, Expr> {
    let operator = match kind {
        NoteKind::Require => "require",
        NoteKind::Print => "print",
    };
    let [holds, ty] = make::scalars([condition, value], operator, at)?;
    if holds != ScalarType::Bool {
        let wants = "a bool condition";
        return Err(arena::poison(AlgorithmErrorKind::WrongOperand { operator, ty: holds, wants }, at));
    }
    let (mut text, mut values) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(words) => text.push(Piece::Text(words)),
            Part::Value(e) => {
                let ty = make::scalar(e, operator, at)?;
                values.push(make::as_type(e, ty, at));
                text.push(Piece::Value);
            }
        }
    }
    let def = Rc::new(NoteDef { kind, text, at });
    Ok(arena::add(Kind::Note(def, condition, make::as_type(value, ty, at), values), Ty::One(ty), at))
}

//! The text of conditions. [`super::read`] is its inverse.

use super::super::func_name::FuncText;
use super::super::text::{NameText, Quoted};
use super::super::values::{Condition, Term};
use halide_core::pipeline::DimField;
use std::fmt;

impl fmt::Display for Condition {
    /// Operands stand in parentheses where they bind less tightly, or on the right only as tightly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binds = |c: &Condition| match c {
            Condition::Or(..) => 1,
            Condition::And(..) => 2,
            Condition::Compare(..) => 3,
            Condition::Param(_) | Condition::Not(_) | Condition::Invalid(_) => 4,
        };
        let operand = |f: &mut fmt::Formatter<'_>, c: &Condition, least: u8| {
            if binds(c) < least { write!(f, "({c})") } else { write!(f, "{c}") }
        };
        let operands = |f: &mut fmt::Formatter<'_>, a: &Condition, symbol: &str, b: &Condition| {
            operand(f, a, binds(self))?;
            write!(f, " {symbol} ")?;
            operand(f, b, binds(self) + 1)
        };
        match self {
            Condition::Compare(op, a, b) => write!(f, "{a} {} {b}", op.symbol()),
            Condition::Param(name) => write!(f, "{}", NameText(name)),
            Condition::And(a, b) => operands(f, a, "&&", b),
            Condition::Or(a, b) => operands(f, a, "||", b),
            Condition::Not(a) => {
                f.write_str("!")?;
                operand(f, a, binds(self))
            }
            Condition::Invalid(message) => write!(f, "invalid({})", Quoted(message)),
        }
    }
}

impl fmt::Display for Term {
    /// Operands stand in parentheses where they bind less tightly, or on the right only as tightly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binds = |t: &Term| match t {
            Term::Binary(op, ..) => precedence(*op),
            _ => u8::MAX,
        };
        let operand = |f: &mut fmt::Formatter<'_>, t: &Term, least: u8| {
            if binds(t) < least { write!(f, "({t})") } else { write!(f, "{t}") }
        };
        match self {
            Term::Const(value) => write!(f, "{value}"),
            Term::Param(name) => write!(f, "{}", NameText(name)),
            Term::Dim(name, field, dim) => write!(f, "{}.{}({dim})", FuncText(name), field_word(*field)),
            Term::Binary(op, a, b) => {
                operand(f, a, precedence(*op))?;
                write!(f, " {op} ")?;
                operand(f, b, precedence(*op) + 1)
            }
        }
    }
}

/// Returns the precedence of an operator of terms; a higher one binds more tightly.
pub(super) fn precedence(op: char) -> u8 {
    if matches!(op, '+' | '-') { 1 } else { 2 }
}

/// The word for a property of a dimension.
pub(super) fn field_word(field: DimField) -> &'static str {
    match field {
        DimField::Min => "min",
        DimField::Extent => "extent",
        DimField::Stride => "stride",
    }
}

//! Conditions of specialisations: `p > 3 && (in.extent(0) >= 128 || !fast)`.

use super::super::error::ParseError;
use super::super::func_name::Func;
use super::super::text::Text;
use super::super::values::{CompareOp, Condition, Term};
use super::write::{field_word, precedence};
use crate::tuning::CONDITION_TEXT_DEPTH;
use halide_core::pipeline::DimField;

/// An operand in parentheses: until a comparison stands beside it, a lone name is a parameter of either kind.
enum Operand {
    Term(Term),
    Condition(Condition),
}

/// A condition: alternatives of conjunctions of comparisons.
pub(crate) fn read(text: &mut Text<'_>) -> Result<Condition, ParseError> {
    let value = any(text, CONDITION_TEXT_DEPTH)?;
    to_condition(text, value)
}

fn to_condition(text: &Text<'_>, value: Operand) -> Result<Condition, ParseError> {
    match value {
        Operand::Condition(c) => Ok(c),
        Operand::Term(Term::Param(name)) => Ok(Condition::Param(name)),
        Operand::Term(_) => Err(text.expected("a comparison")),
    }
}

fn to_term(text: &Text<'_>, value: Operand) -> Result<Term, ParseError> {
    match value {
        Operand::Term(t) => Ok(t),
        Operand::Condition(_) => Err(text.expected("a number, and not a condition, before this")),
    }
}

fn any(text: &mut Text<'_>, depth: usize) -> Result<Operand, ParseError> {
    let mut left = all(text, depth)?;
    while text.take("||") {
        let right = all(text, depth)?;
        let (a, b) = (to_condition(text, left)?, to_condition(text, right)?);
        left = Operand::Condition(Condition::Or(Box::new(a), Box::new(b)));
    }
    Ok(left)
}

fn all(text: &mut Text<'_>, depth: usize) -> Result<Operand, ParseError> {
    let mut left = comparison(text, depth)?;
    while text.take("&&") {
        let right = comparison(text, depth)?;
        let (a, b) = (to_condition(text, left)?, to_condition(text, right)?);
        left = Operand::Condition(Condition::And(Box::new(a), Box::new(b)));
    }
    Ok(left)
}

fn comparison(text: &mut Text<'_>, depth: usize) -> Result<Operand, ParseError> {
    let left = sum(text, depth, 1)?;
    let Some(op) = compare_op(text) else { return Ok(left) };
    let right = sum(text, depth, 1)?;
    let (a, b) = (to_term(text, left)?, to_term(text, right)?);
    Ok(Operand::Condition(Condition::Compare(op, a, b)))
}

fn compare_op(text: &mut Text<'_>) -> Option<CompareOp> {
    use CompareOp::*;
    // The longer ones first: `<=` also begins with `<`.
    [Eq, Ne, Le, Ge, Lt, Gt].into_iter().find(|op| text.take(op.symbol()))
}

/// Operators that bind at least as tightly as `level`; left-associative.
fn sum(text: &mut Text<'_>, depth: usize, level: u8) -> Result<Operand, ParseError> {
    let mut left = if level == 2 { atom(text, depth)? } else { sum(text, depth, 2)? };
    while let Some(op) = ['+', '-', '*', '/', '%'].into_iter().find(|&op| precedence(op) == level && sees(text, op)) {
        text.take(op.encode_utf8(&mut [0; 4]));
        let right = if level == 2 { atom(text, depth)? } else { sum(text, depth, 2)? };
        let (a, b) = (to_term(text, left)?, to_term(text, right)?);
        left = Operand::Term(Term::Binary(op, Box::new(a), Box::new(b)));
    }
    Ok(left)
}

fn sees(text: &Text<'_>, op: char) -> bool {
    text.sees(op.encode_utf8(&mut [0; 4]))
}

fn atom(text: &mut Text<'_>, depth: usize) -> Result<Operand, ParseError> {
    let Some(inside) = depth.checked_sub(1) else {
        return Err(text.expected("a condition with less parentheses"));
    };
    if text.sees("!") && !text.sees("!=") {
        text.take("!");
        let value = atom(text, inside)?;
        let negated = to_condition(text, value)?;
        return Ok(Operand::Condition(Condition::Not(Box::new(negated))));
    }
    if text.take("(") {
        let value = any(text, inside)?;
        text.expect(")")?;
        return Ok(value);
    }
    if text.peek_integer() {
        return Ok(Operand::Term(Term::Const(text.integer("a number")?)));
    }
    if !text.sees("\"") && text.peek_word().is_none() {
        return Err(text.expected("a parameter, a number or a dimension such as `in.extent(0)`"));
    }
    named(text)
}

fn named(text: &mut Text<'_>) -> Result<Operand, ParseError> {
    let Func { name, is_made, .. } = text.func("a parameter")?;
    for field in [DimField::Min, DimField::Extent, DimField::Stride] {
        if text.take(&format!(".{}(", field_word(field))) {
            let dim = text.count("the number of a dimension")?;
            text.expect(")")?;
            return Ok(Operand::Term(Term::Dim(name, field, dim)));
        }
    }
    if name == "invalid" && text.take("(") {
        let message = text.string("a message in quotes")?;
        text.expect(")")?;
        return Ok(Operand::Condition(Condition::Invalid(message)));
    }
    if !is_made {
        Ok(Operand::Term(Term::Param(name)))
    } else {
        Err(text.expected("`.min(`, `.extent(` or `.stride(`"))
    }
}

impl std::str::FromStr for Condition {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Condition, ParseError> {
        let mut text = Text::new(text, "condition");
        let condition = read(&mut text)?;
        if text.at_end() { Ok(condition) } else { Err(text.expected("the end of the condition")) }
    }
}

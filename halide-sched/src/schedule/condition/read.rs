//! Conditions of specialisations: `p > 3 && (in.extent(0) >= 128 || !fast)`.

use super::super::error::ParseError;
use super::super::func_name::Func;
use super::super::text::Text;
use super::super::values::{Amount, CompareOp, Condition, Term};
use super::write::{field_word, precedence};
use crate::tuning::{CONDITION_TEXT_DEPTH, MOST_CONDITION_OPERATORS};
use halide_core::pipeline::DimField;

/// An operand in parentheses: until a comparison stands beside it, a lone name is a parameter of either kind.
enum Operand {
    Term(Term),
    Condition(Condition),
}

/// The room that a condition has left: it is a tree, and code that walks it goes as deep as it has operators in a row.
struct Left {
    /// Levels of parentheses and negations.
    depth: usize,
    operators: usize,
}

impl Left {
    /// Takes an operator, whose symbol was just read.
    fn operator(&mut self, text: &Text<'_>) -> Result<(), ParseError> {
        self.operators = self.operators.checked_sub(1).ok_or_else(|| ParseError {
            at: text.location(),
            message: format!("the condition before this has more than {MOST_CONDITION_OPERATORS} operators"),
            help: Some("give its value as a `bool` parameter".to_string()),
        })?;
        Ok(())
    }

    /// Reads one level deeper.
    fn inside<T>(
        &mut self,
        text: &mut Text<'_>,
        read: fn(&mut Text<'_>, &mut Left) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        self.depth -= 1;
        let value = read(text, self)?;
        self.depth += 1;
        Ok(value)
    }
}

/// A condition: alternatives of conjunctions of comparisons.
pub(crate) fn read(text: &mut Text<'_>) -> Result<Condition, ParseError> {
    let left = &mut Left { depth: CONDITION_TEXT_DEPTH, operators: MOST_CONDITION_OPERATORS };
    let value = any(text, left)?;
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

fn any(text: &mut Text<'_>, left: &mut Left) -> Result<Operand, ParseError> {
    let mut value = all(text, left)?;
    while text.take("||") {
        left.operator(text)?;
        let right = all(text, left)?;
        let (a, b) = (to_condition(text, value)?, to_condition(text, right)?);
        value = Operand::Condition(Condition::Or(Box::new(a), Box::new(b)));
    }
    Ok(value)
}

fn all(text: &mut Text<'_>, left: &mut Left) -> Result<Operand, ParseError> {
    let mut value = comparison(text, left)?;
    while text.take("&&") {
        left.operator(text)?;
        let right = comparison(text, left)?;
        let (a, b) = (to_condition(text, value)?, to_condition(text, right)?);
        value = Operand::Condition(Condition::And(Box::new(a), Box::new(b)));
    }
    Ok(value)
}

fn comparison(text: &mut Text<'_>, left: &mut Left) -> Result<Operand, ParseError> {
    let value = sum(text, left, 1)?;
    let Some(op) = compare_op(text) else { return Ok(value) };
    let right = sum(text, left, 1)?;
    let (a, b) = (to_term(text, value)?, to_term(text, right)?);
    Ok(Operand::Condition(Condition::Compare(op, a, b)))
}

fn compare_op(text: &mut Text<'_>) -> Option<CompareOp> {
    use CompareOp::*;
    // The longer ones first: `<=` also begins with `<`.
    [Eq, Ne, Le, Ge, Lt, Gt].into_iter().find(|op| text.take(op.symbol()))
}

/// Operators that bind at least as tightly as `level`; left-associative.
fn sum(text: &mut Text<'_>, left: &mut Left, level: u8) -> Result<Operand, ParseError> {
    let mut value = if level == 2 { atom(text, left)? } else { sum(text, left, 2)? };
    while let Some(op) = ['+', '-', '*', '/', '%'].into_iter().find(|&op| precedence(op) == level && sees(text, op)) {
        text.take(op.encode_utf8(&mut [0; 4]));
        left.operator(text)?;
        let right = if level == 2 { atom(text, left)? } else { sum(text, left, 2)? };
        let (a, b) = (to_term(text, value)?, to_term(text, right)?);
        value = Operand::Term(Term::Binary(op, Box::new(a), Box::new(b)));
    }
    Ok(value)
}

fn sees(text: &Text<'_>, op: char) -> bool {
    text.sees(op.encode_utf8(&mut [0; 4]))
}

fn atom(text: &mut Text<'_>, left: &mut Left) -> Result<Operand, ParseError> {
    if left.depth == 0 {
        return Err(text.expected("a condition with less parentheses"));
    }
    if text.sees("!") && !text.sees("!=") {
        text.take("!");
        left.operator(text)?;
        let value = left.inside(text, atom)?;
        let negated = to_condition(text, value)?;
        return Ok(Operand::Condition(Condition::Not(Box::new(negated))));
    }
    if text.take("(") {
        let value = left.inside(text, any)?;
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
    let quoted = text.sees("\"");
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
        let term = match text.numbers.get(&name).filter(|_| !quoted) {
            Some(Amount::Const(value)) => Term::Const(*value),
            Some(Amount::Param(other)) => Term::Param(other.clone()),
            Some(Amount::Natural) => return Err(text.expected("a number, and not `natural`, before this")),
            None => Term::Param(name),
        };
        Ok(Operand::Term(term))
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

//! Numbers in a schedule's text: literals, names that `let` gives to numbers, and arithmetic of both.
//!
//! ```text
//! definition = "let" identifier "=" amount
//! number     = term { ("+" | "-") term }
//! term       = factor { ("*" | "/" | "%") factor }       Euclidean, as everywhere in this language
//! factor     = "-" factor | "(" number ")" | digits | name of a number
//! ```
//!
//! A name stands for its number from its definition on, wherever a number may stand; a parameter of the pipeline with
//! that name is hidden. Schedules keep the numbers only.

use super::error::ParseError;
use super::text::Text;
use super::values::Amount;
use crate::tuning::NUMBER_TEXT_DEPTH;
use halide_core::error::Location;

impl Text<'_> {
    /// Returns true if the definition of a number is next: a Func may be called `let`, too.
    pub(super) fn sees_definition(&self) -> bool {
        self.peek_word() == Some("let")
            && self
                .clone_after("let")
                .is_some_and(|mut text| text.word("").is_ok() && text.sees("=") && !text.sees("=="))
    }

    /// Reads the definition of a number.
    pub(super) fn definition(&mut self) -> Result<(), ParseError> {
        self.word("`let`")?;
        let at = self.location();
        let name = self.word("a name")?;
        self.expect("=")?;
        let amount = match self.peek_word() {
            // The name of a Func, whose directives follow: the number is missing.
            Some(word) if self.clone_after(word).is_some_and(|text| text.sees_any(":.")) => {
                return Err(self.expected("a number"));
            }
            _ => self.amount()?,
        };
        self.numbers.define(name, amount, at)
    }

    /// Reads a number, a parameter or `natural`.
    pub(super) fn amount(&mut self) -> Result<Amount, ParseError> {
        let expected = "a number, a parameter or `natural`";
        if self.sees_number() {
            return self.number(expected).map(Amount::Const);
        }
        let quoted = self.sees("\"");
        let name = self.name(expected)?;
        Ok(match self.numbers.get(&name).filter(|_| !quoted) {
            Some(amount) => amount.clone(),
            None if name == "natural" && !quoted => Amount::Natural,
            None => Amount::Param(name),
        })
    }

    /// Returns true if a number is next: one that is written, or the name of one.
    pub(super) fn sees_number(&self) -> bool {
        let constant = |word| matches!(self.numbers.get(word), Some(Amount::Const(_)));
        self.sees_any("-(") || self.peek_integer() || self.peek_word().is_some_and(constant)
    }

    /// Reads a number; `what` should stand here.
    pub(super) fn number(&mut self, what: &str) -> Result<i64, ParseError> {
        self.sum(what, NUMBER_TEXT_DEPTH)
    }

    fn sum(&mut self, what: &str, depth: usize) -> Result<i64, ParseError> {
        let mut value = self.product(what, depth)?;
        while self.sees_any("+-") {
            let at = self.location();
            let plus = self.take("+");
            if !plus {
                self.take("-");
            }
            let right = self.product("a number", depth)?;
            let result = if plus { value.checked_add(right) } else { value.checked_sub(right) };
            value = result.ok_or_else(|| too_large(at))?;
        }
        Ok(value)
    }

    fn product(&mut self, what: &str, depth: usize) -> Result<i64, ParseError> {
        let mut value = self.factor(what, depth)?;
        while let Some(op) = ["*", "/", "%"].into_iter().find(|op| self.sees(op)) {
            let at = self.location();
            self.take(op);
            let right = self.factor("a number", depth)?;
            if right == 0 && op != "*" {
                let help = Some("divide by another number".to_string());
                return Err(ParseError { at, message: format!("`{value} {op} 0` is no number"), help });
            }
            let result = match op {
                "*" => value.checked_mul(right),
                "/" => value.checked_div_euclid(right),
                _ => value.checked_rem_euclid(right),
            };
            value = result.ok_or_else(|| too_large(at))?;
        }
        Ok(value)
    }

    fn factor(&mut self, what: &str, depth: usize) -> Result<i64, ParseError> {
        let Some(below) = depth.checked_sub(1) else {
            return Err(self.expected("a number with fewer parentheses and signs"));
        };
        let at = self.location();
        if self.peek_integer() {
            return self.integer(what);
        }
        if self.take("-") {
            return self.factor("a number", below)?.checked_neg().ok_or_else(|| too_large(at));
        }
        if self.take("(") {
            let value = self.sum("a number", below)?;
            self.expect(")")?;
            return Ok(value);
        }
        let Some(word) = self.peek_word() else { return Err(self.expected(what)) };
        match self.numbers.get(word).cloned() {
            Some(Amount::Const(value)) => {
                self.word(what)?;
                Ok(value)
            }
            Some(other) => {
                let message = format!("expected {what}, found `{word}`, which stands for `{other}`");
                Err(ParseError { at, message, help: Some("define it as a number".to_string()) })
            }
            None => Err(self.expected(what)),
        }
    }
}

fn too_large(at: Location) -> ParseError {
    let help = Some("use smaller numbers".to_string());
    ParseError { at, message: "the result does not fit 64 bits".to_string(), help }
}

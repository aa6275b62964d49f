//! Reads what [`super::print`] writes: `parse(print(x)) == x` for expressions, statements and programs. For tests, bug
//! reports and stored cases.
//!
//! Nodes are made by the smart constructors after a check of their types, so that no text can make this code panic.
//! Line breaks mean nothing but between tokens, `//` starts a comment, and a name before `#` is skipped but where a
//! table defines it. A scalar operand is broadcast to the lanes of its neighbour.

mod error;
mod expr;
mod lexer;
mod program;
mod stmt;
#[cfg(test)]
mod tests;

pub use error::ParseError;

use crate::buffer_info::BufferInfo;
use crate::expr::{Expr, Type};
use crate::program::Program;
use crate::stmt::Stmt;
use crate::tuning::{DEEPEST_EXPR, DEEPEST_STMT};
use halide_core::ids::IdVec;
use halide_core::types::ScalarType;
use lexer::{Token, Word, lex};
use std::collections::HashMap;
use std::str::FromStr;

/// An expression in which the tables of `program` tell the types of buffers and parameters.
pub fn expr_in(text: &str, program: &Program) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(text)?.with_tables(program);
    let e = parser.expr()?;
    parser.end()?;
    Ok(e)
}

/// A statement in which the tables of `program` tell the types of buffers and parameters.
pub fn stmt_in(text: &str, program: &Program) -> Result<Stmt, ParseError> {
    let mut parser = Parser::new(text)?.with_tables(program);
    let s = parser.list()?;
    parser.end()?;
    Ok(s)
}

impl FromStr for Expr {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Expr, ParseError> {
        let mut parser = Parser::new(text)?;
        let e = parser.expr()?;
        parser.end()?;
        Ok(e)
    }
}

impl FromStr for Stmt {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Stmt, ParseError> {
        let mut parser = Parser::new(text)?;
        let s = parser.list()?;
        parser.end()?;
        Ok(s)
    }
}

impl FromStr for Program {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Program, ParseError> {
        let mut parser = Parser::new(text)?;
        let p = parser.program()?;
        parser.end()?;
        Ok(p)
    }
}

struct Parser {
    tokens: Vec<(Token, u32, u32)>,
    next: usize,
    /// The nesting depths of the statement and of the expression at hand.
    depths: [u32; 2],
    /// Types of the elements of buffers and of parameters, from the tables.
    elems: Vec<ScalarType>,
    params: Vec<ScalarType>,
    /// Types of the temporaries bound so far in the text.
    temps: HashMap<u32, Type>,
    /// The named parts of the expression at hand.
    locals: Vec<Expr>,
}

type Parsed<T> = Result<T, ParseError>;

impl Parser {
    fn new(text: &str) -> Parsed<Parser> {
        let (elems, params, locals) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Parser { tokens: lex(text)?, next: 0, depths: [0; 2], elems, params, temps: HashMap::new(), locals })
    }

    fn with_tables(mut self, program: &Program) -> Parser {
        self.learn(&program.buffers);
        self.params = program.params.iter().map(|(_, ty)| *ty).collect();
        self
    }

    fn learn<I: halide_core::ids::Id>(&mut self, buffers: &IdVec<I, BufferInfo>) {
        self.elems = buffers.iter().map(|b| b.elem).collect();
    }

    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// The token `ahead` of the next one; the last token is always the end.
    fn peek_at(&self, ahead: usize) -> &Token {
        &self.tokens[(self.next + ahead).min(self.tokens.len() - 1)].0
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let (_, line, column) = self.tokens[self.next.min(self.tokens.len() - 1)];
        Err(ParseError { line, column, message: message.into() })
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.error(format!("{what} is expected, not {}", self.peek()))
    }

    fn end(&self) -> Parsed<()> {
        if *self.peek() == Token::End { Ok(()) } else { self.expected("the end") }
    }

    fn at(&self, punct: &str) -> bool {
        matches!(self.peek(), Token::Punct(p) if *p == punct)
    }

    /// Takes the punctuation if it is next.
    fn eat(&mut self, punct: &str) -> bool {
        let found = self.at(punct);
        if found {
            self.take();
        }
        found
    }

    fn need(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { self.expected(&format!("`{punct}`")) }
    }

    /// The next token, if it is a word without a name.
    fn keyword(&self) -> Option<&str> {
        match self.peek() {
            Token::Word(Word { name: None, id, at: None }) => Some(id),
            _ => None,
        }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.take();
        }
        found
    }

    fn need_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn word(&mut self) -> Parsed<Word> {
        match self.peek() {
            Token::Word(w) => {
                let w = w.clone();
                self.take();
                Ok(w)
            }
            _ => self.expected("a word"),
        }
    }

    /// A word `[name#]PREFIXn`: its number.
    fn id(&mut self, prefix: &str) -> Parsed<u32> {
        match self.peek() {
            Token::Word(Word { id, at: None, .. }) => match number_of(id, prefix) {
                Some(n) => {
                    self.take();
                    Ok(n)
                }
                None => self.expected(&format!("an id `{prefix}..`")),
            },
            _ => self.expected(&format!("an id `{prefix}..`")),
        }
    }

    /// A whole number that fits `T`.
    fn whole<T: FromStr>(&mut self) -> Parsed<T> {
        let sign = if self.at("-") && matches!(self.peek_at(1), Token::Number { .. }) { "-" } else { "" };
        match self.peek_at(sign.len()) {
            Token::Number { digits, suffix } if suffix.is_empty() => match format!("{sign}{digits}").parse() {
                Ok(n) => {
                    self.next += sign.len() + 1;
                    Ok(n)
                }
                Err(_) => self.expected("a number that fits"),
            },
            _ => self.expected("a number"),
        }
    }

    fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Str(s) => {
                let s = s.clone();
                self.take();
                Ok(s)
            }
            _ => self.expected("a string"),
        }
    }

    /// Items between brackets, separated by commas.
    fn listed<T>(&mut self, open: &str, close: &str, mut item: impl FnMut(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.need(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.need(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Runs `f` one statement deeper.
    fn inside_stmt<T>(&mut self, f: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.deeper(0, DEEPEST_STMT, f)
    }

    /// Runs `f` one expression deeper.
    fn inside_expr<T>(&mut self, f: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.deeper(1, DEEPEST_EXPR, f)
    }

    fn deeper<T>(&mut self, which: usize, most: u32, f: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.depths[which] >= most {
            return self.error("the text is nested too deeply");
        }
        self.depths[which] += 1;
        let result = f(self);
        self.depths[which] -= 1;
        result
    }
}

/// `PREFIXn`: n.
fn number_of(id: &str, prefix: &str) -> Option<u32> {
    let digits = id.strip_prefix(prefix)?;
    if digits.starts_with(|c: char| c.is_ascii_digit()) { digits.parse().ok() } else { None }
}

//! Tokens to trees: defs and statements.

use super::lex::{Token, lex};
use crate::ast::{Expr, Function, Name, Numbering, Pattern, Statement};
use crate::mistake::{Mistake, MistakeKind, Mistakes};
use crate::span::Span;
use crate::tuning::MOST_NESTING;
use std::sync::Arc;

/// A text with all of its defs in order.
pub(crate) struct Parsed {
    pub(crate) defs: Vec<Arc<Function>>,
    pub(crate) nodes: usize,
}

/// A mistake was recorded.
pub(super) struct Failed;

pub(super) type Result<T> = std::result::Result<T, Failed>;

pub(super) struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    pub(super) numbering: Numbering,
    mistakes: Vec<Mistake>,
    depth: usize,
}

/// The defs of `text`.
///
/// # Errors
/// Every mistake, in the order of their places.
pub(crate) fn parse(text: &str) -> std::result::Result<Parsed, Mistakes> {
    let (tokens, mistakes) = lex(text);
    let mut parser = Parser { tokens, at: 0, numbering: Numbering::default(), mistakes, depth: 0 };
    let mut defs = Vec::new();
    while *parser.peek() != Token::End {
        match parser.top_level() {
            Ok(def) => defs.push(Arc::new(def)),
            Err(Failed) => parser.recover(),
        }
    }
    if defs.is_empty() && parser.mistakes.is_empty() {
        let span = parser.span();
        parser.mistakes.push(Mistake::new(span, MistakeKind::NoDef));
    }
    if parser.mistakes.is_empty() {
        return Ok(Parsed { defs, nodes: parser.numbering.count() });
    }
    parser.mistakes.sort_by_key(|mistake| mistake.span);
    Err(Mistakes(parser.mistakes))
}

impl Parser {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(super) fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(here) if *here == mark)
    }

    /// Passes `mark` if it stands here.
    pub(super) fn skip(&mut self, mark: &str) -> bool {
        let is_here = self.is_mark(mark);
        if is_here {
            self.take();
        }
        is_here
    }

    pub(super) fn expect(&mut self, mark: &'static str, expected: &'static str) -> Result<()> {
        if self.skip(mark) { Ok(()) } else { self.unexpected(expected) }
    }

    pub(super) fn mistake(&mut self, span: Span, kind: MistakeKind) -> Failed {
        self.mistakes.push(Mistake::new(span, kind));
        Failed
    }

    pub(super) fn unexpected<T>(&mut self, expected: &'static str) -> Result<T> {
        if *self.peek() == Token::Unclosed {
            return Err(Failed);
        }
        let found = self.peek().describe();
        Err(self.mistake(self.span(), MistakeKind::Unexpected { expected, found }))
    }

    /// Records that an expression is too high, once for a text.
    pub(super) fn too_high(&mut self, span: Span) {
        if self.mistakes.iter().all(|mistake| *mistake.kind != MistakeKind::TooHigh) {
            self.mistake(span, MistakeKind::TooHigh);
        }
    }

    /// Calls `inner` one level deeper: a text cannot make the stack overflow.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Result<T>) -> Result<T> {
        if self.depth == MOST_NESTING {
            return self.unexpected("at most 64 nested brackets and blocks");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Passes the rest of a statement that has a mistake, with the block below it.
    fn recover(&mut self) {
        while !matches!(self.peek(), Token::Newline | Token::Unclosed | Token::End | Token::Dedent) {
            self.take();
        }
        while matches!(self.peek(), Token::Newline | Token::Unclosed) {
            self.take();
        }
        if *self.peek() == Token::Indent {
            let mut depth = 0;
            loop {
                match self.take() {
                    Token::Indent => depth += 1,
                    Token::Dedent => depth -= 1,
                    Token::End => break,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        } else if *self.peek() == Token::Dedent && self.depth == 0 {
            self.take();
        }
    }

    fn top_level(&mut self) -> Result<Function> {
        if !self.is_mark("def") {
            return self.unexpected("a `def`");
        }
        self.def()
    }

    pub(super) fn name(&mut self, expected: &'static str) -> Result<(Name, Span)> {
        let span = self.span();
        match self.peek().clone() {
            Token::Name(name) => {
                self.take();
                Ok((name, span))
            }
            _ => self.unexpected(expected),
        }
    }

    fn def(&mut self) -> Result<Function> {
        self.take();
        let (name, span) = self.name("the name of the def")?;
        let id = self.numbering.next();
        self.expect("(", "`(` before the parameters")?;
        let params = self.patterns(")")?;
        self.expect(")", "`,` or `)` after a parameter")?;
        self.expect(":", "`:` after the parameters")?;
        self.check_names(&params);
        let body = self.deeper(|parser| parser.block(&name))?;
        Ok(Function { id, name, span, params, body })
    }

    /// Patterns between commas, up to `end`.
    pub(super) fn patterns(&mut self, end: &str) -> Result<Vec<Pattern>> {
        let mut all = Vec::new();
        while !self.is_mark(end) {
            all.push(self.pattern()?);
            if !self.skip(",") {
                break;
            }
        }
        Ok(all)
    }

    fn pattern(&mut self) -> Result<Pattern> {
        let span = self.span();
        if self.skip("(") {
            let parts = self.deeper(|parser| parser.patterns(")"))?;
            self.expect(")", "`,` or `)` in a pattern")?;
            return Ok(Pattern::Tuple(parts, span));
        }
        let (name, span) = self.name("a name")?;
        Ok(Pattern::Name(name, self.numbering.next(), span))
    }

    /// Records names that several of `patterns` bind.
    pub(super) fn check_names(&mut self, patterns: &[Pattern]) {
        let mut seen: Vec<Name> = Vec::new();
        for pattern in patterns {
            let mut twice = None;
            pattern.names(&mut |name, _| {
                if seen.contains(name) {
                    twice = Some(name.to_string());
                }
                seen.push(name.clone());
            });
            if let Some(name) = twice {
                self.mistake(pattern.span(), MistakeKind::Twice(name));
            }
        }
    }

    /// The statements of a def or of an arm: indented lines, or one on the same line.
    fn block(&mut self, of: &Name) -> Result<Vec<Statement>> {
        if *self.peek() != Token::Newline {
            let statement = self.statement(of)?;
            let returns = matches!(statement, Statement::Return(_) | Statement::If { .. });
            if !returns {
                self.mistake(self.span(), MistakeKind::NoReturn(of.to_string()));
            }
            return Ok(vec![statement]);
        }
        self.take();
        if *self.peek() != Token::Indent {
            return self.unexpected("an indented line");
        }
        self.take();
        let statements = self.statements(of);
        if *self.peek() == Token::Dedent {
            self.take();
        }
        statements
    }

    /// Statements up to the end of their block; those with mistakes are passed.
    fn statements(&mut self, of: &Name) -> Result<Vec<Statement>> {
        let (mut statements, mut failed) = (Vec::new(), false);
        while !matches!(self.peek(), Token::Dedent | Token::End) {
            let span = self.span();
            if matches!(statements.last(), Some(Statement::Return(_) | Statement::If { .. })) {
                self.mistake(span, MistakeKind::Unreachable);
                statements.pop();
            }
            match self.statement(of) {
                Ok(statement) => statements.push(statement),
                Err(Failed) => {
                    failed = true;
                    self.recover();
                }
            }
        }
        if !failed && !matches!(statements.last(), Some(Statement::Return(_) | Statement::If { .. })) {
            self.mistake(self.span(), MistakeKind::NoReturn(of.to_string()));
        }
        // Mistakes are recorded: what follows the block is read as if there were none.
        Ok(statements)
    }

    fn statement(&mut self, of: &Name) -> Result<Statement> {
        if self.is_mark("def") {
            return Ok(Statement::Def(Arc::new(self.def()?)));
        }
        if self.is_mark("if") {
            return self.if_statement(of);
        }
        let statement = if self.skip("return") {
            Statement::Return(self.tuple_or_expression()?)
        } else {
            let patterns = self.targets()?;
            self.expect("=", "`=` after what is assigned to")?;
            Statement::Let(patterns, self.tuple_or_expression()?)
        };
        match self.peek() {
            Token::Newline => drop(self.take()),
            Token::End | Token::Dedent => {}
            _ => return self.unexpected("the end of the line"),
        }
        Ok(statement)
    }

    /// The left side of an assignment: `a`, `(a, b)` or `a, b`.
    fn targets(&mut self) -> Result<Pattern> {
        let span = self.span();
        let mut patterns = self.patterns("=")?;
        self.check_names(&patterns);
        match patterns.len() {
            0 => self.unexpected("a statement"),
            1 => Ok(patterns.remove(0)),
            _ => Ok(Pattern::Tuple(patterns, span)),
        }
    }

    /// `if`, whose second arm may be `elif`, `else`, or what follows.
    fn if_statement(&mut self, of: &Name) -> Result<Statement> {
        self.take();
        let condition = self.expression()?;
        self.expect(":", "`:` after the condition")?;
        let then = self.deeper(|parser| parser.block(of))?;
        let otherwise = if self.is_mark("elif") {
            vec![self.deeper(|parser| parser.if_statement(of))?]
        } else if self.skip("else") {
            self.expect(":", "`:` after `else`")?;
            self.deeper(|parser| parser.block(of))?
        } else {
            self.deeper(|parser| parser.statements(of))?
        };
        Ok(Statement::If { condition, then, otherwise })
    }

    /// An expression, or several between commas as a tuple.
    fn tuple_or_expression(&mut self) -> Result<Expr> {
        let first = self.expression()?;
        self.tuple_from(first)
    }
}

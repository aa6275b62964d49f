//! Text to tokens, with the indentation of lines as tokens of their own.

use crate::ast::Name;
use crate::mistake::{Mistake, MistakeKind};
use crate::span::Span;

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Name(Name),
    Int(i64),
    Float(f64),
    /// An operator, a bracket or a keyword.
    Mark(&'static str),
    /// The end of a line that is not empty.
    Newline,
    /// The end of a line whose brackets are still open, of which the lexer has told.
    Unclosed,
    Indent,
    Dedent,
    End,
}

impl Token {
    /// The token in a message.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Int(value) => format!("`{value}`"),
            Token::Float(value) => format!("`{value}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Newline | Token::Unclosed => "the end of the line".into(),
            Token::Indent => "an indented line".into(),
            Token::Dedent => "a line that is indented less".into(),
            Token::End => "the end of the text".into(),
        }
    }
}

/// Words that are no names.
const KEYWORDS: [&str; 13] =
    ["def", "return", "lambda", "if", "elif", "else", "for", "in", "and", "or", "not", "True", "False"];

/// Operators and brackets, longer ones first.
const MARKS: [&str; 33] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", "+", "-", "*", "/", "%", "<", ">", "=", "&", "|", "^", "~",
    "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "@", "!",
];

/// Width that a tab is taken to, as in Python.
const TAB: u32 = 8;

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
    /// Open brackets: lines inside of them are joined.
    open: Vec<Span>,
    indents: Vec<u32>,
    tokens: Vec<(Token, Span)>,
    mistakes: Vec<Mistake>,
}

/// Returns the tokens of `text` and the mistakes in it; the tokens end in `End`.
pub(super) fn lex(text: &str) -> (Vec<(Token, Span)>, Vec<Mistake>) {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
        column: 1,
        open: Vec::new(),
        indents: Vec::new(),
        tokens: Vec::new(),
        mistakes: Vec::new(),
    };
    lexer.run();
    (lexer.tokens, lexer.mistakes)
}

impl Lexer<'_> {
    fn span(&self) -> Span {
        Span::new(self.line, self.column)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        Some(c)
    }

    fn take_while(&mut self, mut keep: impl FnMut(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek().filter(|&c| keep(c)) {
            taken.push(c);
            self.take();
        }
        taken
    }

    fn push(&mut self, token: Token, span: Span) {
        self.tokens.push((token, span));
    }

    fn run(&mut self) {
        let mut begins = true;
        while self.peek().is_some() {
            if begins && self.open.is_empty() {
                if !self.indentation() {
                    continue;
                }
                begins = false;
            }
            let span = self.span();
            match self.peek() {
                Some('\n') => {
                    self.take();
                    self.close_before_statements();
                    if self.open.is_empty() {
                        self.push(Token::Newline, span);
                        begins = true;
                    }
                }
                Some('#') => drop(self.take_while(|c| c != '\n')),
                Some(c) if c.is_whitespace() => _ = self.take(),
                Some('\\') if self.rest[1..].starts_with('\n') => {
                    self.take();
                    self.take();
                }
                Some(_) => self.token(span),
                None => break,
            }
        }
        let end = self.span();
        if !begins {
            self.push(Token::Newline, end);
        }
        for _ in 1..self.indents.len() {
            self.push(Token::Dedent, end);
        }
        self.push(Token::End, end);
    }

    /// Ends what brackets hold in front of a line that only a statement can begin, so that the mistake stays one.
    fn close_before_statements(&mut self) {
        let word: String = self.rest.trim_start().chars().take_while(|c| c.is_alphanumeric()).collect();
        if matches!(word.as_str(), "def" | "return")
            && let Some(open) = self.open.last()
        {
            self.mistakes.push(Mistake::new(*open, MistakeKind::Unclosed));
            self.open.clear();
            self.push(Token::Unclosed, *self.open.last().unwrap_or(&self.span()));
        }
    }

    /// The indentation of a line; returns false for an empty one, which is passed.
    fn indentation(&mut self) -> bool {
        let mut width = 0;
        for c in self.take_while(|c| c == ' ' || c == '\t' || c == '\r').chars() {
            width = if c == '\t' { (width / TAB + 1) * TAB } else { width + 1 };
        }
        match self.peek() {
            None => return false,
            Some('\n') => {
                self.take();
                return false;
            }
            Some('#') => {
                self.take_while(|c| c != '\n');
                self.take();
                return false;
            }
            Some(_) => {}
        }
        let span = self.span();
        match self.indents.last() {
            // The whole text may stand in the middle of a Rust file.
            None => self.indents.push(width),
            Some(&around) if width > around => {
                self.indents.push(width);
                self.push(Token::Indent, span);
            }
            Some(_) => self.dedent(width, span),
        }
        true
    }

    fn dedent(&mut self, width: u32, span: Span) {
        while self.indents.len() > 1 && self.indents.last().is_some_and(|&around| around > width) {
            self.indents.pop();
            self.push(Token::Dedent, span);
        }
        if self.indents.last() != Some(&width) {
            self.mistakes.push(Mistake::new(span, MistakeKind::Indentation));
        }
    }

    fn token(&mut self, span: Span) {
        let Some(first) = self.peek() else { return };
        if first.is_alphabetic() || first == '_' {
            let word = self.take_while(|c| c.is_alphanumeric() || c == '_');
            let keyword = KEYWORDS.iter().find(|keyword| **keyword == word);
            let token = keyword.map_or_else(|| Token::Name(word.as_str().into()), |keyword| Token::Mark(keyword));
            return self.push(token, span);
        }
        if first.is_ascii_digit() || first == '.' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return self.number(span);
        }
        let Some(mark) = MARKS.iter().find(|mark| self.rest.starts_with(**mark)) else {
            self.take();
            return self.mistakes.push(Mistake::new(span, MistakeKind::Character(first)));
        };
        for _ in mark.chars() {
            self.take();
        }
        match *mark {
            "(" | "[" | "{" => self.open.push(span),
            ")" | "]" | "}" => _ = self.open.pop(),
            _ => {}
        }
        self.push(Token::Mark(mark), span);
    }

    fn number(&mut self, span: Span) {
        let mut before = ' ';
        let digits = self.take_while(|c| {
            let sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
            before = c;
            c.is_ascii_alphanumeric() || c == '.' || c == '_' || sign
        });
        let plain: String = digits.chars().filter(|&c| c != '_').collect();
        let token = match (plain.parse::<i64>(), plain.parse::<f64>()) {
            (Ok(value), _) => Token::Int(value),
            (Err(_), Ok(value)) if plain.chars().any(|c| !c.is_ascii_digit()) && value.is_finite() => {
                Token::Float(value)
            }
            _ => {
                self.mistakes.push(Mistake::new(span, MistakeKind::Number(digits)));
                Token::Int(0)
            }
        };
        self.push(token, span);
    }
}

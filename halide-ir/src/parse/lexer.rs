//! Text to tokens.

use super::error::ParseError;
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A keyword, a function or an id.
    Word(Word),
    /// Digits, with a fraction or exponent or none, and the type behind them, or none.
    Number {
        /// As [`str::parse`] takes them; hexadecimal digits keep `0x`.
        digits: String,
        /// `u16`, or empty.
        suffix: String,
    },
    /// `$3`: a named part of an expression.
    Local(usize),
    /// Text in quotes.
    Str(String),
    /// Operators and brackets.
    Punct(&'static str),
    /// After the last one.
    End,
}

/// `[NAME#]ID[@[NAME#]ID]`; names are decoration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Word {
    pub(super) name: Option<String>,
    pub(super) id: String,
    /// The id behind `@`.
    pub(super) at: Option<String>,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) => write!(f, "`{}`", w.id),
            Token::Number { digits, suffix } => write!(f, "`{digits}{suffix}`"),
            Token::Local(n) => write!(f, "`${n}`"),
            Token::Str(s) => write!(f, "{s:?}"),
            Token::Punct(p) => write!(f, "`{p}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Longer ones first.
const PUNCTUATION: [&str; 29] = [
    "+=", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "{", "}", "(", ")", "[", "]", ",", ":", "=", "<", ">", "+",
    "-", "*", "/", "%", "&", "|", "^", "!",
];

/// The tokens of a text with their lines and columns; the last is [`Token::End`].
pub(super) fn lex(text: &str) -> Result<Vec<(Token, u32, u32)>, ParseError> {
    let mut lexer = Lexer { rest: text.chars().peekable(), line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token().map_err(|message| ParseError { line, column, message })?;
        let done = token == Token::End;
        tokens.push((token, line, column));
        if done {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    /// The character after the next one.
    fn second(&self) -> Option<char> {
        self.rest.clone().nth(1)
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|&c| test(c)) {
            text.push(c);
            self.take();
        }
        text
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(c) if c.is_whitespace() => {
                    self.take();
                }
                Some('/') if self.second() == Some('/') => {
                    self.take_while(|c| c != '\n');
                }
                _ => return,
            }
        }
    }

    fn token(&mut self) -> Result<Token, String> {
        match self.peek() {
            None => Ok(Token::End),
            Some(c) if c.is_ascii_digit() => Ok(self.number()),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let first = self.plain();
                self.word_from(first)
            }
            Some('"') => {
                let text = self.quoted()?;
                if self.peek() == Some('#') { self.word_from(text) } else { Ok(Token::Str(text)) }
            }
            Some('$') => {
                self.take();
                let digits = self.take_while(|c| c.is_ascii_digit());
                digits.parse().map(Token::Local).map_err(|_| "`$` without a number".to_string())
            }
            Some(c) => self.punctuation().ok_or_else(|| format!("unexpected character {c:?}")),
        }
    }

    fn plain(&mut self) -> String {
        self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
    }

    /// A word of which `first` was read: its name, or its id.
    fn word_from(&mut self, first: String) -> Result<Token, String> {
        let (name, id) = self.named(first)?;
        let mut at = None;
        if self.peek() == Some('@') {
            self.take();
            let first = if self.peek() == Some('"') { self.quoted()? } else { self.plain() };
            at = Some(self.named(first)?.1);
        }
        Ok(Token::Word(Word { name, id, at }))
    }

    fn named(&mut self, first: String) -> Result<(Option<String>, String), String> {
        if self.peek() != Some('#') {
            return Ok((None, first));
        }
        self.take();
        match self.plain() {
            id if id.is_empty() => Err("`#` without an id".to_string()),
            id => Ok((Some(first), id)),
        }
    }

    fn number(&mut self) -> Token {
        let digit = |c: char| c.is_ascii_digit();
        let mut digits = self.take_while(digit);
        if digits == "0" && self.peek() == Some('x') {
            self.take();
            let hex = self.take_while(|c| c.is_ascii_hexdigit());
            return Token::Number { digits: format!("0x{hex}"), suffix: String::new() };
        }
        if self.peek() == Some('.') && self.second().is_some_and(digit) {
            self.take();
            digits = format!("{digits}.{}", self.take_while(digit));
        }
        if self.peek() == Some('e') && self.second().is_some_and(|c| digit(c) || c == '-' || c == '+') {
            self.take();
            digits.push('e');
            digits.extend(self.peek().filter(|c| !digit(*c)).and_then(|_| self.take()));
            digits.push_str(&self.take_while(digit));
        }
        let suffix = self.take_while(|c| c.is_ascii_alphanumeric());
        Token::Number { digits, suffix }
    }

    /// A string as Rust writes it for debugging.
    fn quoted(&mut self) -> Result<String, String> {
        self.take();
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err("a string without an end".to_string()),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape().ok_or("an unknown escape in a string")?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.take()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            c @ ('\\' | '"' | '\'') => c,
            'u' => {
                self.take().filter(|&c| c == '{')?;
                let hex = self.take_while(|c| c.is_ascii_hexdigit());
                self.take().filter(|&c| c == '}')?;
                char::from_u32(u32::from_str_radix(&hex, 16).ok()?)?
            }
            _ => return None,
        })
    }

    fn punctuation(&mut self) -> Option<Token> {
        let (first, second) = (self.peek()?, self.second());
        let fits = |p: &&&str| {
            let mut chars = p.chars();
            chars.next() == Some(first) && chars.next().is_none_or(|c| Some(c) == second)
        };
        let found = PUNCTUATION.iter().find(fits)?;
        found.chars().for_each(|_| {
            self.take();
        });
        Some(Token::Punct(found))
    }
}

//! The letters of a schedule's text: names, numbers, punctuation, places.

use super::definitions::Numbers;
use super::error::ParseError;
use halide_core::error::Location;
use std::cell::Cell;
use std::fmt;

/// A text and how far it has been read.
pub(super) struct Text<'t> {
    text: &'t str,
    pos: usize,
    file: &'t str,
    /// The last place that was asked for: its offset, its line and its column.
    seen: Cell<(usize, u32, u32)>,
    /// The parentheses that are open in the name of a Func that is read.
    pub(super) open_names: usize,
    /// The numbers that have names.
    pub(super) numbers: Numbers,
}

/// Words that, with `(` after them, end a dotted name.
const SUFFIXES: [&str; 11] =
    ["in", "clone_in", "rfactor", "total", "carry", "update", "updates", "specialize", "min", "extent", "stride"];

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str, file: &'t str) -> Text<'t> {
        let seen = Cell::new((0, 1, 1));
        let mut text = Text { text, pos: 0, file, seen, open_names: 0, numbers: Numbers::default() };
        text.skip_space();
        text
    }

    /// Returns the text behind `token`, which is next.
    pub(super) fn clone_after(&self, token: &str) -> Option<Text<'t>> {
        self.rest().strip_prefix(token).map(|rest| Text::new(rest, self.file))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.pos..]
    }

    /// Returns the number of items up to the end of the parentheses.
    pub(super) fn items_ahead(&self) -> usize {
        let mut depth = 0;
        let ends = |c: char| {
            depth += i64::from(c == '(') - i64::from(c == ')');
            depth < 0
        };
        1 + self.rest().split(ends).next().map_or(0, |list| list.matches(',').count())
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// The place of the next letter.
    pub(super) fn location(&self) -> Location {
        // Places are asked for from the first to the last, so that counting goes on where it ended.
        let (seen, line, column) = Some(self.seen.get()).filter(|at| at.0 <= self.pos).unwrap_or((0, 1, 1));
        let new = &self.text[seen..self.pos];
        let line = line + new.matches('\n').count() as u32;
        let letters = |text: &str| text.chars().count() as u32;
        let column = new.rfind('\n').map_or_else(|| column + letters(new), |end| 1 + letters(&new[end + 1..]));
        self.seen.set((self.pos, line, column));
        Location::in_text(self.file, line, column)
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest().trim_start();
            self.pos = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            self.pos += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.pos += bytes;
        self.skip_space();
    }

    pub(super) fn sees(&self, token: &str) -> bool {
        self.rest().starts_with(token)
    }

    /// Returns true if the next letter is one of `letters`.
    pub(super) fn sees_any(&self, letters: &str) -> bool {
        self.rest().starts_with(|c| letters.contains(c))
    }

    /// Returns true if `first` is next and `second` comes after it.
    pub(super) fn sees_pair(&self, first: &str, second: &str) -> bool {
        self.clone_after(first).is_some_and(|text| text.sees(second))
    }

    /// Reads `token` if it is next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let seen = self.sees(token);
        if seen {
            self.advance(token.len());
        }
        seen
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// The error that says `what` should stand here.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        ParseError { at: self.location(), message: format!("expected {what}, found {}", self.found()), help: None }
    }

    /// Returns the next word or letter, quoted, for messages.
    pub(super) fn found(&self) -> String {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return "the end".to_string() };
        let word: String = rest.chars().take_while(|&c| continues_name(c)).take(40).collect();
        format!("`{}`", if word.is_empty() { first.to_string() } else { word })
    }

    /// An identifier without dots.
    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, ParseError> {
        let word = self.peek_word().ok_or_else(|| self.expected(what))?;
        self.advance(word.len());
        Ok(word)
    }

    pub(super) fn peek_word(&self) -> Option<&'t str> {
        word_of(self.rest())
    }

    /// A name: identifiers joined by dots, or text in quotes.
    pub(super) fn name(&mut self, what: &str) -> Result<String, ParseError> {
        if self.sees("\"") {
            return self.string(what);
        }
        let rest = self.rest();
        let mut end = word_of(rest).ok_or_else(|| self.expected(what))?.len();
        while let Some(part) = rest[end..].strip_prefix('.').and_then(word_of) {
            let after = end + 1 + part.len();
            if SUFFIXES.contains(&part) && rest[after..].starts_with('(') {
                break;
            }
            end = after;
        }
        self.advance(end);
        Ok(rest[..end].to_string())
    }

    /// Items up to `)`, which is left, in brackets or not.
    pub(super) fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, ParseError>) -> Result<Vec<T>, ParseError> {
        if self.take("[") { self.items("]", item) } else { self.items_before(")", item) }
    }

    /// Items separated by commas, up to and with `end`.
    pub(super) fn items<T>(
        &mut self,
        end: &str,
        item: impl Fn(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let list = self.items_before(end, item)?;
        self.expect(end)?;
        Ok(list)
    }

    fn items_before<T>(
        &mut self,
        end: &str,
        item: impl Fn(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut list = Vec::new();
        while !self.sees(end) {
            if !list.is_empty() {
                self.expect(",").map_err(|_| self.expected(&format!("`,` or `{end}`")))?;
            }
            list.push(item(self)?);
        }
        Ok(list)
    }

    /// Text in double quotes.
    pub(super) fn string(&mut self, what: &str) -> Result<String, ParseError> {
        let rest = self.rest();
        let mut letters = rest.char_indices();
        if letters.next().is_none_or(|(_, c)| c != '"') {
            return Err(self.expected(what));
        }
        let mut string = String::new();
        while let Some((i, c)) = letters.next() {
            match c {
                '"' => {
                    self.advance(i + 1);
                    return Ok(string);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => string.push('\n'),
                    Some((_, c)) => string.push(c),
                    None => break,
                },
                c => string.push(c),
            }
        }
        Err(ParseError { at: self.location(), message: "this quote is not closed".to_string(), help: None })
    }

    /// An integer, if one stands here.
    pub(super) fn peek_integer(&self) -> bool {
        let digits = self.rest().strip_prefix('-').map_or(self.rest(), str::trim_start);
        digits.starts_with(|c: char| c.is_ascii_digit())
    }

    pub(super) fn integer(&mut self, what: &str) -> Result<i64, ParseError> {
        if !self.peek_integer() {
            return Err(self.expected(what));
        }
        let at = self.location();
        let negative = self.take("-");
        let rest = self.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len())];
        let sign = if negative { "-" } else { "" };
        let value = format!("{sign}{}", digits.replace('_', "")).parse().map_err(|_| ParseError {
            at,
            message: format!("{sign}{digits} does not fit 64 bits"),
            help: None,
        })?;
        self.advance(digits.len());
        Ok(value)
    }

    /// A number from 0.
    pub(super) fn count(&mut self, what: &str) -> Result<usize, ParseError> {
        let error = self.expected(what);
        self.integer(what).ok().and_then(|n| usize::try_from(n).ok()).ok_or(error)
    }

    /// A number and `)`, if just that stands here.
    pub(super) fn index_before_paren(&mut self) -> Option<usize> {
        let start = self.pos;
        let index = self.count("").ok();
        if index.is_some() && self.take(")") {
            return index;
        }
        self.pos = start;
        None
    }

    /// Returns the offset up to which the text has been read, for [`Text::skip_item`].
    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// Goes on after a mistake in the item that began at `start`: behind the parenthesis that closes it, or on the next
    /// line where none does.
    pub(super) fn skip_item(&mut self, start: usize) {
        let opened = self.opened_since(start);
        let mut depth = 0;
        while let Some(c) = self.letter() {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth -= 1;
                    if opened + depth <= 0 && !self.sees_any(".:") {
                        break;
                    }
                }
                ':' | '\n' if depth <= 0 => break,
                _ => {}
            }
        }
        self.skip_space();
    }

    /// The parentheses opened since `start` that are not closed before here.
    fn opened_since(&self, start: usize) -> i64 {
        let text = &self.text[..self.pos];
        let mut read = Text { pos: start, seen: self.seen.clone(), ..Text::new(text, self.file) };
        let mut depth = 0;
        while let Some(c) = read.letter() {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
        }
        depth
    }

    /// Steps over the next letter, or over a comment or text in quotes, whose first letter this is.
    fn letter(&mut self) -> Option<char> {
        let rest = self.rest();
        let c = rest.chars().next()?;
        match c {
            '#' => self.pos += rest.find('\n').unwrap_or(rest.len()),
            '"' if self.string("").is_ok() => {}
            _ => self.pos += c.len_utf8(),
        }
        Some(c)
    }
}

fn word_of(rest: &str) -> Option<&str> {
    let end = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
    (rest.starts_with(starts_name) && end > 0).then(|| &rest[..end])
}

/// Returns true if `name` is identifiers joined by dots.
pub(super) fn is_plain(name: &str) -> bool {
    name.split('.').all(|part| {
        let mut letters = part.chars();
        letters.next().is_some_and(starts_name) && letters.all(continues_name)
    })
}

/// Returns true if an identifier may begin with `c`.
fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

/// Returns true if an identifier may go on with `c`.
fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

/// The name of a loop, parameter or image: as it is if it reads as a name, else in quotes.
pub(super) struct NameText<'a>(pub(super) &'a str);

impl fmt::Display for NameText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) { f.write_str(self.0) } else { quote(f, self.0) }
    }
}

/// Text in quotes.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quote(f, self.0)
    }
}

pub(super) fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            _ => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// Items with commas between them.
pub(super) fn separated<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<String>>().join(", ")
}

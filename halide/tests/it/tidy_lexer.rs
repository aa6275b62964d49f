//! Lexer for the rules of the source tree: which characters of a file are code, and which are comments or quoted.

/// The text of a file with blanks for comments and for all that is quoted. Lines stay where they are, and so do the
/// quotes.
pub(crate) fn bare(text: &str) -> String {
    let mut lexer = Lexer { rest: text, out: String::with_capacity(text.len()), after_name: false };
    while !lexer.rest.is_empty() {
        lexer.token();
    }
    lexer.out
}

struct Lexer<'t> {
    rest: &'t str,
    out: String,
    /// True if the last character was part of a name or number, which a prefix of a literal cannot follow.
    after_name: bool,
}

impl Lexer<'_> {
    fn token(&mut self) {
        let length = self.rest.chars().next().map_or(0, char::len_utf8);
        if self.rest.starts_with("//") {
            self.blank(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.blank(block_comment(self.rest));
        } else if let Some((open, close)) = raw_string(self.rest).filter(|_| !self.after_name) {
            self.keep(open);
            let end = self.rest.find(&close).unwrap_or(self.rest.len());
            self.blank(end);
            self.keep(close.len());
        } else if self.rest.starts_with('"') {
            self.keep(1);
            self.blank(string(self.rest));
            self.keep(1);
        } else if let Some(end) = character(self.rest) {
            self.keep(1);
            self.blank(end - 2);
            self.keep(1);
        } else {
            self.keep(length);
        }
    }

    /// Copies so many bytes.
    fn keep(&mut self, length: usize) {
        let (token, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.after_name = token.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        self.out.push_str(token);
        self.rest = rest;
    }

    /// Writes blanks for so many bytes, but keeps the ends of lines.
    fn blank(&mut self, length: usize) {
        let (token, rest) = self.rest.split_at(length);
        self.out.extend(token.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.after_name = false;
        self.rest = rest;
    }
}

/// The length of a comment in `/* */`, with those inside.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the opening of a raw string at the start of a text, and what closes it.
fn raw_string(text: &str) -> Option<(usize, String)> {
    let raw = ["r", "br", "cr"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    raw[hashes..].starts_with('"').then(|| (text.len() - raw.len() + hashes + 1, format!("\"{}", "#".repeat(hashes))))
}

/// The length of a string's contents, after its first quote.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The length of a character in quotes at the start of a text; `None` for lifetimes.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let mut chars = inside.chars();
    if chars.next()? != '\\' {
        return (chars.next()? == '\'').then(|| text.len() - chars.as_str().len());
    }
    chars.next()?;
    Some(text.len() - chars.as_str().len() + chars.as_str().find('\'')? + 1)
}

#[test]
fn comments_and_quotes_are_blank() {
    let text = r####"let a = "x // {"; // }
/* { /* { */ " */ let b = '{';
let c: &'static str = r#"a " {
} "#; let d = b'\''; let e = '\u{7b}';
for f in x'a 1 "\"{" b"}" '"' "####;
    let expected = r####"let a = "      ";     
                  let b = ' ';
let c: &'static str = r#"     
  "#; let d = b'  '; let e = '      ';
for f in x'a 1 "   " b" " ' ' "####;
    assert_eq!(bare(text), expected);
}

//! Text in HTML.

use std::fmt::{self, Display, Write};

/// A text whose characters mean nothing to HTML, neither between tags nor in quoted attributes.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A name that somebody chose, isolated from the direction of the text around it.
pub(super) struct Name<'t>(pub(super) &'t str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<bdi>{}</bdi>", Escaped(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let text = Name("<b onclick='x'>\"&").to_string();
        assert_eq!(text, "<bdi>&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;</bdi>");
    }
}

//! A patch between two texts, as `diff -u` writes it.

use std::fmt::Write;

/// The lines that stay around a change.
const CONTEXT: usize = 3;

/// The most lines of a text that is compared line by line: the time grows with the square.
const MOST: usize = 4000;

/// A line of both texts, or of one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Both(&'t str),
    Before(&'t str),
    After(&'t str),
}

/// The patch from `before` to `after`; empty where they are the same.
pub(super) fn patch(name: (&str, &str), before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let lines = merged(&old, &new);
    let is_change = |line: &Line<'_>| !matches!(line, Line::Both(_));
    let mut text = String::new();
    let mut at = 0;
    while let Some(first) = (at..lines.len()).find(|n| is_change(&lines[*n])) {
        let begin = first.saturating_sub(CONTEXT).max(at);
        let mut end = first + 1;
        // Changes with few lines between them are one hunk.
        while let Some(next) = (end..lines.len().min(end + 2 * CONTEXT + 1)).find(|n| is_change(&lines[*n])) {
            end = next + 1;
        }
        let end = (end + CONTEXT).min(lines.len());
        if text.is_empty() {
            text = format!("--- {}\n+++ {}\n", name.0, name.1);
        }
        hunk(&mut text, &lines, begin..end);
        at = end;
    }
    text
}

/// Writes one hunk with its places.
fn hunk(text: &mut String, lines: &[Line<'_>], range: std::ops::Range<usize>) {
    let count = |of: &[Line<'_>], old: bool| {
        let is_in =
            |line: &&Line<'_>| if old { !matches!(line, Line::After(_)) } else { !matches!(line, Line::Before(_)) };
        of.iter().filter(is_in).count()
    };
    let place = |old: bool| {
        let (before, own) = (count(&lines[..range.start], old), count(&lines[range.clone()], old));
        // A hunk without lines of a file stands behind the line before it.
        let first = if own == 0 { before } else { before + 1 };
        if own == 1 { first.to_string() } else { format!("{first},{own}") }
    };
    // Writing to a String does not fail.
    let _ = writeln!(text, "@@ -{} +{} @@", place(true), place(false));
    for line in &lines[range.clone()] {
        let (mark, line) = match line {
            Line::Both(line) => (' ', line),
            Line::Before(line) => ('-', line),
            Line::After(line) => ('+', line),
        };
        let _ = writeln!(text, "{mark}{line}");
    }
}

/// The lines of both texts, where each that both have in order stands once.
fn merged<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    if old.len().max(new.len()) > MOST {
        let before = old.iter().map(|line| Line::Before(line));
        return before.chain(new.iter().map(|line| Line::After(line))).collect();
    }
    let mut longest = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = match old[i] == new[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Both(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || longest[i + 1][j] >= longest[i][j + 1]) {
            lines.push(Line::Before(old[i]));
            i += 1;
        } else {
            lines.push(Line::After(new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::patch;

    fn of(before: &str, after: &str) -> String {
        patch(("a", "b"), before, after)
    }

    #[test]
    fn patches_are_those_of_diff() {
        assert_eq!(of("f: x()", "f: x()"), "");
        assert_eq!(of("", "f: x()"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+f: x()\n");
        assert_eq!(of("1\n2\n3", "1\n4\n3"), "--- a\n+++ b\n@@ -1,3 +1,3 @@\n 1\n-2\n+4\n 3\n");
        let old: Vec<String> = (1..=30).map(|n| n.to_string()).collect();
        let mut new = old.clone();
        new[1] = "two".to_string();
        new.remove(27);
        let text = of(&old.join("\n"), &new.join("\n"));
        assert_eq!(
            text,
            "--- a\n+++ b\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -25,6 +25,5 @@\n 25\n 26\n 27\n-28\n 29\n 30\n"
        );
    }

    #[test]
    fn changes_that_are_close_are_one_hunk() {
        let text = of("1\n2\n3\n4\n5\n6\n7", "a\n2\n3\n4\n5\n6\nb");
        assert_eq!(text.matches("@@ -").count(), 1, "{text}");
    }
}

//! A patch between two texts, as `diff -u` writes it.

use similar::TextDiff;

/// The lines that stay around a change.
const CONTEXT: usize = 3;

/// The patch from `before` to `after`; empty where they are the same.
pub(super) fn patch(name: (&str, &str), before: &str, after: &str) -> String {
    // A text without an end of its last line is one with it.
    let [before, after] = [before, after].map(|text| text.lines().map(|line| format!("{line}\n")).collect::<String>());
    let diff = TextDiff::from_lines(&before, &after);
    diff.unified_diff().context_radius(CONTEXT).header(name.0, name.1).to_string()
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

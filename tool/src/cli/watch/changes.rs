//! The directives in which two versions of a schedule differ, in the language of schedules.

use super::super::changes::{Change, Changes, MOST};
use halide::prelude::*;

/// The differences that a row shows.
const SHOWN: usize = 3;

/// The most letters that a row shows of a difference.
const LETTERS: usize = 100;

/// The directives in which a version differs from the one before.
pub(super) fn changes(before: &Schedule, after: &Schedule) -> Vec<String> {
    if before.len().max(after.len()) > MOST {
        return vec![format!("{} directives, too many to compare", after.len())];
    }
    Changes::new(before, after).all.iter().map(Change::text).collect()
}

/// The name of a version by what changed.
pub(super) fn summary(changes: &[String]) -> String {
    let cut = |text: &String| match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.clone(),
    };
    let mut text = changes.iter().take(SHOWN).map(cut).collect::<Vec<_>>().join("; ");
    if changes.len() > SHOWN {
        text += &format!("; and {} more", changes.len() - SHOWN);
    }
    if text.is_empty() { "no directive changed".to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &str, after: &str) -> Vec<String> {
        changes(&before.parse().unwrap(), &after.parse().unwrap())
    }

    #[test]
    fn differences_are_directives() {
        let tiles = "f: tile(x, y, xo, yo, xi, yi, 256, 32) vectorize(xi, 8)\ng: compute_at(f, xo)";
        assert_eq!(between(tiles, tiles), [""; 0]);
        assert_eq!(between("f: parallel(y)", ""), ["without f: parallel(y)"]);
        assert_eq!(between("", "g: compute_root() parallel(y)"), ["g: compute_root()", "g: parallel(y)"]);
        let wider = "f: tile(x, y, xo, yo, xi, yi, 512, 16) vectorize(xi, 8)\ng: compute_at(f, xo) vectorize(x, 8)";
        // A tile is two splits and an order.
        let width = "f: split(x, xo, xi, 256) -> f: split(x, xo, xi, 512)";
        let height = "f: split(y, yo, yi, 32) -> f: split(y, yo, yi, 16)";
        assert_eq!(between(tiles, wider), [width, height, "g: vectorize(x, 8)"]);
        let moved = between("f: parallel(y) vectorize(x, 8)", "f: vectorize(x, 8) parallel(y)");
        assert!(moved.len() == 1 && moved[0].ends_with(", moved"), "{moved:?}");
        assert_eq!(between("let n = 8 f: vectorize(x, n)", "f: vectorize(x, 8) # the same"), [""; 0]);
    }

    #[test]
    fn long_schedules_are_not_compared() {
        let long = "f: unroll(x)\n".repeat(MOST + 1);
        assert_eq!(between("", &long), ["2001 directives, too many to compare"]);
    }

    #[test]
    fn summaries_are_short() {
        assert_eq!(summary(&[]), "no directive changed");
        let all: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_string).into();
        assert_eq!((summary(&all[..2]), summary(&all)), ("a; b".to_string(), "a; b; c; and 2 more".to_string()));
        assert_eq!(summary(&["ä".repeat(101)]), format!("{}...", "ä".repeat(100)));
    }
}

//! The directives in which two versions of a schedule differ, in the language of schedules.

use halide::prelude::*;
use halide::schedule::Directive;
use std::collections::HashMap;
use std::mem::discriminant;

/// The differences that a row shows.
const SHOWN: usize = 3;

/// The most letters that a row shows of a difference.
const LETTERS: usize = 100;

/// The directives that differ, from the first on: `f: parallel(y)` is new, `without f: parallel(y)` is gone, and
/// `f: split(y, yo, yi, 8) -> f: split(y, yo, yi, 16)` has other arguments. Where only their order does, that is said.
pub(super) fn changes(before: &Schedule, after: &Schedule) -> Vec<String> {
    let mut gone = left_over(before, after);
    let new = left_over(after, before);
    let mut all = Vec::new();
    for directive in new {
        let same_word = |old: &&Directive| {
            old.subject == directive.subject && discriminant(&old.verb) == discriminant(&directive.verb)
        };
        let text = shown(directive);
        all.push(match gone.iter().position(same_word) {
            Some(at) => format!("{} -> {text}", shown(gone.remove(at))),
            None => text,
        });
    }
    all.extend(gone.into_iter().map(|directive| format!("without {}", shown(directive))));
    if all.is_empty() && before != after {
        all.push("the same directives in another order".to_string());
    }
    all
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

/// The directives of a schedule that another one does not have, or has less often.
fn left_over<'s>(schedule: &'s Schedule, other: &Schedule) -> Vec<&'s Directive> {
    let mut counts: HashMap<_, usize> = HashMap::new();
    for directive in other.directives() {
        *counts.entry((&directive.subject, &directive.verb)).or_default() += 1;
    }
    let mut all = Vec::new();
    for directive in schedule.directives() {
        match counts.get_mut(&(&directive.subject, &directive.verb)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => all.push(directive),
        }
    }
    all
}

/// A directive as a schedule by itself.
fn shown(directive: &Directive) -> String {
    Schedule::from(vec![directive.clone()]).to_string()
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
        let order = ["the same directives in another order"];
        assert_eq!(between("f: parallel(y) vectorize(x, 8)", "f: vectorize(x, 8) parallel(y)"), order);
        assert_eq!(between("let n = 8 f: vectorize(x, n)", "f: vectorize(x, 8) # the same"), [""; 0]);
    }

    #[test]
    fn summaries_are_short() {
        assert_eq!(summary(&[]), "no directive changed");
        let all: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_string).into();
        assert_eq!((summary(&all[..2]), summary(&all)), ("a; b".to_string(), "a; b; c; and 2 more".to_string()));
        assert_eq!(summary(&["ä".repeat(101)]), format!("{}...", "ä".repeat(100)));
    }
}

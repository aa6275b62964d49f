//! The list of directives in `docs/directives.md`, which is the table of directives as text.

use super::super::*;
use expect_test::expect_file;

/// One line for each directive.
fn listing() -> String {
    let mut text = "# Directives\n\n\
        The words of schedules, from `halide-sched/src/schedule/table.rs` (`UPDATE_EXPECT=1 cargo test -p halide-sched\n\
        listing` writes this file). Arguments in brackets may be left out; those in brackets within brackets only stand\n\
        after the ones before them. A directive speaks of the graph of Funcs, of a Func as a whole, or of a stage.\n\
        [schedule.md](schedule.md) has an example of each, its errors, and the rest of the language.\n\n\
        | directive | speaks of | in Halide | meaning |\n|---|---|---|---|\n"
        .to_string();
    for row in rows() {
        let arguments = arguments(row.parameters);
        let halide = if row.halide.is_empty() { "-".to_string() } else { format!("`{}`", row.halide) };
        let scope = format!("{:?}", row.scope).to_lowercase();
        text += &format!("| `{}({arguments})` | {scope} | {halide} | {} |\n", row.word, row.doc());
    }
    text
}

/// The arguments of a directive. One that may be left out is only read after those before it, unless brackets of its
/// own tell it from them.
fn arguments(parameters: &[Parameter]) -> String {
    let (mut text, mut open) = (String::new(), 0);
    for parameter in parameters {
        let comma = if text.is_empty() { "" } else { ", " };
        if parameter.kind.starts_with('[') {
            text += &"]".repeat(std::mem::take(&mut open));
        }
        let bracket = if parameter.optional { "[" } else { "" };
        open += usize::from(parameter.optional);
        text += &format!("{bracket}{comma}{}: {}", parameter.name, parameter.kind.replace('`', ""));
    }
    text + &"]".repeat(open)
}

#[test]
fn the_list_in_docs_is_that_of_the_table() {
    expect_file!["../../../../docs/directives.md"].assert_eq(&listing());
}

#[test]
fn words_are_distinct() {
    let words: Vec<&str> = rows().map(|row| row.word).collect();
    let distinct: std::collections::BTreeSet<&&str> = words.iter().collect();
    assert_eq!(distinct.len(), words.len());
}

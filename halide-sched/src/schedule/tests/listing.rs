//! The list of directives in `docs/directives.md`, which is the table of directives as text.

use super::super::*;
use expect_test::expect_file;

/// One line for each directive.
fn listing() -> String {
    let mut text = "# Directives\n\n\
        The words of schedules, from `halide-sched/src/schedule/table.rs` (`UPDATE_EXPECT=1 cargo test -p halide-sched \
        listing` writes this file). Arguments in brackets may be left out. A directive speaks of the graph of Funcs, of \
        a Func as a whole, or of a stage.\n\n\
        | directive | speaks of | in Halide | meaning |\n|---|---|---|---|\n"
        .to_string();
    for row in rows() {
        let mut arguments = String::new();
        for parameter in row.parameters {
            let comma = if arguments.is_empty() { "" } else { ", " };
            let (open, close) = if parameter.optional { ("[", "]") } else { ("", "") };
            arguments += &format!("{open}{comma}{}: {}{close}", parameter.name, parameter.kind.replace('`', ""));
        }
        let halide = if row.halide.is_empty() { "-".to_string() } else { format!("`{}`", row.halide) };
        let scope = format!("{:?}", row.scope).to_lowercase();
        text += &format!("| `{}({arguments})` | {scope} | {halide} | {} |\n", row.word, row.doc());
    }
    text
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

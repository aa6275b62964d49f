//! Rules for the passes of lowering: file, header, example, test, and the row in ARCHITECTURE.md.

use crate::tidy::{is_there, none, read};

/// Passes from `Bounded` on that no test runs alone on random programs: these have no loops for them.
const NOT_ALONE: [&str; 3] = ["vectorize", "offload", "place_copies"];

/// The folder of lowering.
const LOWER: &str = "halide-sched/src/lower";

/// The names that stand behind `start` in a text, each once, in order.
fn names_behind(text: &str, start: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(start).skip(1).filter_map(|rest| rest.split('"').next()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    names
}

/// The passes up to `Bounded`, and those behind, in the order in which `lower/mod.rs` runs them. The search for regions
/// is half of a pass.
fn passes() -> [Vec<String>; 2] {
    let text = read(&format!("{LOWER}/mod.rs"));
    let mut early = names_behind(&text, "begin(\"");
    early.retain(|name| name != "find_regions");
    let late = names_behind(&text, "pass(\"");
    assert!(early.len() > 5 && late.len() > 15, "{early:?} {late:?}");
    [early, late]
}

/// The rows of ARCHITECTURE's table of passes: the name, and the folder.
fn rows(text: &str) -> Vec<(String, String)> {
    let (_, rest) = text.split_once("\n## Passes\n").expect("the section is there");
    let section = rest.split("\n## ").next().unwrap_or(rest);
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let (name, folder) = (cells.next()?.split('`').next()?, cells.next()?.trim());
        Some((name.to_string(), folder.trim_matches('`').to_string()))
    };
    section.lines().filter_map(row).collect()
}

#[test]
fn passes_stand_in_the_architecture_in_order() {
    let rows = rows(&read("ARCHITECTURE.md"));
    let said: Vec<&String> = rows.iter().map(|(name, _)| name).collect();
    let passes = passes();
    let there: Vec<&String> = passes.iter().flatten().collect();
    assert_eq!(said, there, "the table of passes in ARCHITECTURE.md, and lower/mod.rs");
}

#[test]
fn every_pass_has_a_header_with_an_example() {
    let examples = read(&format!("{LOWER}/example.rs"));
    let mut found = Vec::new();
    // The simplifier is a module of its own, with a README.
    for (name, folder) in rows(&read("ARCHITECTURE.md")).into_iter().filter(|(name, _)| name != "simplify") {
        let places = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
        let Some(file) = places.iter().find(|file| is_there(&format!("{LOWER}/{file}"))) else {
            found.push(format!("{name} is not in {folder}"));
            continue;
        };
        let text = read(&format!("{LOWER}/{file}"));
        let header: Vec<&str> = text.lines().take_while(|l| l.starts_with("//!")).collect();
        for part in ["Before", "fter", "//! Example"] {
            if !header.iter().any(|l| l.contains(part)) {
                found.push(format!("{file}: its header has no {part}"));
            }
        }
        if !["pub", "pub(crate)"].iter().any(|word| text.contains(&format!("\n{word} fn {name}("))) {
            found.push(format!("{file}: no function {name} for others"));
        }
        if !examples.contains(&format!("\"{file}\"")) {
            found.push(format!("{file}: lower/example.rs does not run its example"));
        }
    }
    none(found, "passes");
}

#[test]
fn passes_run_alone_on_random_programs() {
    let tests = read(&format!("{LOWER}/tests.rs"));
    let [_, late] = passes();
    let runs = |name: &str| tests.contains(&format!("fn {name}_keeps_meaning("));
    let mut found = Vec::new();
    for name in late.iter().filter(|name| *name != "simplify") {
        match (NOT_ALONE.contains(&name.as_str()), runs(name)) {
            (false, false) => found.push(format!("{name} has no test")),
            (true, true) => found.push(format!("{name} has a test; take it off the list")),
            _ => {}
        }
    }
    found.extend(NOT_ALONE.iter().filter(|n| !late.iter().any(|l| l == *n)).map(|n| format!("{n} is no pass")));
    let others = names_of_tests(&tests).filter(|name| !late.iter().any(|pass| pass == name));
    found.extend(others.map(|name| format!("{name}_keeps_meaning is of no pass")));
    none(found, "tests of passes");
}

/// The names that stand before `_keeps_meaning` in tests.
fn names_of_tests(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("fn ")?.split_once("_keeps_meaning(").map(|(name, _)| name))
}

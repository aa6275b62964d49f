//! Rules for words: doc comments open with what a scanning eye needs, and the glossary points at what is there.

use crate::tidy::{CRATES, is_there, read, sources};

/// First words that make a reader go on before knowing the subject.
const OPENERS: [&str; 17] = [
    "What", "Whether", "Which", "Where", "Of", "Those", "Who", "Whose", "Why", "How", "That", "When", "If", "Up",
    "Under", "And", "Beyond",
];

/// The first lines of the doc comments of a file, and the meanings in the table of extensions, which become some.
fn openings<'t>(path: &str, text: &'t str) -> Vec<&'t str> {
    let is_table = path == "halide-ir/src/features.rs";
    let rows = text.lines().filter(|line| is_table && line.ends_with("];"));
    let mut all: Vec<&str> = rows.filter_map(|row| row.split('"').nth(3)).collect();
    assert!(!is_table || all.len() > 10, "{path} has a row for each extension");
    let mut is_inside = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(comment) = comment
            && !is_inside
        {
            all.push(comment);
        }
        is_inside = comment.is_some();
    }
    all
}

#[test]
fn doc_comments_open_with_a_noun_or_a_verb() {
    let (mut all, mut found) = (0, Vec::new());
    for (path, text) in sources() {
        for opening in openings(&path, &text) {
            let word = opening.trim_start_matches(|c: char| !c.is_alphanumeric());
            let word = word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            all += 1;
            if OPENERS.contains(&word) {
                found.push(format!("{path}: {opening}"));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} of {all} doc comments open with a word that names nothing:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// The folder of a crate, by the name that the glossary has for it.
fn folder(name: &str) -> String {
    let (_, dir) = CRATES.iter().find(|(short, _)| *short == name).unwrap_or_else(|| panic!("`{name}` is no crate"));
    format!("{dir}/src")
}

#[test]
fn places_in_the_glossary_exist() {
    let (mut terms, mut missing) = (0, Vec::new());
    for row in read("docs/glossary.md").lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term")) {
        let Some(place) = row.split('|').nth(3) else { continue };
        terms += 1;
        let mut crates: Vec<String> = Vec::new();
        let mut was_path = true;
        for (i, part) in place.split('`').enumerate() {
            if i % 2 == 1 {
                let is_known = |c: &&String| is_there(&format!("{c}/{part}")) || is_there(&format!("{c}/{part}.rs"));
                missing.extend(crates.iter().filter(|c| !is_known(c)).map(|c| format!("{c}/{part}")));
                was_path = true;
                continue;
            }
            for name in part.split([' ', ',']).filter(|name| !name.is_empty() && *name != "and") {
                if was_path {
                    crates.clear();
                }
                was_path = false;
                crates.push(folder(name));
            }
        }
        // A place may be a crate as a whole.
        assert!(!crates.is_empty(), "a term without a place: {row}");
    }
    assert!(terms > 60 && missing.is_empty(), "{terms} terms; these places are not there: {missing:#?}");
}

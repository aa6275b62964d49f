//! Rules for words: doc comments open with what a scanning eye needs, and the glossary points at what is there.

use crate::tidy::sources;
use std::fs;
use std::path::Path;

/// First words that make a reader go on before knowing the subject.
const OPENERS: [&str; 11] = ["What", "Whether", "Which", "Where", "Of", "Those", "Who", "Whose", "Why", "How", "That"];

/// The most doc comments of a thousand that open with one of these.
const MOST_IN_A_THOUSAND: usize = 30;

/// The first lines of the doc comments of a file.
fn openings(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
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
        for opening in openings(&text) {
            let word = opening.trim_start_matches(|c: char| !c.is_alphanumeric());
            let word = word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            all += 1;
            if OPENERS.contains(&word) {
                found.push(format!("{path}: {opening}"));
            }
        }
    }
    let most = all * MOST_IN_A_THOUSAND / 1000;
    assert!(
        found.len() <= most,
        "{} of {all} doc comments open with a word that names nothing, and {most} may:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// The folder of a crate, by the name that the glossary has for it.
fn folder(name: &str) -> Option<&'static str> {
    Some(match name {
        "core" => "halide-core/src",
        "ir" => "halide-ir/src",
        "solve" => "halide-solve/src",
        "sched" => "halide-sched/src",
        "backend" => "backends/common/src",
        "cpu" => "backends/cpu/src",
        "gpu" => "backends/gpu/src",
        "halide" => "halide/src",
        "testing" => "halide-testing/src",
        "checks" => "checks/src",
        _ => return None,
    })
}

#[test]
fn places_in_the_glossary_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace");
    let text = fs::read_to_string(root.join("docs/glossary.md")).expect("it is there");
    let (mut terms, mut missing) = (0, Vec::new());
    for row in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term")) {
        let Some(place) = row.split('|').nth(3) else { continue };
        terms += 1;
        let mut crates: Vec<&str> = Vec::new();
        let mut was_path = true;
        for (i, part) in place.split('`').enumerate() {
            if i % 2 == 1 {
                let is_there = |c: &&str| {
                    let base = root.join(c).join(part);
                    base.is_dir() || base.with_extension("rs").is_file()
                };
                missing.extend(crates.iter().filter(|c| !is_there(c)).map(|c| format!("{c}/{part}")));
                was_path = true;
                continue;
            }
            let named = part.split_whitespace().map(|word| word.trim_matches(',')).filter_map(folder);
            for folder in named {
                if was_path {
                    crates.clear();
                }
                was_path = false;
                crates.push(folder);
            }
        }
    }
    assert!(terms > 60 && missing.is_empty(), "{terms} terms; these places are not there: {missing:#?}");
}

//! The rules of the source tree that no compiler checks. ARCHITECTURE.md says why they are there.

use crate::tidy_cycles::{module_of, paths, place_of};
use crate::tidy_lexer::bare;
use std::fs;
use std::path::{Path, PathBuf};

/// No source file is longer; tests may be.
const MOST_LINES: usize = 500;

/// The crates, by the names that ARCHITECTURE.md has for them.
pub(crate) const CRATES: [(&str, &str); 22] = [
    ("core", "halide-core"),
    ("ir", "halide-ir"),
    ("solve", "halide-solve"),
    ("sched", "halide-sched"),
    ("auto", "halide-auto"),
    ("testing", "halide-testing"),
    ("backend", "backends/common"),
    ("cpu", "backends/cpu"),
    ("gpu", "backends/gpu"),
    ("halide", "halide"),
    ("seq", "frontends/seq"),
    ("runtime", "runtime"),
    ("report", "report"),
    ("tool", "tool"),
    ("apps", "apps"),
    ("book", "book"),
    ("checks", "checks"),
    ("skips", "checks/skips"),
    ("features", "checks/features"),
    ("peers", "benches/peers/rust"),
    ("benches", "benches"),
    ("fuzz", "fuzz"),
];

/// Crates of which each module may use itself and those before it, with the modules from low to high.
const MODULES: [(&str, &[&str]); 3] = [
    ("halide-solve/src/", &["tuning", "simplify", "bounds"]),
    ("halide-sched/src/", &["tuning", "access", "idioms", "schedule", "plan", "lower", "nest"]),
    (
        "halide-auto/src/",
        &[
            "tuning",
            "tss",
            "estimate",
            "attempt",
            "costs",
            "error",
            "dag",
            "mixed",
            "substitution",
            "sizes",
            "inline",
            "state",
            "shape",
            "kept",
            "boxes",
            "ground",
            "lanes",
            "kernel",
            "cost",
            "moves",
            "role",
            "emit",
            "search",
            "group",
            "import",
            "legal",
            "factored",
            "begin",
            "chosen",
            "chooser",
            "kernels",
            "auto",
            "price",
            "tile",
            "advise",
            "tune",
            "isa",
        ],
    ),
];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace").to_path_buf()
}

/// The text of a file of the project.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Returns true if a file or folder of the project is there.
pub(crate) fn is_there(path: &str) -> bool {
    root().join(path).exists()
}

/// Every source file of the project with its text; paths are relative to the root.
pub(crate) fn sources() -> Vec<(String, String)> {
    let all = texts(&[".rs"]);
    assert!(all.len() > 100, "the source tree was found");
    all
}

/// Every file of the crates whose name ends so, with its text.
fn texts(endings: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut todo: Vec<PathBuf> = CRATES.iter().map(|(_, dir)| root.join(dir)).collect();
    let mut all = Vec::new();
    while let Some(dir) = todo.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.map(|e| e.expect("a directory can be read")) {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                // Of others: build output, and what the bench unpacks.
                if !name.starts_with('.') && name != "target" && name != "venv" {
                    todo.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let text = fs::read_to_string(&path).expect("source is text");
                let short = path.strip_prefix(&root).expect("it is below the root");
                all.push((short.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    all.sort();
    // The folders of crates are nested.
    all.dedup();
    all
}

pub(crate) fn is_test(path: &str) -> bool {
    path.starts_with("halide-testing/")
        || path.contains("/tests/")
        || path.ends_with("tests.rs")
        || path.ends_with("testing.rs")
}

/// The lines of a file without comments and what is quoted, numbered from 1.
pub(crate) fn code(text: &str) -> impl Iterator<Item = (usize, String)> {
    let lines: Vec<String> = bare(text).lines().map(str::to_string).collect();
    (1..).zip(lines)
}

/// The part of a file before its own tests, which name what they like.
pub(crate) fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// Returns true if `word` stands in `line` by itself.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word)
        .any(|(i, _)| !part(line[..i].chars().next_back()) && !part(line[i + word.len()..].chars().next()))
}

#[track_caller]
pub(crate) fn none(found: Vec<String>, rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

#[test]
fn nothing_is_left_to_do() {
    let words = ["todo!", "unimplemented!", "dbg!"];
    let mut found = Vec::new();
    for (path, text) in sources() {
        for (line, code) in code(&text) {
            if words.iter().any(|w| has_word(&code, w)) {
                found.push(format!("{path}:{line}: {}", code.trim()));
            }
        }
    }
    none(found, "left over from writing");
}

#[test]
fn files_are_short() {
    let long = |text: &str| text.lines().count() > MOST_LINES;
    let found =
        sources().into_iter().filter(|(path, text)| !is_test(path) && long(text)).map(|(path, _)| path).collect();
    none(found, &format!("longer than {MOST_LINES} lines; split it by what its parts do"));
}

#[test]
fn files_of_pages_are_short_and_narrow() {
    let pages = texts(&[".js", ".css", ".html"]);
    assert!(pages.len() > 10, "the pages were found");
    let mut found = Vec::new();
    for (path, text) in pages {
        if text.lines().count() > MOST_LINES {
            found.push(format!("{path}: longer than {MOST_LINES} lines"));
        }
        let wide = (1..).zip(text.lines()).filter(|(_, line)| line.chars().count() > MOST_COLUMNS);
        found.extend(wide.map(|(line, _)| format!("{path}:{line}: wider than {MOST_COLUMNS} columns")));
    }
    none(found, "programs and styles of pages keep the sizes of sources");
}

/// The most columns of a line of comment, which `rustfmt` does not break.
const MOST_COLUMNS: usize = 120;

#[test]
fn comments_are_narrow() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let mut is_example = false;
        for (line, text) in (1..).zip(text.lines()) {
            let comment = text.trim_start();
            is_example ^= comment.starts_with("//") && comment.contains("```");
            if comment.starts_with("//") && !is_example && text.chars().count() > MOST_COLUMNS {
                found.push(format!("{path}:{line}"));
            }
        }
    }
    none(found, &format!("comments of more than {MOST_COLUMNS} columns"));
}

/// The files and directories that ARCHITECTURE.md allows to be unsafe.
fn unsafe_places() -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let (_, rest) = text.split_once("- `unsafe` is in ").expect("it says where `unsafe` is");
    let names: Vec<&str> = rest.split("only").next().unwrap_or(rest).split('`').skip(1).step_by(2).collect();
    assert!(!names.is_empty());
    let place = |name: &str| {
        let (short, rest) = name.split_once('/').expect("a crate and a path");
        let (_, dir) = CRATES.iter().find(|(known, _)| *known == short).expect("a crate");
        if rest.starts_with("tests/") { format!("{dir}/{rest}") } else { format!("{dir}/src/{rest}") }
    };
    names.into_iter().map(place).collect()
}

#[test]
fn unsafe_code_is_where_the_architecture_says() {
    let places = unsafe_places();
    let mut found = Vec::new();
    for (path, text) in sources() {
        if places.iter().any(|p| path == *p || (p.ends_with('/') && path.starts_with(p))) {
            continue;
        }
        let lines = code(&text).filter(|(_, l)| has_word(l, "unsafe"));
        found.extend(lines.map(|(n, l)| format!("{path}:{n}: {}", l.trim())));
    }
    none(found, &format!("outside of {}", places.join(", ")));
}

#[test]
fn every_unsafe_block_and_impl_says_why_it_is_sound() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        let asks = |l: &str| l.contains("unsafe {") || l.contains("unsafe impl");
        for (line, _) in code(&text).filter(|(_, l)| asks(l)) {
            let near = &lines[line.saturating_sub(8)..line];
            if !near.iter().any(|l| l.contains("SAFETY:")) {
                found.push(format!("{path}:{line}"));
            }
        }
    }
    none(found, "without a SAFETY comment");
}

#[test]
fn modules_use_what_is_below_them() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let row = MODULES.iter().find_map(|(dir, modules)| Some((path.strip_prefix(dir)?, modules)));
        let Some((place, modules)) = row else { continue };
        let own = module_of(place);
        let module = own.first().map_or("lib", String::as_str);
        let Some(rank) = modules.iter().position(|m| *m == module) else {
            assert_eq!(module, "lib", "{path} is of a module whose place is not known");
            continue;
        };
        for named in paths(&bare(&text)) {
            let place = place_of(&own, &named);
            let above = place
                .as_ref()
                .and_then(|place| modules[rank + 1..].iter().find(|m| place.first().is_some_and(|p| p == *m)));
            found.extend(above.map(|above| format!("{path}: {module} uses {above}: {named}")));
        }
    }
    none(found, "imports that point up");
}

/// Input and output: files, streams, the network, and questions to the machine.
const OUTSIDE: [&str; 9] =
    ["std::fs", "std::net", "std::io", "std::process", "std::env", "println!", "eprintln!", "print!", "eprint!"];

#[test]
fn what_is_pure_does_no_io() {
    let mut found = Vec::new();
    let pure = ["halide-core/src/", "halide-sched/src/", "halide-auto/src/"];
    let is_pure = |path: &str| pure.iter().any(|folder| path.starts_with(folder));
    // Reads and writes examples, in tests only.
    let is_example = |path: &str| path == "halide-sched/src/lower/example.rs";
    for (path, text) in sources() {
        if !is_pure(&path) || is_test(&path) || is_example(&path) {
            continue;
        }
        let lines = code(without_tests(&text)).filter(|(_, l)| OUTSIDE.iter().any(|word| has_word(l, word)));
        found.extend(lines.map(|(n, l)| format!("{path}:{n}: {}", l.trim())));
    }
    none(found, "halide-core, halide-sched and halide-auto do no input or output");
}

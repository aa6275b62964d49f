//! The rules of the source tree that no compiler checks. ARCHITECTURE.md says why they are there.

use std::fs;
use std::path::{Path, PathBuf};

/// No source file is longer; tests may be.
const MOST_LINES: usize = 500;

/// The crates, by the names that ARCHITECTURE.md has for them.
pub(crate) const CRATES: [(&str, &str); 15] = [
    ("core", "halide-core"),
    ("ir", "halide-ir"),
    ("solve", "halide-solve"),
    ("sched", "halide-sched"),
    ("testing", "halide-testing"),
    ("backend", "backends/common"),
    ("cpu", "backends/cpu"),
    ("gpu", "backends/gpu"),
    ("halide", "halide"),
    ("apps", "apps"),
    ("checks", "checks"),
    ("skips", "checks/skips"),
    ("peers", "benches/peers/rust"),
    ("benches", "benches"),
    ("fuzz", "fuzz"),
];

/// Crates of which each module may use itself and those before it, with the modules from low to high.
const MODULES: [(&str, &[&str]); 2] = [
    ("halide-solve/src/", &["tuning", "simplify", "bounds"]),
    ("halide-sched/src/", &["tuning", "access", "schedule", "plan", "lower"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace").to_path_buf()
}

/// Every source file of the project with its text; paths are relative to the root.
pub(crate) fn sources() -> Vec<(String, String)> {
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
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).expect("source is text");
                let short = path.strip_prefix(&root).expect("it is below the root");
                all.push((short.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    all.sort();
    // The folders of crates are nested.
    all.dedup();
    assert!(all.len() > 100, "the source tree was found");
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
    let bare = |l: &str| -> String {
        let unquoted: Vec<&str> = l.split('"').step_by(2).collect();
        unquoted.join("\"\"").split("//").next().unwrap_or_default().to_string()
    };
    text.lines().enumerate().map(move |(i, l)| (i + 1, bare(l)))
}

/// Returns true if `word` stands in `line` by itself.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word)
        .any(|(i, _)| !part(line[..i].chars().next_back()) && !part(line[i + word.len()..].chars().next()))
}

#[track_caller]
fn none(found: Vec<String>, rule: &str) {
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

/// The files and directories that ARCHITECTURE.md allows to be unsafe.
fn unsafe_places() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
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
fn every_unsafe_block_says_why_it_is_sound() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (line, _) in code(&text).filter(|(_, l)| l.contains("unsafe {")) {
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
        let module = place.split(['/', '.']).next().unwrap_or(place);
        let Some(rank) = modules.iter().position(|m| *m == module) else {
            assert_eq!(module, "lib", "{path} is of a module whose place is not known");
            continue;
        };
        for (line, code) in code(&text) {
            for above in &modules[rank + 1..] {
                if has_word(&code, &format!("crate::{above}")) {
                    found.push(format!("{path}:{line}: {module} uses {above}"));
                }
            }
        }
    }
    none(found, "imports that point up");
}

#[test]
fn shipped_crates_do_not_depend_on_generators_of_tests() {
    let mut found = Vec::new();
    for (_, dir) in CRATES.iter().filter(|(name, _)| !["testing", "checks", "fuzz", "peers"].contains(name)) {
        let text = fs::read_to_string(root().join(dir).join("Cargo.toml")).expect("a crate has one");
        let shipped = text.split("[dev-dependencies]").next().unwrap_or_default();
        if shipped.contains("halide-testing") {
            found.push(format!("{dir}/Cargo.toml"));
        }
    }
    none(found, "halide-testing is for tests: a dev-dependency");
}

/// The passes, by the names under which `lower/mod.rs` runs them.
fn passes() -> Vec<String> {
    let text = fs::read_to_string(root().join("halide-sched/src/lower/mod.rs")).expect("it is there");
    let mut names: Vec<String> = ["pass(\"", "begin(\""]
        .iter()
        .flat_map(|start| text.split(start).skip(1))
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_string()))
        // The simplifier is a module of its own, and the search for regions is half of a pass.
        .filter(|name| !["simplify", "find_regions"].contains(&name.as_str()))
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn every_pass_has_a_header_with_an_example() {
    let lower = root().join("halide-sched/src/lower");
    let examples = fs::read_to_string(lower.join("example.rs")).expect("it is there");
    let entries = fs::read_dir(&lower).expect("it is there").flatten().filter(|entry| entry.path().is_dir());
    let folders: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let passes = passes();
    assert!(passes.len() > 15, "{passes:?}");
    let mut found = Vec::new();
    for name in passes {
        let places = folders.iter().flat_map(|f| [format!("{f}/{name}.rs"), format!("{f}/{name}/mod.rs")]);
        let file = places.into_iter().find(|f| lower.join(f).exists());
        let Some(file) = file else {
            found.push(format!("{name} has no file"));
            continue;
        };
        let text = fs::read_to_string(lower.join(&file)).expect("source is text");
        let header: Vec<&str> = text.lines().take_while(|l| l.starts_with("//!")).collect();
        for part in ["Before", "fter", "//! Example"] {
            if !header.iter().any(|l| l.contains(part)) {
                found.push(format!("{file}: its header has no {part}"));
            }
        }
        if !text.contains(&format!("fn {name}(")) {
            found.push(format!("{file}: no function {name}"));
        }
        if !examples.contains(&format!("\"{file}\"")) {
            found.push(format!("{file}: lower/example.rs does not run its example"));
        }
    }
    none(found, "passes");
}

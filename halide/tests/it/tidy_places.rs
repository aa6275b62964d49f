//! Rule for paths in documents: what they name is there.

use crate::tidy::{CRATES, code, is_there, none, read, root, sources};
use std::collections::BTreeSet;
use std::fs;

/// Documents that hold results of older trees and say so: paths are those of these trees.
const OLDER: [&str; 2] = ["docs/mutants.md", "docs/coverage.md"];

/// Folders of what programs write.
const WRITTEN: [&str; 2] = ["target/", "out/"];

/// The kinds of files that are named without a folder.
const KINDS: [&str; 6] = [".rs", ".sh", ".py", ".md", ".toml", ".sched"];

/// Every file and folder of the project, from its root on.
fn places() -> BTreeSet<String> {
    let root = root();
    let (mut todo, mut all) = (vec![root.clone()], BTreeSet::new());
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if ["target", "venv", ".venv", ".git", "__pycache__"].contains(&name.as_str()) {
                continue;
            }
            let short = path.strip_prefix(&root).expect("it is below the root").to_string_lossy().replace('\\', "/");
            all.insert(short);
            if path.is_dir() {
                todo.push(path);
            }
        }
    }
    all
}

/// The texts between backticks outside of blocks of code, each with the line that it begins on.
fn quoted(text: &str) -> Vec<(usize, String)> {
    let (mut all, mut is_code) = (Vec::new(), false);
    let mut open: Option<(usize, String)> = None;
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            (is_code, open) = (!is_code, None);
            continue;
        }
        if is_code || text.trim().is_empty() {
            open = None;
            continue;
        }
        for (part, quote) in text.split('`').zip(0..) {
            // Each backtick but the first of a line ends a part or begins one.
            if quote > 0 {
                match open.take() {
                    Some(closed) => all.push(closed),
                    None => open = Some((line, String::new())),
                }
            }
            if let Some((_, quoted)) = &mut open {
                quoted.push_str(part);
            }
        }
    }
    all
}

/// A path with each name of a list in braces in turn.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, (list, after))) =
        path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return vec![path.to_string()];
    };
    list.split(',').flat_map(|name| expanded(&format!("{before}{}{after}", name.trim()))).collect()
}

/// The paths that a text between backticks is, if it looks like some: names with slashes between them, or a file of a
/// known kind; what stands behind a colon is a place in it.
fn paths(quoted: &str) -> Vec<String> {
    let path = quoted.split(':').next().unwrap_or(quoted);
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-./{},*".contains(c);
    let is_path = path.contains('/') || KINDS.iter().any(|kind| path.ends_with(kind) && path.len() > kind.len());
    let named = path.chars().any(|c| c.is_ascii_lowercase()) && path.chars().all(fits) && !path.starts_with('/');
    if is_path && named { expanded(path.trim_end_matches('/')) } else { Vec::new() }
}

/// Returns true if one name of a path is that of another: a name in capitals, or `x`, stands for any, and `*` for any
/// letters.
fn is_named(name: &str, by: &str) -> bool {
    let (first, last) = by.split_once('*').unwrap_or((by, by));
    let any =
        by == "x" || by.split('.').next().is_some_and(|by| by.len() > 1 && by.chars().all(|c| c.is_ascii_uppercase()));
    any || name == by
        || name.strip_suffix(".rs") == Some(by)
        || (by.contains('*') && name.starts_with(first) && name.ends_with(last))
}

/// Returns true if there is a place whose last names are those of `path`; `whole` if it has no others.
fn has(places: &BTreeSet<String>, path: &str, whole: bool) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    places.iter().any(|place| {
        let others: Vec<&str> = place.split('/').collect();
        let Some(before) = others.len().checked_sub(names.len()) else { return false };
        (before == 0 || !whole) && others[before..].iter().zip(&names).all(|(name, by)| is_named(name, by))
    })
}

/// Returns true if a path of a document is there: from the root, behind the short name of a crate, or with any folders
/// before it.
fn exists(places: &BTreeSet<String>, path: &str) -> bool {
    if is_there(path) || WRITTEN.iter().any(|folder| path.starts_with(folder)) {
        return true;
    }
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let short = CRATES.iter().chain(&[("facade", "halide")]).find(|(short, _)| *short == first);
    let folders = ["", "src/", "tests/it/"];
    let in_crate = short.is_some_and(|(_, dir)| folders.iter().any(|f| has(places, &format!("{dir}/{f}{rest}"), true)));
    // A path that begins with a folder of the project is a whole one.
    let is_whole = root().join(first).is_dir() && short.is_none();
    in_crate || has(places, path, is_whole)
}

#[test]
fn paths_in_documents_exist() {
    let places = places();
    let is_document = |place: &&String| place.ends_with(".md") && !OLDER.contains(&place.as_str());
    let (mut count, mut missing) = (0, Vec::new());
    for document in places.iter().filter(is_document) {
        let folder = document.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        for (line, text) in quoted(&read(document)) {
            let paths = paths(&text);
            count += paths.len();
            let missed = paths.iter().filter(|path| !exists(&places, path) && !is_there(&format!("{folder}{path}")));
            missing.extend(missed.map(|path| format!("{document}:{line}: {path}")));
        }
    }
    assert!(count > 400 && missing.is_empty(), "of {count} paths these are not there: {missing:#?}");
    for older in OLDER {
        assert!(read(older).contains("tree"), "{older} says of which tree it is");
    }
}

#[test]
fn paths_are_found() {
    let found = quoted("a `b/c` d `e\nf` g\n```\n`no/path`\n```\nh `i`\n");
    assert_eq!(found, [(1, "b/c".to_string()), (1, "ef".to_string()), (6, "i".to_string())]);
    assert_eq!(paths("a/{b,c}/d.rs: test"), ["a/b/d.rs", "a/c/d.rs"]);
    assert_eq!(paths("a / b"), [""; 0]);
    assert_eq!(paths("1/2"), [""; 0]);
    let places: BTreeSet<String> =
        ["halide-sched/src/lower/code/cse/mod.rs", "halide-sched/src/lower/code/cse", "a/b.rs"]
            .map(str::to_string)
            .into();
    let all = ["lower/code/cse", "sched/lower/code/cse", "PHASE/cse", "a/b", "a/B*.rs", "a/b*.rs", "code/NAME/mod.rs"];
    let there: Vec<&str> = all.into_iter().filter(|path| exists(&places, path)).collect();
    assert_eq!(there, ["lower/code/cse", "sched/lower/code/cse", "PHASE/cse", "a/b", "a/b*.rs", "code/NAME/mod.rs"]);
    assert!(!exists(&places, "lower/cse") && !exists(&places, "sched/lower/cse"));
}

/// The files that `fuzz/mutants` leaves out are there: a name that no file has leaves out nothing.
#[test]
fn files_that_mutants_leave_out_exist() {
    let text = read("fuzz/mutants/src/main.rs");
    let (_, list) = text.split_once("const LEFT_OUT").expect("the list is there");
    let list = list.split("];").next().unwrap_or(list);
    let places = places();
    let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let broken = ["halide-solve/src/bounds/", "halide-sched/src/lower/", "halide-sched/src/plan/"];
    let is_there = |name: &&str| {
        let end = format!("/{name}");
        places.iter().any(|place| place.ends_with(&end) && broken.iter().any(|folder| place.starts_with(folder)))
    };
    let idle: Vec<&&str> = names.iter().filter(|name| !is_there(name)).collect();
    assert!(names.len() > 10 && idle.is_empty(), "these are not there: {idle:?}");
}

#[test]
fn the_readme_names_every_app() {
    let text = read("apps/src/filters/mod.rs");
    let apps: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let readme: BTreeSet<String> = quoted(&read("README.md")).into_iter().map(|(_, name)| name).collect();
    let missing: Vec<&&str> = apps.iter().filter(|app| !readme.contains(**app)).collect();
    assert!(apps.len() > 10 && missing.is_empty(), "not in README.md: {missing:?}");
}

/// Returns true if a file is a target of its own, which no other file names: a library, a binary, a test, an example.
fn is_target(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let of_targets = ["src/bin", "benches/benches", "examples", "fuzz_targets"];
    ["lib.rs", "main.rs", "build.rs"].contains(&file) || of_targets.iter().any(|end| folder.ends_with(end))
}

/// A file that no other one names as its module is neither compiled nor run.
#[test]
fn every_file_is_a_module() {
    let all = sources();
    let names = |owner: &str, module: &str| {
        let text = all.iter().find(|(path, _)| path == owner).map(|(_, text)| text);
        let has_path = |text: &String| text.contains(&format!("#[path = \"{module}.rs\"]"));
        text.is_some_and(|t| has_path(t) || code(t).any(|(_, line)| line.contains(&format!("mod {module};"))))
    };
    let mut found = Vec::new();
    for (path, _) in all.iter().filter(|(path, _)| !is_target(path)) {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        // A folder is a module of the folder around it.
        let (folder, module) = match file {
            "mod.rs" => folder.rsplit_once('/').unwrap_or(("", folder)),
            file => (folder, file.trim_end_matches(".rs")),
        };
        if !["mod.rs", "lib.rs", "main.rs"].iter().any(|owner| names(&format!("{folder}/{owner}"), module)) {
            found.push(path.clone());
        }
    }
    none(found, "files that no module names");
}

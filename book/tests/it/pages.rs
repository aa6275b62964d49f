//! The files of the book.

use std::path::PathBuf;

/// The folder of the pages.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The text of a file of the book.
pub(crate) fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of all pages in order of their names.
pub(crate) fn pages() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    names.sort();
    assert!(names.len() > 2, "the pages were found");
    names
}

/// The text of a page with what it includes: `{{#include PATH}}`.
pub(crate) fn included(name: &str) -> String {
    let text = read(name);
    match text.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) {
        Some(path) => read(path),
        None => text,
    }
}

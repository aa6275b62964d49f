//! Claims of the first chapter about other files of the project.

use crate::page::parts;
use crate::pages::{folder, read};

#[test]
fn formats_of_images_are_those_of_the_facade() {
    let parts = parts(&read("picture.md"));
    let shown = parts.iter().find(|part| part.kind() == "toml").expect("a line of a manifest");
    let line = shown.text.trim().trim_end_matches([' ', '}']);
    let manifest =
        std::fs::read_to_string(folder().join("../../halide/Cargo.toml")).expect("the manifest of the facade");
    assert!(manifest.contains(line), "halide/Cargo.toml has other formats than {line}");
}

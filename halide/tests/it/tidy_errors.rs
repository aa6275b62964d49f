//! The rule of error types: what `main` prints of a returned error is its message.

use crate::tidy::{is_test, sources};
use crate::tidy_lexer::bare;

/// The types for which a file implements `Error`.
fn error_types(code: &str) -> impl Iterator<Item = &str> {
    let impls = code.lines().filter(|line| line.trim_start().starts_with("impl"));
    impls.filter_map(|line| {
        let (trait_path, ty) = line.split_once("Error for ")?;
        let is_std = trait_path.ends_with("std::error::") || trait_path.ends_with([' ', '>']);
        is_std.then(|| ty.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
    })
}

/// The types of which a file prints `Debug` as `Display`.
fn as_display(code: &str) -> Vec<&str> {
    let lists = code.split("debug_is_display!(").skip(1).filter_map(|rest| rest.split(')').next());
    lists.flat_map(|list| list.split(',')).map(str::trim).collect()
}

#[test]
fn debug_of_each_error_is_its_message() {
    let (mut all, mut missing) = (0, Vec::new());
    for (path, text) in sources() {
        // Users meet what is in `src` of shipped crates.
        let is_shipped =
            path.contains("/src/") && !["benches/", "checks/", "fuzz/"].iter().any(|c| path.starts_with(c));
        if !is_shipped || is_test(&path) {
            continue;
        }
        let code = bare(&text);
        let given = as_display(&code);
        for ty in error_types(&code) {
            all += 1;
            if !given.contains(&ty) {
                missing.push(format!("{path}: `{ty}`"));
            }
        }
    }
    let list = missing.join("\n");
    assert!(missing.is_empty(), "of {all} errors, these print no message as Debug; say debug_is_display!:\n{list}");
    assert!(all >= 30, "{all} errors were found");
}

#[test]
fn error_types_are_found_by_their_impl() {
    let code =
        "impl std::error::Error for A {}\nimpl From<Error> for B {}\nimpl Error for C<'_> {}\nimpl ParseError for D {}";
    assert_eq!(error_types(code).collect::<Vec<&str>>(), ["A", "C"]);
    assert_eq!(as_display("x::debug_is_display!(A, B);\ny::debug_is_display!(C);"), ["A", "B", "C"]);
}

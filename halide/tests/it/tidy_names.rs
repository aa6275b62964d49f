//! Names are for people: no code takes one apart. Ids tell things from each other, rows of tables say what they are,
//! and text is made when something is printed, and read where somebody wrote it.

use crate::tidy::{CRATES, code, is_test, sources, without_tests};

/// Methods that take text apart, as they stand in code whose quotes are empty.
const METHODS: [&str; 18] = [
    ".split_once(",
    ".rsplit_once(",
    ".rsplit(",
    ".splitn(",
    ".split('",
    ".split(\"",
    ".strip_prefix(",
    ".strip_suffix(",
    ".replace('",
    ".replace(\"",
    ".replace(&format!",
    ".replacen(",
    ".trim_start_matches(",
    ".trim_end_matches(",
    ".trim_matches(",
    ".starts_with('",
    ".starts_with(\"",
    ".ends_with(\"",
];

/// The crates that the rule is not for: tests and benches, which read what programs print.
const NOT_SHIPPED: [&str; 8] = ["testing", "book", "checks", "skips", "features", "peers", "benches", "fuzz"];

/// Returns true for sources of crates that are shipped.
fn is_shipped(path: &str) -> bool {
    let mut shipped = CRATES.iter().filter(|(short, _)| !NOT_SHIPPED.contains(short));
    shipped.any(|(_, dir)| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with("/src/")))
}

/// Files and folders that read text, with what that is.
const READERS: [(&str, &str); 27] = [
    ("halide-ir/src/parse/", "text of loop IR"),
    ("halide-ir/src/typing.rs", "types in loop IR: `u16x8`"),
    ("halide-ir/src/footprint/text.rs", "text of footprints"),
    ("halide/src/code_cache/build.rs", "files of the operating system"),
    ("halide-sched/src/schedule/text.rs", "text of schedules"),
    ("frontends/seq/src/text/", "text of procs"),
    ("frontends/seq/src/inference/text.rs", "types of primitives in their table"),
    ("halide-auto/src/costs.rs", "text of costs of instructions"),
    ("halide-ir/src/features.rs", "lists of extensions on the command line"),
    ("halide-sched/src/lower/example.rs", "examples in the headers of passes, a test"),
    ("backends/gpu/src/codegen/code_places.rs", "WGSL as naga writes it, with markers"),
    ("backends/gpu/src/runtime/gpu.rs", "what a driver calls itself"),
    ("halide-ir/src/machine/sysfs.rs", "files of the operating system"),
    ("halide/src/available_memory.rs", "files of the operating system"),
    ("tool/src/app.rs", "names of schedule files, which say what they are for"),
    ("tool/src/cli/args", "the command line"),
    ("tool/src/cli/examples.rs", "examples of command lines, of which a tool shows those of its apps"),
    ("tool/src/cli/help.rs", "the page about schedules, of which a section is shown"),
    ("tool/src/cli/new.rs", "a program to begin with, which gets another name"),
    ("tool/src/processor.rs", "files of the operating system"),
    ("tool/src/cli/stamp.rs", "comments of schedule files"),
    ("tool/src/serve/path.rs", "paths that browsers ask for"),
    ("tool/src/serve/request.rs", "requests of browsers"),
    ("tool/src/files.rs", "paths of files, in messages"),
    ("apps/src/filters/resize.rs", "a ratio as setting"),
    ("tool/src/memory.rs", "sizes in files of the operating system"),
    ("tool/src/params.rs", "parameters on the command line"),
];

#[test]
fn crates_that_are_not_shipped_are_known() {
    let unknown: Vec<&&str> = NOT_SHIPPED.iter().filter(|n| !CRATES.iter().any(|(short, _)| short == *n)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn no_code_parses_a_name() {
    let mut found = Vec::new();
    let mut used = [false; READERS.len()];
    for (path, text) in sources() {
        if is_test(&path) || !is_shipped(&path) {
            continue;
        }
        let lines = code(without_tests(&text)).filter(|(_, line)| METHODS.iter().any(|m| line.contains(m)));
        let lines: Vec<String> = lines.map(|(n, line)| format!("{path}:{n}: {}", line.trim())).collect();
        match READERS.iter().position(|(reader, _)| path.starts_with(reader)) {
            Some(reader) => used[reader] |= !lines.is_empty(),
            None => found.extend(lines),
        }
    }
    assert!(found.is_empty(), "text is taken apart outside of what reads text:\n{}", found.join("\n"));
    let idle: Vec<&str> = READERS.iter().zip(used).filter(|(_, used)| !used).map(|((path, _), _)| *path).collect();
    assert!(idle.is_empty(), "these read no text any more; take them off the list: {idle:?}");
}

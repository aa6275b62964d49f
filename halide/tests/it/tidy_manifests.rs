//! Rules for manifests: the crates that there are, what each may depend on, and why it depends on others.

use crate::tidy::{CRATES, read};
use std::collections::{BTreeMap, BTreeSet};

/// A dependency of a manifest.
struct Dependency {
    /// The table that it stands in, without the target that it is for.
    table: String,
    name: String,
    /// True if a comment stands above it.
    has_reason: bool,
    /// True if the table of the workspace says more of it.
    is_inherited: bool,
}

/// The part of a header between brackets without a target: `dependencies`, `dev-dependencies`.
fn table_of(header: &str) -> String {
    let name = header.trim_matches(['[', ']']);
    let last = name.rsplit_once("'.").map_or(name, |(_, last)| last);
    last.to_string()
}

/// The dependencies of a manifest in order.
fn dependencies(text: &str) -> Vec<Dependency> {
    let (mut table, mut above, mut all) = (String::new(), "", Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            table = table_of(line);
        } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#'))
            && table.ends_with("dependencies")
        {
            let (name, field) = key.trim().split_once('.').unwrap_or((key.trim(), ""));
            let is_inherited = field == "workspace" || value.contains("workspace = true");
            let has_reason = above.starts_with('#');
            all.push(Dependency { table: table.clone(), name: name.to_string(), has_reason, is_inherited });
        }
        above = line;
    }
    all
}

/// The name of the package of a manifest.
fn package(text: &str) -> &str {
    text.split("[package]\nname = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a package has a name")
}

/// The strings of a list of a manifest.
fn list<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let (_, rest) = text.split_once(&format!("\n{key} = [")).expect("the list is there");
    rest.split(']').next().unwrap_or(rest).split('"').skip(1).step_by(2).collect()
}

/// The manifest of each crate, by the crate's short name.
fn manifests() -> Vec<(&'static str, String)> {
    CRATES.iter().map(|(short, dir)| (*short, read(&format!("{dir}/Cargo.toml")))).collect()
}

#[test]
fn every_crate_is_known() {
    let text = read("Cargo.toml");
    let there: BTreeSet<&str> = list(&text, "members").into_iter().chain(list(&text, "exclude")).collect();
    let known: BTreeSet<&str> = CRATES.iter().map(|(_, dir)| *dir).collect();
    assert_eq!(there, known, "the members and excluded crates of Cargo.toml, and CRATES of tidy.rs");
}

/// The rows of ARCHITECTURE's table of crates: the package, and the short names of what it depends on.
fn architecture() -> BTreeMap<String, BTreeSet<String>> {
    let text = read("ARCHITECTURE.md");
    let (_, rows) = text.split_once("| crate | depends on |").expect("the table is there");
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |row: &str| {
        let mut cells = row.split('|').skip(1);
        let name = cells.next().and_then(|cell| cell.split('`').nth(1)).expect("a crate").to_string();
        let on = cells.next().expect("a cell").trim();
        let on = if on == "none of these" { Vec::new() } else { on.split(", ").map(str::to_string).collect() };
        (name, on.into_iter().collect())
    };
    rows.map(row).collect()
}

#[test]
fn crates_depend_on_what_the_architecture_says() {
    let (said, manifests) = (architecture(), manifests());
    let ours: BTreeMap<&str, &str> = manifests.iter().map(|(short, text)| (package(text), *short)).collect();
    let mut wrong = Vec::new();
    for (short, text) in manifests.iter().filter(|(short, _)| *short != "peers") {
        let name = package(text);
        let Some(may) = said.get(name) else {
            wrong.push(format!("{name} has no row"));
            continue;
        };
        let (mut shipped, mut tests) = (BTreeSet::new(), BTreeSet::new());
        for dependency in dependencies(text) {
            if let Some(other) = ours.get(dependency.name.as_str()) {
                let all = if dependency.table == "dev-dependencies" { &mut tests } else { &mut shipped };
                all.insert(other.to_string());
            }
        }
        if shipped != *may {
            wrong.push(format!("{name} depends on {shipped:?}, not {may:?}"));
        }
        // Tests of backends lower pipelines.
        let lowers = ["cpu", "gpu"].contains(short);
        let may = |other: &str| ["testing", "skips", "features"].contains(&other) || (lowers && other == "sched");
        wrong
            .extend(tests.iter().filter(|other| !may(other)).map(|other| format!("tests of {name} depend on {other}")));
    }
    assert_eq!(said.len(), manifests.len() - 1, "a row for each crate but peers");
    assert!(wrong.is_empty(), "the table of crates in ARCHITECTURE.md: {wrong:#?}");
}

#[test]
fn dependencies_say_why_they_are_there() {
    let mut manifests = manifests();
    manifests.push(("workspace", read("Cargo.toml")));
    manifests.push(("mutants", read("fuzz/mutants/Cargo.toml")));
    let (mut all, mut found) = (0, Vec::new());
    for (short, text) in &manifests {
        let others = dependencies(text).into_iter().filter(|d| !d.is_inherited && !d.name.starts_with("halide"));
        for dependency in others {
            all += 1;
            if !dependency.has_reason {
                found.push(format!("{short}: {} {}", dependency.table, dependency.name));
            }
        }
    }
    assert!(all > 30 && found.is_empty(), "of {all} dependencies these have no comment above them: {found:#?}");
}

#[test]
fn manifests_are_read() {
    let text = "[package]\nname = \"a\"\n\n[features]\nx = []\n[dependencies]\n# Why.\nb = \"1\"\nc.workspace = true\n\
                [target.'cfg(unix)'.dev-dependencies]\nd = { workspace = true, optional = true }\ne = { path = \"x\" }\n";
    let all: Vec<_> = dependencies(text).into_iter().map(|d| (d.table, d.name, d.has_reason, d.is_inherited)).collect();
    let row = |table: &str, name: &str, has_reason, is_inherited| (table.into(), name.into(), has_reason, is_inherited);
    let tests = "dev-dependencies";
    let (b, c) = (row("dependencies", "b", true, false), row("dependencies", "c", false, true));
    assert_eq!(all, [b, c, row(tests, "d", false, true), row(tests, "e", false, false)]);
    assert_eq!(package(text), "a");
    assert_eq!(list("[x]\nall = [\"a\", \"b\"]\n", "all"), ["a", "b"]);
}

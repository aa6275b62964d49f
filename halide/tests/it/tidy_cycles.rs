//! Rule against import cycles: a file of a cycle can be read with all others of it only. A file imports another where
//! it names something of it by a path that begins with `crate`, `super` or `self`, or with a module below it. Declaring
//! a module is no import.

use crate::tidy::{CRATES, sources};
use crate::tidy_lexer::bare;
use std::collections::{BTreeMap, BTreeSet};

/// The most files of each crate that may be in cycles. Whoever takes a file out of a cycle lowers the number; the aim
/// is a tenth of all files.
const MOST: [(&str, usize); 13] = [
    ("core", 0),
    ("ir", 8),
    ("solve", 17),
    ("sched", 35),
    ("testing", 0),
    ("backend", 0),
    ("cpu", 4),
    ("gpu", 0),
    ("halide", 0),
    ("apps", 2),
    ("checks", 12),
    ("skips", 0),
    ("benches", 0),
];

/// The path of a module below its crate: names, outermost first.
type Module = Vec<String>;

/// The files of a crate by module.
type Files = BTreeMap<Module, usize>;

/// Returns the module of a file below `src`.
fn module_of(path: &str) -> Module {
    let mut names: Module = path.trim_end_matches(".rs").split('/').map(str::to_string).collect();
    if names.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        names.pop();
    }
    names
}

/// The paths of a `use` tree, each written out.
fn expanded(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or(tree).trim().to_string()];
    };
    let (mut depth, mut branches) = (1, vec![String::new()]);
    for c in rest.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            _ if depth == 0 => break,
            ',' if depth == 1 => branches.push(String::new()),
            _ => branches.last_mut().expect("there is one").push(c),
        }
    }
    let before = before.trim();
    let whole = |branch: String| match branch.trim() {
        "self" => before.trim_end_matches("::").to_string(),
        branch => format!("{before}{branch}"),
    };
    let named = branches.iter().filter(|b| !b.trim().is_empty());
    named.flat_map(|branch| expanded(branch)).map(whole).collect()
}

/// The paths that a file without comments names: those of imports, and others that begin in the crate.
fn paths(bare: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut all, mut others) = (Vec::new(), String::new());
    let mut rest = bare;
    while let Some(at) = rest.find("use ") {
        let (before, after) = rest.split_at(at);
        let tree = &after[4..];
        let end = tree.find(';').unwrap_or(tree.len());
        others.push_str(before);
        match before.ends_with(is_part) {
            true => others.push_str("use "),
            false => all.extend(expanded(&tree[..end])),
        }
        rest = if before.ends_with(is_part) { tree } else { &tree[end..] };
    }
    others.push_str(rest);
    for start in ["crate::", "super::"] {
        for (at, _) in others.match_indices(start) {
            let before = &others[..at];
            if !before.ends_with(is_part) && !before.ends_with("::") {
                let path = &others[at..];
                let end = path.find(|c| !is_part(c) && c != ':').unwrap_or(path.len());
                all.push(path[..end].trim_end_matches(':').to_string());
            }
        }
    }
    all
}

/// Returns the file that a path in a module names: that of the longest part of it that is a module.
fn file_of(files: &Files, module: &Module, path: &str) -> Option<usize> {
    let mut names = path.split("::").map(str::trim).peekable();
    let mut place: Module = match *names.peek()? {
        "crate" => Vec::new(),
        "self" | "super" => module.clone(),
        first => {
            let child = [module.as_slice(), &[first.to_string()]].concat();
            files.contains_key(&child).then(|| module.clone())?
        }
    };
    if names.next_if(|n| *n == "crate" || *n == "self").is_none() {
        while names.next_if_eq(&"super").is_some() {
            place.pop();
        }
    }
    place.extend(names.map(str::to_string));
    (0..=place.len()).rev().find_map(|length| files.get(&place[..length]).copied())
}

/// The groups of more than one file that import each other, by Tarjan's walk.
fn cycles(imports: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    struct Walk<'a> {
        imports: &'a [BTreeSet<usize>],
        /// When each file was met, from 1, and the earliest that is met again from it.
        met: Vec<(usize, usize)>,
        open: Vec<usize>,
        next: usize,
        groups: Vec<Vec<usize>>,
    }
    impl Walk<'_> {
        fn visit(&mut self, file: usize) {
            self.next += 1;
            self.met[file] = (self.next, self.next);
            self.open.push(file);
            for &other in &self.imports[file] {
                if self.met[other].0 == 0 {
                    self.visit(other);
                    self.met[file].1 = self.met[file].1.min(self.met[other].1);
                } else if self.open.contains(&other) {
                    self.met[file].1 = self.met[file].1.min(self.met[other].0);
                }
            }
            if self.met[file].0 == self.met[file].1 {
                let at = self.open.iter().position(|f| *f == file).expect("it is open");
                let group = self.open.split_off(at);
                self.groups.extend((group.len() > 1).then_some(group));
            }
        }
    }
    let mut walk = Walk { imports, met: vec![(0, 0); imports.len()], open: Vec::new(), next: 0, groups: Vec::new() };
    (0..imports.len()).for_each(|file| {
        if walk.met[file].0 == 0 {
            walk.visit(file);
        }
    });
    walk.groups
}

/// The part of a file before its own tests, which name what they like.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// The groups of files of a crate that import each other.
fn groups(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let modules: Vec<Module> = files.iter().map(|(path, _)| module_of(path)).collect();
    let by_module: Files = modules.iter().cloned().zip(0..).collect();
    let imports = |(file, (module, (_, text))): (usize, (&Module, &(&str, &str)))| {
        let named = paths(&bare(without_tests(text))).into_iter().filter_map(|path| file_of(&by_module, module, &path));
        named.filter(|other| *other != file).collect()
    };
    let imports: Vec<BTreeSet<usize>> = modules.iter().zip(files).enumerate().map(imports).collect();
    let names = |group: Vec<usize>| {
        let mut names: Vec<String> = group.into_iter().map(|file| files[file].0.to_string()).collect();
        names.sort();
        names
    };
    cycles(&imports).into_iter().map(names).collect()
}

#[test]
fn few_files_are_in_import_cycles() {
    let sources = sources();
    let (mut all, mut in_cycles, mut wrong) = (0, 0, Vec::new());
    for (name, folder) in CRATES.iter().filter(|(name, _)| !["peers", "fuzz"].contains(name)) {
        let root = format!("{folder}/src/");
        let files = sources.iter().filter_map(|(path, text)| Some((path.strip_prefix(&root)?, text.as_str())));
        let files: Vec<(&str, &str)> = files.collect();
        assert!(!files.is_empty(), "{root} was found");
        let groups = groups(&files);
        let count: usize = groups.iter().map(Vec::len).sum();
        let most = MOST.iter().find(|(known, _)| known == name).map_or(0, |(_, most)| *most);
        all += files.len();
        in_cycles += count;
        println!("{name}: {count} of {} files are in import cycles, and {most} may", files.len());
        if count > most {
            let text: Vec<String> = groups.iter().map(|group| group.join(" ")).collect();
            wrong.push(format!("{name}: {count} files are in import cycles, {most} may:\n  {}", text.join("\n  ")));
        }
    }
    println!("{in_cycles} of {all} files, {} %", in_cycles * 100 / all);
    assert!(wrong.is_empty(), "{in_cycles} of {all} files; {}", wrong.join("\n"));
}

#[test]
fn imports_are_found() {
    let tree = "super::{a::{self, b as c}, d}";
    assert_eq!(expanded(tree), ["super::a", "super::a::b", "super::d"]);
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use a::x; fn muse () {}"),
        ("a/mod.rs", "mod d; use crate::{b::Y, c}; // use super::none;"),
        ("a/d.rs", "fn f() -> super::super::c::Z { crate::c::z(\"crate::b::y\") }"),
        ("b.rs", "use crate::a::d;"),
        ("c.rs", "use std::fmt;"),
    ];
    assert_eq!(groups(&files), [["a/mod.rs", "b.rs"]; 0]);
    let back = [&files[..4], &[("c.rs", "fn z() -> crate::b::Y {}")]].concat();
    assert_eq!(groups(&back), [["a/d.rs", "b.rs", "c.rs"]]);
}

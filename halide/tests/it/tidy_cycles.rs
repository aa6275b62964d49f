//! Rule against import cycles: a file of a cycle can be read with all others of it only. A file imports another where
//! it names something of it by a path that begins with `crate`, `super` or `self`, or with a module below it. Declaring
//! a module is no import.

use crate::tidy::{CRATES, sources, without_tests};
use crate::tidy_lexer::bare;
use std::collections::{BTreeMap, BTreeSet};

/// The files of each crate that are in cycles; of crates that are not listed, none is. Whoever takes a file out of a
/// cycle lowers the number.
const IN_CYCLES: [(&str, usize); 4] = [("ir", 8), ("solve", 24), ("sched", 34), ("cpu", 4)];

/// The most files of a hundred that are in cycles.
const MOST_IN_A_HUNDRED: usize = 10;

/// The path of a module below its crate: names, outermost first.
pub(crate) type Module = Vec<String>;

/// The files of a crate by module.
type Files = BTreeMap<Module, usize>;

/// Returns the module of a file below `src`.
pub(crate) fn module_of(path: &str) -> Module {
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

/// The paths that a file without comments names: those of imports, and all others of more than one name.
pub(crate) fn paths(bare: &str) -> Vec<String> {
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
    let ends = |text: &str| text.find(|c| !is_part(c) && c != ':').unwrap_or(text.len());
    let mut rest = others.as_str();
    while let Some(at) = rest.find(is_part) {
        let (before, path) = rest.split_at(at);
        let end = ends(path);
        let path = path[..end].split_once("::").filter(|_| !before.ends_with("::")).map(|_| &path[..end]);
        all.extend(path.map(|path| path.trim_end_matches(':').to_string()));
        rest = &rest[at + end..];
    }
    all
}

/// Returns what a path in a module names, from the root of the crate on; `None` where it begins with another name.
pub(crate) fn place_of(module: &Module, path: &str) -> Option<Module> {
    let mut names = path.split("::").map(str::trim).peekable();
    let mut place: Module = match *names.peek()? {
        "crate" => Vec::new(),
        "self" | "super" => module.clone(),
        _ => return None,
    };
    if names.next_if(|n| *n == "crate" || *n == "self").is_none() {
        while names.next_if_eq(&"super").is_some() {
            place.pop();
        }
    }
    place.extend(names.map(str::to_string));
    Some(place)
}

/// Returns the file that a path in a module names: that of the longest part of it that is a module.
fn file_of(files: &Files, module: &Module, path: &str) -> Option<usize> {
    let in_child = || {
        let child: Module = module.iter().cloned().chain(path.split("::").map(|n| n.trim().to_string())).collect();
        files.contains_key(child.get(..=module.len())?).then_some(child)
    };
    let place = place_of(module, path).or_else(in_child)?;
    (0..=place.len()).rev().find_map(|length| files.get(&place[..length]).copied())
}

/// The groups of more than one file that import each other, by Tarjan's walk.
fn cycles(imports: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    struct Walk<'a> {
        imports: &'a [BTreeSet<usize>],
        /// The time at which each file was met, from 1, and that of the earliest that is met again from it.
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
        let known = IN_CYCLES.iter().find(|(known, _)| known == name).map_or(0, |(_, known)| *known);
        all += files.len();
        in_cycles += count;
        if count != known {
            let text: Vec<String> = groups.iter().map(|group| group.join(" ")).collect();
            wrong.push(format!("{name}: {count} files are in import cycles, not {known}:\n  {}", text.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "break cycles, or lower the numbers: {}", wrong.join("\n"));
    assert!(
        in_cycles * 100 <= all * MOST_IN_A_HUNDRED,
        "{in_cycles} of {all} files are in import cycles, more than {MOST_IN_A_HUNDRED} %"
    );
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
    for call in ["d::f()", "self::d::f()", "x(<d::F as Y>::f)", "crate::a::d::f()"] {
        let text = format!("mod d; pub struct X; fn g() {{ {call}; x::d::f() }}");
        let called = [("a/mod.rs", text.as_str()), ("a/d.rs", "use super::X;")];
        assert_eq!(groups(&called), [["a/d.rs", "a/mod.rs"]], "{call}");
    }
    let other = [("a/mod.rs", "mod d; pub struct X; fn g() { x::d::f(); d.f::<u8>(); }"), ("a/d.rs", "use super::X;")];
    assert_eq!(groups(&other), [["a/mod.rs"; 2]; 0]);
}

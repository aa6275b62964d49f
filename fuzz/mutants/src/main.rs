//! Breaks the compiler on purpose: a copy of the tree in which each of some hundred places is right or wrong by the
//! number in the environment, so that one build serves all mutants. `fuzz/mutants.sh` runs them.
//!
//! ```text
//! halide-mutants make FROM TO COUNT [WITHOUT]    # a copy of the tree FROM in TO; prints the table of the mutants
//! ```
//! `WITHOUT` names a file with one place a line (`file:line:column bytes`), which a compiler refused.

mod operators;
mod place;
mod sample;

use place::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders that decide what the code does, with their crates. The first crate has the choice of the mutant, which
/// the second takes from it.
const FOLDERS: [(&str, &str); 3] = [("halide-solve", "bounds"), ("halide-sched", "lower"), ("halide-sched", "plan")];

/// Files that say what was done or refused, in words, count it, or limit what lowering may cost.
const LEFT_OUT: [&str; 17] = [
    "tests.rs", "trace.rs", "effects.rs", "error.rs", "explain_bounds.rs", "budget.rs", "instrument.rs", "example.rs",
    "query.rs", "bound_storage.rs", "bound_expansion.rs", "tally.rs", "graph.rs", "uniquify.rs",
    "inject_prefetches/mod.rs", "inject_prefetches/found.rs", "rules.rs",
];

/// Folders that are left out: the proof of accesses is what mutants are found by, and diagnostics are words.
const FOLDERS_LEFT_OUT: [&str; 2] = ["check_accesses", "diagnostics"];

/// Lints of code that a mutant may be.
const ALLOWED: &str = "#![allow(arithmetic_overflow, unconditional_panic, unused_comparisons, unused_parens)]\n";

/// Appended to a crate that depends on the first one.
const TAKEN: &str = "\npub(crate) use halide_solve::{mutant, off_by};\n";

/// Appended to the first crate: the mutant that runs.
const CHOICE: &str = r#"
#[doc(hidden)]
pub fn mutant(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let chosen = *CHOSEN.get_or_init(|| {
        std::env::var("HALIDE_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX)
    });
    if chosen == number {
        REACHED.store(true, std::sync::atomic::Ordering::Relaxed);
    }
    chosen == number
}

/// True once the place of the mutant was reached.
#[doc(hidden)]
pub static REACHED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

#[doc(hidden)]
pub trait OffBy {
    fn off_by(self, by: i64) -> Self;
}

impl OffBy for halide_ir::Expr {
    fn off_by(self, by: i64) -> Self {
        halide_ir::build::offset(self, by)
    }
}

impl OffBy for Option<halide_ir::Expr> {
    fn off_by(self, by: i64) -> Self {
        self.map(|e| e.off_by(by))
    }
}

macro_rules! off_by {
    ($($ty:ty)*) => {$(
        impl OffBy for $ty {
            fn off_by(self, by: i64) -> Self {
                (self as i128 + by as i128).max(0) as $ty
            }
        }
        impl OffBy for Option<$ty> {
            fn off_by(self, by: i64) -> Self {
                self.map(|n| n.off_by(by))
            }
        }
    )*};
}
off_by!(i64 u64 u32 usize u16);

#[doc(hidden)]
pub fn off_by<T: OffBy>(value: T, by: i64) -> T {
    value.off_by(by)
}
"#;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["make", from, to, count, without @ ..] => make(Path::new(from), Path::new(to), count, without.first()),
        _ => Err("halide-mutants make FROM TO COUNT [WITHOUT]".to_string()),
    };
    if let Err(text) = done {
        eprintln!("{text}");
        std::process::exit(1);
    }
}

/// Writes the broken files of the copy, and prints a line for each mutant.
fn make(from: &Path, to: &Path, count: &str, without: Option<&&str>) -> Result<(), String> {
    let count: usize = count.parse().map_err(|e| format!("{count}: {e}"))?;
    let refused: BTreeSet<String> = match without {
        Some(path) => read(Path::new(path))?.lines().map(str::to_string).collect(),
        None => BTreeSet::new(),
    };
    let mut all: BTreeMap<String, (String, Vec<Place>)> = BTreeMap::new();
    let mut crates: BTreeMap<String, &str> = BTreeMap::new();
    for (krate, folder) in FOLDERS {
        let root = from.join(krate).join("src");
        for path in sources(&root.join(folder))? {
            let name = path.strip_prefix(&root).map_err(|e| e.to_string())?;
            let name = name.to_string_lossy().into_owned();
            let text = read(&path)?;
            let mut places = place::places(&text).map_err(|e| format!("{name}: {e}"))?;
            places.retain(|p| !refused.contains(&sample::key(&name, p)));
            crates.insert(name.clone(), krate);
            all.insert(name, (text, places));
        }
    }
    let chosen = sample::choose(&all, count);
    let mut number = 0;
    for (name, (text, _)) in &all {
        let mut text = text.clone();
        let places = chosen.get(name).cloned().unwrap_or_default();
        for (at, place) in places.iter().enumerate().rev() {
            text.replace_range(place.range.clone(), &place.schema(number + at));
        }
        for (at, place) in places.iter().enumerate() {
            let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let (key, right, wrong) = (sample::key(name, place), one_line(&place.right), one_line(&place.wrong));
            println!("{}\t{name}:{}\t{}\t{right}\t{wrong}\t{key}", number + at, place.line, place.operator);
        }
        number += places.len();
        write(&to.join(crates[name]).join("src").join(name), &text)?;
    }
    for (krate, appended) in [("halide-solve", CHOICE), ("halide-sched", TAKEN)] {
        let root = format!("{krate}/src/lib.rs");
        write(&to.join(&root), &(ALLOWED.to_string() + &read(&from.join(&root))? + appended))?;
    }
    Ok(())
}

/// The source files below a folder that are broken, in order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        let text = path.to_string_lossy().into_owned();
        if path.is_dir() {
            if !text.ends_with("tests") && !FOLDERS_LEFT_OUT.iter().any(|out| text.ends_with(out)) {
                found.extend(sources(&path)?);
            }
        } else if text.ends_with(".rs") && !LEFT_OUT.iter().any(|out| text.ends_with(&format!("/{out}"))) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a file that is another one than before: the rest need not be compiled again.
fn write(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

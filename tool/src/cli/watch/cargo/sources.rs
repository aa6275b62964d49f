//! The sources of a crate, looked at again and again: `src/**/*.rs`, `build.rs` and `Cargo.toml`.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// The time for which changed sources must stay so: editors and version control write several files.
const SETTLE: Duration = Duration::from_millis(150);

/// The most files that are looked at.
const MOST: usize = 10_000;

/// The most folders within each other that are looked into.
const DEEPEST: usize = 32;

/// The marks by which a change of a file is seen: time, length, and the number of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    modified: Option<SystemTime>,
    length: u64,
    file: u64,
}

impl Marks {
    /// The marks of the file at a path, if there is one.
    pub(super) fn new(path: &Path) -> Option<Marks> {
        let found = fs::metadata(path).ok().filter(Metadata::is_file)?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let file = 0;
        Some(Marks { modified: found.modified().ok(), length: found.len(), file })
    }
}

type All = BTreeMap<PathBuf, Marks>;

/// The sources of a crate.
pub(super) struct Sources {
    folder: PathBuf,
    known: All,
    /// Sources that were seen changed, and since when they are so.
    next: Option<(All, Instant)>,
    looked: Instant,
}

impl Sources {
    /// The sources beside a manifest as they are now.
    pub(super) fn new(folder: &Path, now: Instant) -> Sources {
        Sources { folder: folder.to_path_buf(), known: all(folder), next: None, looked: now }
    }

    /// Looks, if it is time to; returns true once changed sources stay so.
    pub(super) fn look(&mut self, now: Instant) -> bool {
        let pause = if self.next.is_some() { SETTLE } else { LOOK };
        if now.saturating_duration_since(self.looked) < pause {
            return false;
        }
        self.looked = now;
        let all = all(&self.folder);
        match self.next.take() {
            Some((next, since)) if next == all && now.saturating_duration_since(since) >= SETTLE => {
                let is_changed = next != self.known;
                self.known = next;
                is_changed
            }
            Some((next, since)) if next == all => {
                self.next = Some((next, since));
                false
            }
            _ => {
                self.next = (all != self.known).then_some((all, now));
                false
            }
        }
    }
}

/// The files and their marks. Folders behind links are left out, which could lead in circles.
fn all(folder: &Path) -> All {
    let mut found = All::new();
    let mut add = |path: PathBuf| {
        if let Some(marks) = Marks::new(&path)
            && found.len() < MOST
        {
            found.insert(path, marks);
        }
    };
    add(folder.join("Cargo.toml"));
    add(folder.join("build.rs"));
    let mut todo = vec![(folder.join("src"), 0)];
    while let Some((folder, depth)) = todo.pop() {
        // A folder that is gone has no files.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth < DEEPEST {
                    todo.push((path, depth + 1));
                }
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                add(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_count_once_when_they_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("src/deep")).unwrap();
        fs::write(at("Cargo.toml"), "[package]").unwrap();
        fs::write(at("src/main.rs"), "fn main() {}").unwrap();
        let start = Instant::now();
        let mut sources = Sources::new(folder.path(), start);
        let mut now = 0;
        let mut looks = |count: u64| {
            let mut seen = 0;
            for _ in 0..count {
                now += 200;
                seen += u64::from(sources.look(start + Duration::from_millis(now)));
            }
            seen
        };
        assert_eq!(looks(3), 0);
        fs::write(at("notes.txt"), "no source").unwrap();
        fs::write(at("src/notes.txt"), "no source").unwrap();
        assert_eq!(looks(3), 0);
        fs::write(at("src/deep/new.rs"), b"\xff").unwrap();
        assert_eq!(looks(1), 0, "it may be written still");
        assert_eq!(looks(3), 1);
        fs::write(at("src/main.rs"), "").unwrap();
        assert_eq!(looks(1), 0);
        fs::write(at("src/main.rs"), "fn main() { }").unwrap();
        assert_eq!((looks(1), looks(3)), (0, 1), "the first change did not stay");
        fs::remove_file(at("Cargo.toml")).unwrap();
        assert_eq!(looks(4), 1);
        fs::remove_dir_all(at("src")).unwrap();
        assert_eq!(looks(4), 1);
        assert_eq!(looks(4), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_in_circles() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("src/around")).unwrap();
        fs::write(folder.path().join("src/a.rs"), "").unwrap();
        assert_eq!(all(folder.path()).len(), 1);
    }
}

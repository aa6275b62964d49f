//! The folder of a cache: files that nobody but the user can have written.
//!
//! A file is read only if it and the folder belong to the user who runs this and only that user may write them. It is
//! written under another name first, so that readers find it whole or not at all.

use super::key::Key;
use super::origin::CacheProblem;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The largest file that is read: more code than the default budget of a target allows.
const LARGEST_FILE: u64 = 1 << 30;

/// The ending of names of files with code.
const ENDING: &str = "code";

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Tells names of files that are being written apart.
    next: AtomicU64,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Folder {
        Folder { path, next: AtomicU64::new(0) }
    }
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
    fn file(&self, key: &Key) -> PathBuf {
        self.path.join(format!("{key}.{ENDING}"))
    }

    /// The file of a key, and what it holds.
    pub(super) fn read(&self, key: &Key) -> Result<(PathBuf, Vec<u8>), CacheProblem> {
        let path = self.file(key);
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => CacheProblem::Absent,
            _ => system(&path, &error),
        };
        self.check()?;
        let file = File::open(&path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        check_owner(&path, &about)?;
        if !about.is_file() || about.len() > LARGEST_FILE {
            return Err(CacheProblem::Torn { file: path });
        }
        let mut bytes = Vec::with_capacity(about.len() as usize);
        (&file).take(LARGEST_FILE).read_to_end(&mut bytes).map_err(failed)?;
        // Says that it was used, for who deletes; where that may not be said, it is as old as it was.
        let _ = file.set_modified(SystemTime::now());
        Ok((path, bytes))
    }

    /// Writes the file of a key, and deletes the oldest ones where the folder then holds more than `most_bytes`.
    pub(super) fn write(&self, key: &Key, bytes: &[u8], most_bytes: u64) -> Result<PathBuf, CacheProblem> {
        make(&self.path).map_err(|error| system(&self.path, &error))?;
        self.check()?;
        let path = self.file(key);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let new = self.path.join(format!("{key}.{}.{number}.new", std::process::id()));
        let written = write_new(&new, bytes).and_then(|()| fs::rename(&new, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&new);
            return Err(system(&path, &error));
        }
        self.shrink(&path, most_bytes);
        Ok(path)
    }

    /// Checks that nobody else can have put a file here.
    fn check(&self) -> Result<(), CacheProblem> {
        match fs::metadata(&self.path) {
            Ok(about) => check_owner(&self.path, &about),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(CacheProblem::Absent),
            Err(error) => Err(system(&self.path, &error)),
        }
    }

    /// Deletes files, those first that were not used for the longest time, until there are no more than so many bytes;
    /// never `newest`. A file that cannot be deleted stays.
    fn shrink(&self, newest: &Path, most_bytes: u64) {
        let Ok(all) = fs::read_dir(&self.path) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = all
            .flatten()
            .map(|file| (file.path(), file.metadata()))
            .filter(|(path, _)| path.extension().is_some_and(|ending| ending == ENDING))
            .filter_map(|(path, about)| about.and_then(|a| Ok((a.modified()?, a.len(), path))).ok())
            .collect();
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        files.sort();
        for (_, size, path) in files.iter().filter(|(_, _, path)| path != newest) {
            if bytes <= most_bytes {
                break;
            }
            if fs::remove_file(path).is_ok() {
                bytes -= size;
            }
        }
    }
}

fn system(path: &Path, error: &io::Error) -> CacheProblem {
    CacheProblem::System { path: path.to_path_buf(), error: error.to_string() }
}

/// Makes a folder that only the user may enter, if it is not there.
fn make(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

/// Checks that something belongs to the user, and that nobody else may write it.
#[cfg(unix)]
fn check_owner(path: &Path, about: &Metadata) -> Result<(), CacheProblem> {
    use std::os::unix::fs::MetadataExt;
    let path = || path.to_path_buf();
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(CacheProblem::Owner { path: path() });
    }
    if about.mode() & 0o022 != 0 {
        return Err(CacheProblem::Writable { path: path() });
    }
    Ok(())
}

/// Nothing can be checked here, so nothing is read or written.
#[cfg(not(unix))]
fn check_owner(_: &Path, _: &Metadata) -> Result<(), CacheProblem> {
    Err(CacheProblem::NoOwners)
}

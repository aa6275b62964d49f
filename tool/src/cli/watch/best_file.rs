//! The best version, kept beside the watched file: `mine.best.sched` beside `mine.sched`.
//!
//! A file of that name that watch did not write, or that somebody changed since, is left alone: the first line of a
//! file of watch has the fingerprint of the rest.

use crate::files::shown;
use crate::place::Place;
use halide::tune::fingerprint;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The file that keeps the best version.
pub(super) struct BestFile {
    path: PathBuf,
}

impl BestFile {
    /// The file beside a watched one.
    pub(super) fn beside(watched: &Path) -> BestFile {
        let stem = watched.file_stem().unwrap_or_default().to_string_lossy();
        BestFile { path: watched.with_file_name(format!("{stem}.best.sched")) }
    }

    /// The name of the file in messages.
    pub(super) fn name(&self) -> String {
        shown(&self.path)
    }

    /// Writes the file, unless there is one of somebody else.
    ///
    /// # Errors
    /// The reason that it was not written, with the name of the file.
    pub(super) fn write(&self, body: &str) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", self.name());
        match fs::read(&self.path) {
            Ok(bytes) if !is_own(&bytes) => {
                let name = self.name();
                return Err(format!(
                    "{name} was not written by watch, or was changed since, so the best version is not kept there; \
                     move it away"
                ));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let place = Place::new(&self.path).map_err(|(_, error)| failed(error))?;
        let text = format!("{}\n{body}", first_line(body));
        place.write(|sink| sink.write_all(text.as_bytes())).map_err(failed)
    }
}

/// The first line of a file whose other lines are `body`.
fn first_line(body: &str) -> String {
    format!("# Kept by halide watch, which writes this file again unless you change it: {}", fingerprint(body))
}

/// Returns true if a file is as watch wrote it.
fn is_own(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.find('\n').is_some_and(|end| text[..end] == first_line(&text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = BestFile::beside(&folder.path().join("mine.sched"));
        let path = folder.path().join("mine.best.sched");
        let read = || fs::read_to_string(&path).unwrap();
        for body in ["f: parallel(y)\n", "", "f: vectorize(x, 8)\n# a\r\n"] {
            file.write(body).unwrap();
            assert!(read().starts_with("# Kept by halide watch, ") && read().ends_with(&format!("\n{body}")));
        }
        for theirs in [format!("{} ", read()), String::new(), "f: parallel(y)\n".to_string()] {
            fs::write(&path, &theirs).unwrap();
            let why = file.write("f: parallel(y)\n").unwrap_err();
            assert!(why.contains("mine.best.sched was not written by watch, or was changed since"), "{why}");
            assert_eq!(read(), theirs);
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(file.write("").unwrap_err().contains("mine.best.sched: "));
        assert_eq!(BestFile::beside(Path::new("a")).name(), "a.best.sched");
    }
}

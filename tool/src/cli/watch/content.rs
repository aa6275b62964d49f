//! The content of a watched file, and what may be wrong with it.

use crate::files::shown;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The most bytes of a watched file.
const LONGEST: u64 = 1 << 20;

/// The content of a watched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A text.
    Text(String),
    /// No file.
    Gone,
    /// Something that is no text: what is wrong with it, with its name.
    Defect(String),
}

/// Reads what is at a path.
pub(super) fn read(path: &Path) -> Seen {
    let defect = |text: String| Seen::Defect(format!("{}: {text}", shown(path)));
    let file = match fs::metadata(path) {
        Ok(found) if found.is_file() => File::open(path),
        // A pipe could keep its reader waiting for ever.
        Ok(found) => {
            let what = if found.is_dir() { "a folder" } else { "no file" };
            return defect(format!("it is {what}; a schedule is a text file"));
        }
        Err(error) => Err(error),
    };
    let mut bytes = Vec::new();
    match file.and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Seen::Gone,
        Err(error) => defect(error.to_string()),
        Ok(_) if bytes.len() as u64 > LONGEST => {
            defect(format!("it is longer than {} MiB, and no schedule", LONGEST >> 20))
        }
        Ok(_) => match String::from_utf8(bytes) {
            Ok(text) => Seen::Text(text),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
                defect(format!("line {line} is not UTF-8; save it as UTF-8"))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sched");
        let name = shown(&path);
        assert_eq!(read(&path), Seen::Gone);
        fs::write(&path, "f: parallel(y)").unwrap();
        assert_eq!(read(&path), Seen::Text("f: parallel(y)".to_string()));
        fs::write(&path, b"f:\n\n\xff").unwrap();
        assert_eq!(read(&path), Seen::Defect(format!("{name}: line 3 is not UTF-8; save it as UTF-8")));
        fs::write(&path, vec![b' '; LONGEST as usize]).unwrap();
        assert!(matches!(read(&path), Seen::Text(_)));
        fs::write(&path, vec![b' '; LONGEST as usize + 1]).unwrap();
        assert_eq!(read(&path), Seen::Defect(format!("{name}: it is longer than 1 MiB, and no schedule")));
        let text = format!("{}: it is a folder; a schedule is a text file", shown(folder.path()));
        assert_eq!(read(folder.path()), Seen::Defect(text));
    }
}

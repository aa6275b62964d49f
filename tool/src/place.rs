//! Places that files are written to.
//!
//! A file appears whole or not at all: it is written beside its place under another name and then moved there, with the
//! permissions of the one that it replaces. A link is followed, so that what it points to is replaced and not the link.
//! A pipe or a device is written to and stays.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

/// The most links that may lead to a file, as on Linux.
const LINKS: usize = 40;

/// The destination of a file.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// A file or nothing, in this folder.
    File { folder: PathBuf },
    /// A pipe or a device.
    Stream,
}

/// A seekable writer.
pub trait Sink: Write + Seek {}

impl<T: Write + Seek> Sink for T {}

impl Place {
    /// Finds what is at `path`, or will be.
    ///
    /// # Errors
    /// It is a folder, a link without end, or its folder is not there: the path concerned, and why.
    pub fn new(path: &Path) -> Result<Place, (PathBuf, io::Error)> {
        // The link of a pipe in /proc, to which /dev/stdout leads, holds no path: only the system can follow it.
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Ok(Place { path: path.to_path_buf(), kind: Kind::Stream });
        }
        let path = followed(path)?;
        if path.is_dir() {
            return Err((path, io::ErrorKind::IsADirectory.into()));
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        fs::metadata(&folder).map_err(|e| (folder.clone(), e))?;
        Ok(Place { path, kind: Kind::File { folder } })
    }
    /// The path, behind all links; that of a pipe or a device as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Checks that a file can be made there, by one that is gone at once: for who works long before writing.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn try_out(&self) -> io::Result<()> {
        match &self.kind {
            Kind::Stream => OpenOptions::new().write(true).open(&self.path).map(drop),
            Kind::File { folder } => part().tempfile_in(folder).map(drop),
        }
    }
    /// Has `make` write the file. If that fails, what was there before stays.
    ///
    /// # Errors
    /// Errors of `make`, and of the system.
    pub fn write<E: From<io::Error>>(&self, make: impl FnOnce(&mut dyn Sink) -> Result<(), E>) -> Result<(), E> {
        match &self.kind {
            Kind::Stream => {
                // Nobody can go back in a pipe.
                let mut bytes = Cursor::new(Vec::new());
                make(&mut bytes)?;
                let mut stream: File = OpenOptions::new().write(true).open(&self.path)?;
                stream.write_all(bytes.get_ref())?;
                Ok(stream.flush()?)
            }
            Kind::File { folder } => {
                let mut file = part().tempfile_in(folder)?;
                let mut writer = BufWriter::new(file.as_file_mut());
                make(&mut writer)?;
                writer.flush()?;
                drop(writer);
                if let Ok(old) = fs::metadata(&self.path) {
                    fs::set_permissions(file.path(), old.permissions())?;
                }
                file.persist(&self.path).map_err(|e| e.error)?;
                Ok(())
            }
        }
    }
}

/// Files that are not whole yet.
fn part() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".halide-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// The path behind all links, also of one that leads to nothing.
fn followed(path: &Path) -> Result<PathBuf, (PathBuf, io::Error)> {
    let mut at = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&at) {
            Ok(to) => at = at.parent().map_or(to.clone(), |folder| folder.join(&to)),
            Err(_) => return Ok(at),
        }
    }
    Err((path.to_path_buf(), io::Error::other("too many links lead to it")))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn put(place: &Path, text: &str) -> io::Result<()> {
        let place = Place::new(place).map_err(|(_, e)| e)?;
        place.write(|sink| sink.write_all(text.as_bytes()))
    }

    #[test]
    fn links_are_followed_to_their_targets_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        symlink("deep/b", at("a")).unwrap();
        symlink("../c", at("deep/b")).unwrap();
        for text in ["new", "newer"] {
            put(&at("a"), text).unwrap();
            assert_eq!(fs::read_to_string(at("c")).unwrap(), text, "a link that leads to nothing makes a file there");
            assert!(at("a").is_symlink() && at("deep/b").is_symlink() && !at("c").is_symlink());
        }
        symlink("loop", at("loop")).unwrap();
        assert!(put(&at("loop"), "x").is_err_and(|e| e.to_string().contains("too many links")));
        symlink("nowhere/x", at("lost")).unwrap();
        assert!(put(&at("lost"), "x").is_err());
    }

    #[test]
    fn what_is_replaced_gives_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        put(&path, "new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let failed = Place::new(&path).unwrap().write(|sink| {
            sink.write_all(b"half")?;
            Err::<(), io::Error>(io::Error::other("enough"))
        });
        assert!(failed.is_err() && fs::read_to_string(&path).unwrap() == "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn places_are_tried_out_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| Place::new(&folder.path().join(name)).unwrap();
        place("a").try_out().unwrap();
        fs::write(folder.path().join("b"), "old").unwrap();
        place("b").try_out().unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("b")).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let gone = place("a");
        drop(folder);
        assert!(gone.try_out().is_err());
    }

    #[test]
    fn devices_are_written_to() {
        put(Path::new("/dev/null"), "x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_without_a_name_are_written_to() {
        use std::io::Read;
        use std::os::fd::AsRawFd;
        let (mut reader, writer) = io::pipe().unwrap();
        put(Path::new(&format!("/proc/self/fd/{}", writer.as_raw_fd())), "page").unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "page");
    }
}

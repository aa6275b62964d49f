//! Looks at a file again and again: whatever its file system and however it is saved.
//!
//! A save is seen by the time of the last change and the length, then by the content. Times have a grain of up to 2
//! seconds, so for some seconds after a change the content is read at each look. Editors empty a file before they write
//! it, or rename it away before the new one is there: a content counts when it was read twice, a while apart, which is
//! longer for none.

use super::content::{Seen, read};
use super::mailbox::{Mailbox, Saved};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// The time between two looks at a file that has just changed.
const SECOND_LOOK: Duration = Duration::from_millis(10);

/// The time for which a missing or an empty file must stay so.
const NOTHING: Duration = Duration::from_millis(60);

/// The time after a change in which the content is read at each look.
const GRAIN: Duration = Duration::from_secs(3);

/// The marks by which a save is seen without reading the file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Marks {
    modified: Option<SystemTime>,
    length: u64,
    /// The number of the file, which another one that is renamed over it does not have.
    file: u64,
}

impl Marks {
    fn new(path: &Path) -> Option<Marks> {
        let found = fs::metadata(path).ok()?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let file = 0;
        Some(Marks { modified: found.modified().ok(), length: found.len(), file })
    }
}

/// The state of looking at one file.
struct Looker {
    path: PathBuf,
    marks: Option<Marks>,
    /// The content that counts.
    seen: Option<Seen>,
    /// A content that was read once, and when.
    next: Option<(Seen, Instant)>,
    /// The end of the time in which marks may not tell a change.
    grain: Instant,
}

impl Looker {
    fn new(path: &Path, now: Instant) -> Looker {
        Looker { path: path.to_path_buf(), marks: None, seen: None, next: None, grain: now + GRAIN }
    }

    /// Looks at the file; returns its content if that is another one by now.
    fn look(&mut self, now: Instant) -> Option<Seen> {
        let marks = Marks::new(&self.path);
        if marks != self.marks {
            (self.marks, self.grain) = (marks, now + GRAIN);
        }
        if now > self.grain && self.next.is_none() {
            return None;
        }
        let seen = read(&self.path);
        if self.seen.as_ref() == Some(&seen) {
            self.next = None;
            return None;
        }
        let nothing = matches!(&seen, Seen::Gone) || matches!(&seen, Seen::Text(text) if text.is_empty());
        match self.next.take() {
            Some((next, since)) if next == seen => {
                if now - since < if nothing { NOTHING } else { SECOND_LOOK } {
                    self.next = Some((next, since));
                    return None;
                }
                self.seen = Some(next);
                Some(seen)
            }
            _ => {
                self.next = Some((seen, now));
                None
            }
        }
    }

    /// The time until the next look.
    fn pause(&self) -> Duration {
        if self.next.is_some() { SECOND_LOOK } else { LOOK }
    }
}

/// A thread that looks at a file and posts each save; it ends with this.
pub(super) struct Looking {
    mailbox: Arc<Mailbox>,
    thread: Option<JoinHandle<()>>,
}

impl Looking {
    /// Starts to look at a file, whose content now is the first that is posted. At `end` it ends the watch.
    ///
    /// # Errors
    /// The system has no thread.
    pub(super) fn start(path: &Path, mailbox: &Arc<Mailbox>, end: Option<Instant>) -> std::io::Result<Looking> {
        let mut looker = Looker::new(path, Instant::now());
        let post = mailbox.clone();
        let look = move || {
            while !post.wait_for_end(looker.pause()) {
                if end.is_some_and(|end| Instant::now() >= end) {
                    post.end();
                } else if let Some(seen) = looker.look(Instant::now()) {
                    post.post(Saved { seen, at: SystemTime::now() });
                }
            }
        };
        let thread = thread::Builder::new().name("halide-look".into()).spawn(look)?;
        Ok(Looking { mailbox: mailbox.clone(), thread: Some(thread) })
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.mailbox.end();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at a file at times that the test makes.
    #[test]
    fn saves_count_when_they_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sched");
        let start = Instant::now();
        let mut looker = Looker::new(&path, start);
        let mut look = |ms: u64| looker.look(start + Duration::from_millis(ms));
        let text = |text: &str| Some(Seen::Text(text.to_string()));
        fs::write(&path, "a").unwrap();
        assert_eq!([look(0), look(5), look(10), look(50)], [None, None, text("a"), None]);
        // Emptied first, then written.
        fs::write(&path, "").unwrap();
        assert_eq!([look(100), look(150)], [None, None]);
        fs::write(&path, "b").unwrap();
        assert_eq!([look(160), look(170)], [None, text("b")]);
        fs::remove_file(&path).unwrap();
        assert_eq!([look(200), look(250), look(260)], [None, None, Some(Seen::Gone)]);
        fs::write(&path, "").unwrap();
        assert_eq!([look(300), look(310), look(360)], [None, None, text("")]);
        // The same text again.
        fs::write(&path, "").unwrap();
        assert_eq!([look(400), look(500)], [None, None]);
        // Renamed over, long after everything else.
        look(10_000);
        fs::write(folder.path().join("b"), "c").unwrap();
        fs::rename(folder.path().join("b"), &path).unwrap();
        assert_eq!([look(20_000), look(20_010), look(20_060)], [None, text("c"), None]);
    }
}

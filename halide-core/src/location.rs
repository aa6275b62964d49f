//! Places in the user's source.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

thread_local! {
    static FILES: RefCell<HashSet<&'static str>> = RefCell::default();
}

/// A place in the user's source: where an expression, definition or directive was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file as the compiler names it, or a name for text that was parsed.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl Location {
    /// A place in a text that is called `file`. The names of files are kept for as long as the process lives, each once
    /// in every thread that reads texts.
    pub fn in_text(file: &str, line: u32, column: u32) -> Location {
        Location { file: file_name(file), line, column }
    }

    /// The caller's place; meaningful in functions marked `#[track_caller]`.
    #[track_caller]
    pub fn caller() -> Location {
        std::panic::Location::caller().into()
    }
}

impl From<&'static std::panic::Location<'static>> for Location {
    fn from(at: &'static std::panic::Location<'static>) -> Location {
        Location { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of a text, as long-lived as places in it may be: for ever, once in each thread that reads texts.
fn file_name(name: &str) -> &'static str {
    FILES.with_borrow_mut(|files| match files.get(name) {
        Some(known) => *known,
        None => {
            let name: &'static str = Box::leak(name.into());
            files.insert(name);
            name
        }
    })
}

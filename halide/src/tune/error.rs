//! Errors of databases of measured schedules.

use std::fmt;
use std::path::PathBuf;

/// A database that cannot be used.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    /// The defect.
    pub defect: DatabaseDefect,
}

/// A defect of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseDefect {
    /// The system cannot read or write it.
    System {
        /// The reason that it gives.
        why: String,
    },
    /// Bytes that are no text in UTF-8.
    NotText,
    /// A line that is no JSON.
    NotJson,
    /// A field that is missing, or of another kind.
    Field {
        /// Its name.
        field: &'static str,
        /// The kind that it has to be: `a number`.
        wanted: &'static str,
    },
    /// A record of another version of the form.
    Version {
        /// The version, as text.
        found: String,
        /// The version that is read.
        known: u32,
    },
    /// A schedule that is none.
    Schedule {
        /// The mistakes in it.
        why: String,
    },
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        self.defect.fmt(f)
    }
}

impl fmt::Display for DatabaseDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const REMEDY: &str = "take the line out, or name another database";
        match self {
            DatabaseDefect::System { why } => {
                write!(f, "the database cannot be opened: {why}; name a file that can be written")
            }
            DatabaseDefect::NotText => write!(f, "the database is no text in UTF-8; {REMEDY}"),
            DatabaseDefect::NotJson => write!(f, "the record is no JSON; {REMEDY}"),
            DatabaseDefect::Field { field, wanted } => write!(f, "`{field}` of the record is not {wanted}; {REMEDY}"),
            DatabaseDefect::Version { found, known } => {
                write!(f, "the record is of version {found}, but this halide reads version {known}; {REMEDY}")
            }
            DatabaseDefect::Schedule { why } => write!(f, "the schedule of the record cannot be read: {why}; {REMEDY}"),
        }
    }
}

halide_core::debug_is_display!(DatabaseError);

impl std::error::Error for DatabaseError {}

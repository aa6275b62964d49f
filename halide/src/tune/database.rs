//! Databases of measured schedules: files of records, appended in whole lines.

use super::error::{DatabaseDefect, DatabaseError};
use super::fingerprint::TuneKey;
use super::record::Record;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A database that is open for writing.
pub(super) struct Database {
    path: PathBuf,
    file: File,
}

/// The records of a database that are of the same circumstances, and remarks about the others.
pub(super) struct Replay {
    pub(super) records: Vec<Record>,
    pub(super) notes: Vec<String>,
}

impl Database {
    /// Opens a database, which need not be there, and reads what is in it. A last line without an end, which a process
    /// that was killed leaves, is cut off.
    pub(super) fn open(path: &Path, key: &TuneKey) -> Result<(Database, Replay), DatabaseError> {
        let error = |line, defect| DatabaseError { path: path.to_path_buf(), line, defect };
        let system = |e: io::Error| error(None, DatabaseDefect::System { why: e.to_string() });
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(system)?;
        file.lock().map_err(system)?;
        let mut bytes = Vec::new();
        let read = file.read_to_end(&mut bytes).map_err(system);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut notes = Vec::new();
        if whole < bytes.len() {
            let line = bytes[..whole].iter().filter(|byte| **byte == b'\n').count() + 1;
            notes.push(format!("{}: line {line} has no end and was dropped: its writer was killed", path.display()));
            file.set_len(whole as u64).map_err(system)?;
        }
        file.unlock().map_err(system)?;
        read?;
        let mut records = Vec::new();
        let mut foreign: Option<(usize, usize)> = None;
        for (number, line) in (1..).zip(bytes[..whole].split(|byte| *byte == b'\n')) {
            let line = std::str::from_utf8(line).map_err(|_| error(Some(number), DatabaseDefect::NotText))?;
            if line.trim().is_empty() {
                continue;
            }
            let record = Record::read(line).map_err(|defect| error(Some(number), defect))?;
            if record.key == *key {
                records.push(record);
            } else {
                let (first, count) = foreign.unwrap_or((number, 0));
                foreign = Some((first, count + 1));
            }
        }
        if let Some((first, count)) = foreign {
            let are = if count == 1 { "record is" } else { "records are" };
            notes.push(format!(
                "{}: {count} {are} of another pipeline, size, target or machine and left alone, from line {first} on",
                path.display()
            ));
        }
        Ok((Database { path: path.to_path_buf(), file }, Replay { records, notes }))
    }

    /// Appends a record as a whole line. Processes that share the file wait for each other.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), DatabaseError> {
        let line = record.line();
        let written = self.file.lock().and_then(|()| {
            self.file.seek(SeekFrom::End(0))?;
            let written = self.file.write_all(line.as_bytes());
            self.file.unlock()?;
            written
        });
        written.map_err(|e| {
            let defect = DatabaseDefect::System { why: e.to_string() };
            DatabaseError { path: self.path.clone(), line: None, defect }
        })
    }
}

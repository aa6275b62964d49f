//! The ways in which rows are shown: a table whose newest row moves on a terminal, JSON, and a page.

use super::super::failure::Failure;
use super::super::terminal::{live, note, say_heading, say_to_reader, set_live};
use super::row::{HEADING, Row};
use crate::serve::Server;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::fmt::Display;

/// The most bytes of a text that the page has of a version.
const MOST_TEXT: usize = 256 << 10;

/// Something that shows rows.
pub(super) struct Shown {
    is_json: bool,
    /// The newest row on a terminal, as long as it changes; nothing in a pipe.
    bar: ProgressBar,
    server: Option<Server>,
    has_heading: bool,
    is_read: bool,
}

impl Shown {
    /// Shows rows as JSON or as a table, and on a page if there is a server.
    /// `keys` is a line below the one that moves.
    pub(super) fn new(is_json: bool, server: Option<Server>, keys: Option<&str>) -> Shown {
        Shown { is_json, bar: live(keys), server, has_heading: false, is_read: true }
    }

    /// Gives pages the rows of programs before this one; a reader of the table has them.
    pub(super) fn resume(&mut self, rows: &[Value]) {
        self.has_heading |= !rows.is_empty();
        for (row, server) in rows.iter().zip(self.server.iter().cycle()) {
            server.send(&format!("row {}", row["version"]), "row", &row.to_string());
        }
    }

    /// The address of the page.
    pub(super) fn url(&self) -> Option<String> {
        self.server.as_ref().map(Server::url)
    }

    /// Returns true if somebody wants the loop nests of versions.
    pub(super) fn wants_details(&self) -> bool {
        self.server.is_some()
    }

    /// Returns false once nobody reads stdout any more.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Shows what is watched: `title` in a line, `facts` for programs, and the first time where the page is.
    pub(super) fn start(&mut self, title: &str, facts: &Value, is_first: bool) -> Result<(), Failure> {
        if let Some(server) = &self.server {
            server.send("start", "start", &facts.to_string());
            if is_first {
                note(format!("the page is at {}", server.url()));
            }
        }
        if self.is_json { self.say(facts) } else { self.say(title) }
    }

    /// Shows a row, or shows it again with more of it known.
    pub(super) fn row(&mut self, row: &Row) -> Result<(), Failure> {
        let json = row.json();
        if let Some(server) = &self.server {
            server.send(&format!("row {}", row.number), "row", &json.to_string());
        }
        if self.is_json {
            return self.say(json);
        }
        if !row.is_done {
            set_live(&self.bar, &row.text());
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_heading, true) {
            self.bar.suspend(|| say_heading(HEADING, ""))?;
        }
        self.say(row.text())
    }

    /// Shows a state in the line that moves, until a row does.
    pub(super) fn state(&self, text: &str) {
        set_live(&self.bar, text);
    }

    /// Gives the page the text and the loop nest of a version.
    pub(super) fn details(&self, version: u64, schedule: &str, loops: &str) {
        if let Some(server) = &self.server {
            let data = json!({"version": version, "schedule": cut(schedule), "loops": cut(loops)});
            server.send(&format!("details {version}"), "details", &data.to_string());
        }
    }

    /// Says something beside the rows.
    pub(super) fn note(&self, text: impl Display) {
        self.bar.suspend(|| note(text));
    }

    /// Ends without a word: another program goes on.
    pub(super) fn hand_over(&mut self) {
        self.bar.finish_and_clear();
    }

    /// Ends with a line of the table.
    pub(super) fn end(&mut self, text: &str) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        if let Some(server) = &self.server {
            server.send("end", "end", &json!({"text": text}).to_string());
        }
        if self.is_json { Ok(()) } else { self.say(text) }
    }

    fn say(&mut self, text: impl Display) -> Result<(), Failure> {
        self.is_read &= self.bar.suspend(|| say_to_reader(text))?;
        Ok(())
    }
}

/// The text up to what a page may have of it.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_TEXT)]
}

//! The state that a watch hands to the program after it: its rows, as JSON in a file.

use super::row::Row;
use crate::place::Place;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The version of the file's form.
const FORM: u64 = 1;

/// The most bytes of the file.
const LONGEST: u64 = 64 << 20;

/// The most rows that pages get again.
pub(super) const MOST_SHOWN: usize = 256;

/// The state of a watch that began with another program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// The number of the program, from 1.
    pub(super) program: u64,
    /// The number of the last program that began to watch.
    pub(super) ready: u64,
    /// The number of rows so far.
    pub(super) rows: u64,
    /// The port of the page.
    pub(super) port: Option<u16>,
    /// True if somebody sits at a terminal, whose keys the supervisor reads.
    pub(super) has_keys: bool,
    /// The best version so far, with its least time in ms.
    pub(super) best: Option<(u64, f64)>,
    /// The text of the newest schedule that ran, without comments.
    pub(super) schedule: Option<String>,
    /// The newest rows, as pages get them.
    pub(super) shown: Vec<Value>,
}

impl State {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is none of these: why.
    pub(super) fn read(path: &Path) -> Result<State, String> {
        let mut text = String::new();
        let file = File::open(path).map_err(|error| error.to_string())?;
        file.take(LONGEST).read_to_string(&mut text).map_err(|error| error.to_string())?;
        let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        State::of_json(&value).ok_or_else(|| "it is no state of a watch".to_string())
    }

    /// The state in a value. Rows that are none are left out.
    fn of_json(value: &Value) -> Option<State> {
        value["form"].as_u64().filter(|form| *form == FORM)?;
        let rows = value["rows"].as_u64()?;
        let port = match &value["port"] {
            Value::Null => None,
            port => Some(u16::try_from(port.as_u64()?).ok()?),
        };
        let best = &value["best"];
        let best = best["version"].as_u64().zip(best["min_ms"].as_f64().filter(|ms| ms.is_finite()));
        let shown = value["shown"].as_array()?.iter();
        let is_row = |row: &&Value| row["version"].as_u64().is_some_and(|number| (1..=rows).contains(&number));
        Some(State {
            program: value["program"].as_u64()?,
            ready: value["ready"].as_u64()?,
            rows,
            port,
            has_keys: value["has_keys"].as_bool()?,
            best,
            schedule: value["schedule"].as_str().map(str::to_string),
            shown: shown.filter(is_row).take(MOST_SHOWN).cloned().collect(),
        })
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// Errors of the system, in words.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let best = self.best.map(|(number, ms)| json!({"version": number, "min_ms": ms}));
        let value = json!({
            "form": FORM, "program": self.program, "ready": self.ready, "rows": self.rows, "port": self.port,
            "has_keys": self.has_keys, "best": best, "schedule": self.schedule, "shown": self.shown,
        });
        let place = Place::new(path).map_err(|(_, error)| error.to_string())?;
        let written = place.write(|sink| sink.write_all(value.to_string().as_bytes()));
        written.map_err(|error: std::io::Error| error.to_string())
    }

    /// Adds a row that is done.
    pub(super) fn add(&mut self, row: &Row) {
        self.rows = self.rows.max(row.number);
        self.shown.push(row.json());
        if self.shown.len() > MOST_SHOWN {
            self.shown.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::Outcome;
    use super::*;
    use std::fs;
    use std::time::UNIX_EPOCH;

    fn row(number: u64) -> Row {
        let outcome = Outcome::Error { text: "<b>".to_string(), goes_on: None };
        Row { number, saved: UNIX_EPOCH, is_done: true, outcome }
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        let mut state = State { program: 2, ready: 1, port: Some(8080), has_keys: true, ..State::default() };
        (1..=MOST_SHOWN as u64 + 3).for_each(|number| state.add(&row(number)));
        (state.best, state.schedule) = (Some((3, 1.25)), Some("f: parallel(y)".to_string()));
        assert_eq!((state.rows, state.shown.len()), (MOST_SHOWN as u64 + 3, MOST_SHOWN));
        state.write(&path).unwrap();
        assert_eq!(State::read(&path), Ok(state));
        State::default().write(&path).unwrap();
        assert_eq!(State::read(&path), Ok(State::default()));
    }

    #[test]
    fn files_that_are_no_states_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        assert!(State::read(&path).unwrap_err().contains("No such file"));
        let good = json!({"form": 1, "program": 1, "ready": 1, "rows": 2, "port": null, "has_keys": false,
            "best": null, "schedule": null, "shown": [{"version": 2}, {"version": 3}, 4, {"version": "1"}]});
        let read = |value: &Value| {
            fs::write(&path, value.to_string()).unwrap();
            State::read(&path)
        };
        assert_eq!(read(&good).unwrap().shown, [json!({"version": 2})], "rows that there were not are left out");
        let changes = [("form", json!(2)), ("rows", json!(-1)), ("port", json!(65536)), ("program", json!("1"))];
        for (key, value) in changes {
            let mut bad = good.clone();
            bad[key] = value;
            assert_eq!(read(&bad), Err("it is no state of a watch".to_string()), "{key}");
        }
        for text in [&b""[..], b"{", b"[1]", b"\xff"] {
            fs::write(&path, text).unwrap();
            assert!(State::read(&path).is_err());
        }
    }
}

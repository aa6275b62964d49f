//! The rows so far: what became of each version, for those who ask for its report.

use crate::serve::path::Wanted;
use std::collections::VecDeque;

/// The most rows that are remembered.
const MOST: usize = 64;

/// The most bytes of an error that are remembered.
const MOST_TEXT: usize = 4 << 10;

/// The fate of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It ran: its schedule without comments, by which its code is found, and the text of the file.
    Ran { key: String, text: String },
    /// It did not: why, and the version that goes on.
    Failed { text: String, goes_on: Option<u64> },
}

/// The rows so far.
#[derive(Default)]
pub(super) struct History(VecDeque<(u64, Fate)>);

/// A version that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) number: u64,
    pub(super) key: String,
    pub(super) text: String,
}

/// The versions of a report, and a line about one that is not shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// One, two to compare, or none where nothing ran yet.
    pub(super) versions: Vec<Known>,
    pub(super) notice: Option<String>,
}

impl History {
    /// Adds a row.
    pub(super) fn add(&mut self, number: u64, fate: Fate) {
        let fate = match fate {
            Fate::Failed { mut text, goes_on } => {
                text.truncate(text.floor_char_boundary(MOST_TEXT));
                Fate::Failed { text, goes_on }
            }
            ran => ran,
        };
        self.0.push_back((number, fate));
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// Finds the versions that a report is wanted of. In place of one that failed stands the one that went on then.
    ///
    /// # Errors
    /// There is no such version: why, in words.
    pub(super) fn find(&self, wanted: Wanted) -> Result<Found, String> {
        let mut notice = None;
        let numbers = match wanted {
            Wanted::Newest => self.newest(),
            Wanted::One(number) => vec![number],
            Wanted::Two(a, b) => vec![a, b],
        };
        let mut versions = Vec::new();
        for number in numbers {
            let mut number = number;
            if let Fate::Failed { text, goes_on } = self.fate(number)? {
                let shown = goes_on.map_or(String::new(), |shown| format!(" (this is version {shown}, which goes on)"));
                notice = Some(format!("version {number} is an error: {text}{shown}"));
                match goes_on {
                    Some(other) => number = *other,
                    None => continue,
                }
            }
            if let Fate::Ran { key, text } = self.fate(number)? {
                versions.push(Known { number, key: key.clone(), text: text.clone() });
            }
        }
        Ok(Found { versions, notice })
    }

    /// The newest row.
    fn newest(&self) -> Vec<u64> {
        self.0.back().map(|(number, _)| *number).into_iter().collect()
    }

    fn fate(&self, number: u64) -> Result<&Fate, String> {
        let newest = match self.0.back() {
            Some((newest, _)) => *newest,
            None => return Err(format!("there is no version {number} of this program yet")),
        };
        let found = self.0.iter().find(|(known, _)| *known == number);
        found.map(|(_, fate)| fate).ok_or_else(|| match number > newest {
            true => format!("there is no version {number} yet; the newest is {newest}, at /report"),
            false => format!("version {number} is too long ago, or of a program before; the newest is at /report"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(text: &str) -> Fate {
        Fate::Ran { key: text.to_string(), text: format!("# {text}") }
    }

    fn failed(goes_on: Option<u64>) -> Fate {
        Fate::Failed { text: "no".to_string(), goes_on }
    }

    #[test]
    fn versions_that_failed_are_named_beside_those_that_go_on() {
        let mut history = History::default();
        let find = |history: &History, wanted| {
            history.find(wanted).map(|found| {
                let numbers: Vec<u64> = found.versions.iter().map(|known| known.number).collect();
                (numbers, found.notice.unwrap_or_default())
            })
        };
        assert_eq!(find(&history, Wanted::Newest), Ok((vec![], String::new())));
        assert_eq!(find(&history, Wanted::One(1)), Err("there is no version 1 of this program yet".to_string()));
        history.add(1, failed(None));
        let notice = "version 1 is an error: no".to_string();
        assert_eq!(find(&history, Wanted::Newest), Ok((vec![], notice)));
        history.add(2, ran("a"));
        history.add(3, failed(Some(2)));
        let notice = "version 3 is an error: no (this is version 2, which goes on)".to_string();
        assert_eq!(find(&history, Wanted::Newest), Ok((vec![2], notice.clone())));
        assert_eq!(find(&history, Wanted::One(3)), Ok((vec![2], notice)));
        history.add(4, ran("b"));
        assert_eq!(find(&history, Wanted::Newest), Ok((vec![4], String::new())));
        assert_eq!(find(&history, Wanted::Two(2, 4)), Ok((vec![2, 4], String::new())));
        let late = find(&history, Wanted::Two(4, 5)).unwrap_err();
        assert_eq!(late, "there is no version 5 yet; the newest is 4, at /report");
    }

    #[test]
    fn few_rows_are_remembered() {
        let mut history = History::default();
        history.add(1, Fate::Failed { text: "\u{e9}".repeat(MOST_TEXT), goes_on: None });
        assert!(history.find(Wanted::One(1)).unwrap().notice.unwrap().len() < MOST_TEXT + 100);
        (2..MOST as u64 + 2).for_each(|number| history.add(number, ran("a")));
        assert!(history.find(Wanted::One(2)).is_ok());
        assert!(history.find(Wanted::One(1)).unwrap_err().starts_with("version 1 is too long ago, "));
    }
}

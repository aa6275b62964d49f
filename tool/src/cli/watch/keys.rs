//! Keys, where somebody sits at a terminal: `r` for the best version, `p` for a report, `q` for the end.

/// The line that says the keys.
pub(super) const LINE: &str = "[r] revert to best  [p] report  [q] quit";

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The best version is to be written to the file.
    Revert,
    /// A report is to be written.
    Report,
    /// The watch is to end.
    Quit,
}

impl Key {
    /// The key of a byte that a terminal sent.
    #[cfg(unix)]
    pub(super) fn of_byte(byte: u8) -> Option<Key> {
        match byte.to_ascii_lowercase() {
            b'r' => Some(Key::Revert),
            b'p' => Some(Key::Report),
            b'q' => Some(Key::Quit),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn other_bytes_are_no_keys() {
        let keys: Vec<Key> = (0..=255).filter_map(Key::of_byte).collect();
        assert_eq!(keys, [Key::Report, Key::Quit, Key::Revert, Key::Report, Key::Quit, Key::Revert]);
    }

    #[test]
    fn the_line_says_the_keys() {
        let all = ["[r] revert", "[p] report", "[q] quit"];
        assert!(all.iter().all(|part| LINE.contains(part)) && LINE.len() <= 40, "it is as wide as a narrow terminal");
    }
}

//! Estimates of memory, before any of it is allocated.

use halide::limits::available_memory;
use std::fmt;

/// Below as many bytes the machine is not asked what it has.
const SMALL: u64 = 64 << 20;

/// More memory than there may be.
#[derive(Clone, PartialEq, Eq)]
pub struct TooMuch {
    /// Bytes by what they are for.
    pub parts: Vec<(&'static str, u64)>,
    /// The most bytes allowed.
    pub cap: u64,
    /// The cap is what the machine has available, rather than one that was asked for.
    pub of_machine: bool,
}

/// Checks that all `parts` together are within `cap`, or where there is none, within what the machine has available.
///
/// # Errors
/// They are not.
pub fn check(parts: &[(&'static str, u64)], cap: Option<u64>) -> Result<(), TooMuch> {
    let total = total(parts);
    let of_machine = cap.is_none();
    let cap = cap.or_else(|| if total > SMALL { available_memory() } else { None }).unwrap_or(u64::MAX);
    let parts = parts.iter().copied().filter(|(_, bytes)| *bytes > 0).collect();
    if total <= cap { Ok(()) } else { Err(TooMuch { parts, cap, of_machine }) }
}

/// Adds bytes up; sums saturate.
pub(crate) fn total(parts: &[(&'static str, u64)]) -> u64 {
    parts.iter().fold(0, |all, (_, bytes)| all.saturating_add(*bytes))
}

impl fmt::Display for TooMuch {
    /// Writes the rest of a sentence whose subject is what would need the memory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.parts.iter().map(|(what, bytes)| format!("{} for {what}", size(*bytes))).collect();
        write!(f, "needs {} of memory ({}), and ", size(total(&self.parts)), parts.join(", "))?;
        match self.of_machine {
            true => write!(f, "this machine has {} available", size(self.cap)),
            false => write!(f, "--memory-cap allows {}", size(self.cap)),
        }
    }
}

halide::debug_is_display!(TooMuch);

impl std::error::Error for TooMuch {}

/// A number of bytes in words.
pub fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// A number of bytes from words like `512M`, `4GiB` or `100000`.
///
/// # Errors
/// In words, where it is none.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no number of bytes; write for example 512M or 4G");
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = &text[digits..];
    let shift = match unit.strip_suffix("iB").or_else(|| unit.strip_suffix('B')).unwrap_or(unit) {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return Err(wrong()),
    };
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_says_what_it_is_for() {
        assert_eq!(check(&[("inputs", 5), ("outputs", 6)], Some(11)), Ok(()));
        let error = check(&[("inputs", 3 << 30), ("tables", 0), ("outputs", 1 << 20)], Some(2048)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "needs 3.0 GiB of memory (3.0 GiB for inputs, 1.0 MiB for outputs), and --memory-cap allows 2.0 KiB"
        );
        assert!(check(&[("all", u64::MAX), ("more", 1)], Some(u64::MAX)).is_ok(), "sums saturate");
        let machine = check(&[("all", u64::MAX)], None);
        assert!(machine.is_ok() || machine.is_err_and(|e| e.to_string().contains("this machine has")));
    }

    #[test]
    fn numbers_of_bytes_are_read() {
        for (text, bytes) in [("0", 0), ("17", 17), ("2K", 2048), ("3MB", 3 << 20), ("4GiB", 4 << 30), ("1t", 1 << 40)]
        {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1.5G", "4X", "4GiBiB", "4GBB", "99999999999999999999", "99999999T", "4 G"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

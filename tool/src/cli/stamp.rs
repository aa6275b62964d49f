//! Stamps: comments of schedule files that say for which algorithm they were timed, how fast they were, and where.
//!
//! A stamp is a line of its own, `# for 9f3c21ab00ee4d17, 1.71 ms on PROCESSOR`. The number is the fingerprint of the
//! algorithm's text, without what depends on the edges of images, so that a stamp holds for images and random values.

use super::failure::Failure;
use crate::app::{App, Edges, Settings};
use halide::tune::fingerprint;

/// The digits of a fingerprint.
const DIGITS: usize = 16;

/// Returns the fingerprint of an app's algorithm with these settings; parameters do not matter.
pub(crate) fn algorithm(app: &App, given: &[(String, String)]) -> Result<String, Failure> {
    let mut settings = Settings::new(app, Edges::Inside);
    settings.take(app, given).map_err(Failure)?;
    Ok(fingerprint(&(app.pipeline)(&settings)?.to_string()))
}

/// The stamp of a schedule for an algorithm by its fingerprint.
pub(crate) fn stamp(algorithm: &str, ms: f64, processor: &str) -> String {
    format!("# for {algorithm}, {} ms on {processor}", digits(ms))
}

/// A time in ms with three digits that say something.
pub(crate) fn digits(ms: f64) -> String {
    match ms {
        100.0.. => format!("{ms:.0}"),
        10.0.. => format!("{ms:.1}"),
        1.0.. => format!("{ms:.2}"),
        _ => format!("{ms:.4}"),
    }
}

/// The note that the stamp in the text of a schedule is for another algorithm, if that is so; `name` is that of its
/// file.
pub(crate) fn stale(text: &str, name: &str, app: &App, given: &[(String, String)]) -> Result<Option<String>, Failure> {
    let Some((line, stamped)) = stamps(text).next() else { return Ok(None) };
    let now = algorithm(app, given)?;
    Ok((stamped != now).then(|| {
        format!(
            "{name}:{}: the stamp is for the algorithm {stamped}, and that of `{}` is {now} by now, so the schedule \
             and its time may be stale; `halide bench {} --schedule {name} --stamp` renews the stamp",
            line + 1,
            app.name,
            app.name
        )
    }))
}

/// The text with `stamp` in place of the stamps in it: where the first one is, or at the beginning.
pub(crate) fn stamped(text: &str, stamp: &str) -> String {
    let first = stamps(text).next().map_or(0, |(line, _)| line);
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(text.len() + stamp.len() + 2);
    let mut lines = text.split_inclusive('\n').enumerate().peekable();
    let is_empty = lines.peek().is_none();
    for (number, line) in lines {
        if number == first {
            out += stamp;
            out += end;
        }
        if read(line).is_none() {
            out += line;
        }
    }
    if is_empty {
        out += stamp;
        out += end;
    }
    out
}

/// The stamps of a text: the numbers of their lines, from 0, and the fingerprints of algorithms.
fn stamps(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(number, line)| Some((number, read(line)?)))
}

/// The fingerprint of the algorithm in a line that is a stamp.
fn read(line: &str) -> Option<&str> {
    let (algorithm, rest) = line.trim().strip_prefix("# for ")?.split_once(", ")?;
    let (time, processor) = rest.split_once(" ms on ")?;
    let is_number = time.parse::<f64>().is_ok_and(f64::is_finite);
    let is_fingerprint =
        algorithm.len() == DIGITS && algorithm.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (is_fingerprint && is_number && !processor.is_empty()).then_some(algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide::prelude::*;

    const NOW: &str = "0123456789abcdef";

    #[test]
    fn stamps_are_read_back() {
        let text = stamp(NOW, 1.7149, "AMD EPYC 9B45, of a kind");
        assert_eq!(text, "# for 0123456789abcdef, 1.71 ms on AMD EPYC 9B45, of a kind");
        assert_eq!(read(&text), Some(NOW));
        for other in [
            "# for tests, 3 ms on paper",
            "# for 0123456789ABCDEF, 1 ms on x",
            "# for 0123456789abcdef, soon ms on x",
            "# for 0123456789abcdef, 1 ms on ",
            "f: parallel(y) # for 0123456789abcdef, 1 ms on x",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!([0.01234, 1.5, 12.34, 123.4].map(digits), ["0.0123", "1.50", "12.3", "123"]);
    }

    #[test]
    fn only_the_line_of_the_stamp_changes() {
        let new = stamp(NOW, 2.0, "here");
        let old = "# for fedcba9876543210, 1.71 ms on there";
        for (text, expected) in [
            ("", format!("{new}\n")),
            ("f: parallel(y)", format!("{new}\nf: parallel(y)")),
            ("# mine\r\nf: parallel(y)\r\n", format!("{new}\r\n# mine\r\nf: parallel(y)\r\n")),
            (&format!("# mine\n{old}\nf: parallel(y)\n"), format!("# mine\n{new}\nf: parallel(y)\n")),
            (&format!("# mine\n  {old}\n\n{old}\nf: parallel(y)\n"), format!("# mine\n{new}\n\nf: parallel(y)\n")),
        ] {
            assert_eq!(stamped(text, &new), expected, "{text:?}");
        }
    }

    const RAMP: App = App::new("ramp", "", |_| {
        let x = Var::new("x");
        let mut ramp = Func::new("ramp");
        ramp[x] = x + 1;
        Pipeline::new([&ramp])
    });

    #[test]
    fn stamps_for_another_algorithm_are_stale() -> Result<(), Box<dyn std::error::Error>> {
        let note = |text: &str| stale(text, "a.sched", &RAMP, &[]).map_err(|Failure(text)| text);
        assert_eq!(note("ramp: vectorize(x, 8)")?, None);
        let now = algorithm(&RAMP, &[]).map_err(|Failure(text)| text)?;
        assert_eq!(note(&stamp(&now, 1.0, "here"))?, None);
        let told = note(&format!("\n{}\n", stamp(NOW, 1.0, "here")))?.ok_or("it is stale")?;
        assert!(told.starts_with(&format!("a.sched:2: the stamp is for the algorithm {NOW}, and that of `ramp` is ")));
        assert!(
            told.contains(&now) && told.ends_with("`halide bench ramp --schedule a.sched --stamp` renews the stamp")
        );
        Ok(())
    }
}

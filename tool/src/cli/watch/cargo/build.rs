//! A run of `cargo build`, whose messages are read by two threads until it ends.

use super::messages::Messages;
use super::target::Target;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

/// The most bytes of what cargo says beside its messages.
const MOST_WORDS: usize = 64 << 10;

/// The lines of that which a row shows.
const LINES: usize = 6;

/// The result of a build.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Built {
    /// The program, in this file.
    Program(PathBuf),
    /// Errors of the compiler, the first one with its place.
    Failed(String),
    /// Something else went wrong: there is no cargo, no such program, or the manifest is broken.
    Broken(String),
}

/// A build that goes on.
pub(super) struct Build {
    child: Child,
    messages: JoinHandle<Messages>,
    words: JoinHandle<String>,
}

impl Build {
    /// Starts cargo: the one that the environment names, as cargo does for programs that it runs.
    ///
    /// # Errors
    /// It cannot be started: why.
    pub(super) fn start(target: &Target) -> Result<Build, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or(OsString::from("cargo"));
        let failed = |error: std::io::Error| format!("{}: {error}", cargo.display());
        let mut command = Command::new(&cargo);
        command.args(target.args()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let target = target.clone();
        let messages = move || out.map_or(Messages::default(), |out| read(BufReader::new(out), &target));
        let messages = thread::Builder::new().name("halide-cargo".into()).spawn(messages).map_err(failed)?;
        let words = thread::Builder::new().name("halide-cargo".into());
        let words = words.spawn(move || err.map_or(String::new(), said)).map_err(failed)?;
        Ok(Build { child, messages, words })
    }

    /// Returns true once cargo has ended.
    pub(super) fn is_over(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for the end, and returns the result.
    pub(super) fn result(mut self) -> Built {
        let status = self.child.wait();
        // Readers cannot have panicked.
        let messages = self.messages.join().unwrap_or_default();
        let words = self.words.join().unwrap_or_default();
        match (status, messages.error(), messages.exe) {
            (Ok(status), _, Some(exe)) if status.success() => Built::Program(exe),
            (Ok(status), Some(error), _) if !status.success() => Built::Failed(error),
            (Ok(status), _, _) if status.success() => Built::Broken("cargo build made no such program".to_string()),
            (Ok(status), _, _) => Built::Broken(format!("cargo build ended with {status}{}", reason(&words))),
            (Err(error), _, _) => Built::Broken(format!("cargo build: {error}")),
        }
    }

    /// Ends it.
    pub(super) fn kill(mut self) {
        // One that has ended is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads messages up to the end.
fn read(mut out: impl BufRead, target: &Target) -> Messages {
    let (mut messages, mut line) = (Messages::default(), Vec::new());
    while out.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        messages.add(&line, target);
        line.clear();
    }
    messages
}

/// Reads what is said, of which the end is kept.
fn said(mut err: impl Read) -> String {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        match err.read(&mut part) {
            Ok(count @ 1..) => bytes.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            _ => break,
        }
        let over = bytes.len().saturating_sub(MOST_WORDS);
        bytes.drain(..over);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines of what was said from the first error on.
fn reason(words: &str) -> String {
    let lines = words.lines().skip_while(|line| line.get(..5) != Some("error")).take(LINES);
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_begins_at_the_first_error() {
        let words = "   Compiling mine\nerror: no bin target named `other`\n\n  help: there is `mine`\n";
        assert_eq!(reason(words), ": error: no bin target named `other`\n  help: there is `mine`");
        assert_eq!((reason(""), reason("warning: a\n\u{e9}\u{e9}\u{e9}")), (String::new(), String::new()));
        assert_eq!(reason(&"error: a\n".repeat(50)).lines().count(), LINES);
    }

    #[test]
    fn the_end_of_what_is_said_is_kept() {
        let text = format!("{}error: b", "a".repeat(2 * MOST_WORDS));
        let kept = said(text.as_bytes());
        assert!(kept.len() == MOST_WORDS && kept.ends_with("aerror: b"));
    }
}

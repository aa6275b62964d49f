//! Records of a dump as bytes.

use crate::source_lines::SourceFunction;

/// The process and the time of a record.
#[derive(Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// Nanoseconds of the monotonic clock.
    pub(super) now: u64,
}

/// The size of the header.
pub(super) const HEADER_BYTES: usize = 40;

/// "JiTD", as a number of the machine's byte order.
const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
/// Kinds of records.
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;

/// The number of the machine in object files.
const MACHINE: u32 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// The header of a file.
pub(super) fn header(process: Process) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    for word in [MAGIC, VERSION, HEADER_BYTES as u32, MACHINE, 0, process.pid] {
        bytes.extend(word.to_ne_bytes());
    }
    bytes.extend(process.now.to_ne_bytes());
    bytes.extend(0u64.to_ne_bytes());
    bytes
}

/// The records of a function: its lines, and behind them its code.
pub(super) fn function(process: Process, number: u64, function: &SourceFunction<'_>) -> Vec<u8> {
    let mut lines = Vec::new();
    for word in [function.address, function.lines.len() as u64] {
        lines.extend(word.to_ne_bytes());
    }
    for line in &function.lines {
        lines.extend(line.address.to_ne_bytes());
        lines.extend(line.line.to_ne_bytes());
        lines.extend(0u32.to_ne_bytes());
        lines.extend(text(&line.file));
    }
    let mut code = Vec::new();
    for word in [process.pid, process.tid] {
        code.extend(word.to_ne_bytes());
    }
    for word in [function.address, function.address, function.bytes.len() as u64, number] {
        code.extend(word.to_ne_bytes());
    }
    code.extend(text(function.name));
    code.extend(function.bytes);
    let mut bytes = if function.lines.is_empty() { Vec::new() } else { record(process, DEBUG_INFO, &lines) };
    bytes.extend(record(process, CODE_LOAD, &code));
    bytes
}

/// A text as C has it; what is behind a zero in it is left out.
fn text(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().take_while(|byte| *byte != 0).chain([0])
}

fn record(process: Process, kind: u32, content: &[u8]) -> Vec<u8> {
    let size = 16 + content.len() as u32;
    let mut bytes = Vec::with_capacity(size as usize);
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(size.to_ne_bytes());
    bytes.extend(process.now.to_ne_bytes());
    bytes.extend(content);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_lines::SourceLine;

    #[test]
    fn records_are_as_long_as_they_say() {
        let process = Process { pid: 7, tid: 8, now: 9 };
        let header = header(process);
        assert_eq!((header.len(), &header[20..24]), (HEADER_BYTES, &7u32.to_ne_bytes()[..]));
        let lines = vec![SourceLine { address: 0x1002, file: "a\0b.rs".to_string(), line: 36 }];
        let of = SourceFunction { name: "blur_y.yo", address: 0x1000, bytes: &[1, 2, 3], lines };
        let bytes = function(process, 5, &of);
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        let (kind, size) = (word(0), word(4) as usize);
        assert_eq!((kind, size), (DEBUG_INFO, 16 + 16 + 16 + 2));
        assert_eq!((word(40), &bytes[48..50]), (36, &b"a\0"[..]));
        assert_eq!((word(size), word(size + 4) as usize), (CODE_LOAD, bytes.len() - size));
        assert!(bytes.ends_with(b"blur_y.yo\0\x01\x02\x03"));
    }
}

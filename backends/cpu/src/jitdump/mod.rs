//! Compiled code for profilers: a file in the format `jitdump` of Linux's `perf`, with the file and the line of each
//! instruction.
//!
//! `perf record -k mono` notes that the process maps the file, `perf inject --jit` makes object files with tables of
//! lines of it, which `perf report`, `perf annotate` and debuggers read. There is one file for each compiled program,
//! in a folder of its own, since its name is given: `jit-PID.dump`.
//!
//! The format: `tools/perf/Documentation/jitdump-specification.txt` in the sources of Linux.

mod records;

#[cfg(target_os = "linux")]
mod file;
#[cfg(not(target_os = "linux"))]
#[path = "no_file.rs"]
mod file;

use crate::exec::Executable;
use crate::listing::CodeLine;
use halide_ir::code_place::CodePlace;
use records::{Function, SourceLine};
use std::io;
use std::path::{Path, PathBuf};

pub use file::JitDump;

/// Writes the code of an executable that was compiled with [`keep_text`](crate::CpuOptions::keep_text) to a file in a
/// new folder below `folder`. `source` gives the file and the line of a place.
///
/// # Errors
/// The file cannot be written, or the system is another one than Linux.
pub fn write(
    code: &Executable,
    folder: &Path,
    source: &dyn Fn(CodePlace) -> Option<(String, u32)>,
) -> io::Result<JitDump> {
    let functions: Vec<Function<'_>> = code
        .functions()
        .iter()
        .map(|function| {
            let line = |line: &CodeLine| {
                let (file, number) = source(line.place?)?;
                Some(SourceLine { address: function.address + line.offset as u64, file, line: number })
            };
            // One for each instruction: behind the last one, `perf` ends the table.
            let lines: Vec<SourceLine> = function.lines.iter().filter_map(line).collect();
            Function { name: &function.name, address: function.address, bytes: &function.bytes, lines }
        })
        .collect();
    let first = functions.first().map_or(0, |function| function.address);
    JitDump::write(&own_folder(folder, first), &functions)
}

/// A folder that no other executable of the process has: code lies at one address at a time.
fn own_folder(folder: &Path, address: u64) -> PathBuf {
    folder.join(format!("halide-{}-{address:x}", std::process::id()))
}

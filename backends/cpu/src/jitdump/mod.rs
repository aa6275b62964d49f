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
use crate::source_lines::source_functions;
use halide_ir::code_place::CodePlace;
use std::fs;
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
    let functions = source_functions(code, source);
    fs::create_dir_all(folder)?;
    JitDump::write(&new_folder(folder)?, &functions)
}

/// The most folders of one process.
const MOST_FOLDERS: u32 = 100_000;

/// Makes a folder that no other executable has, nor anybody else: where code was freed, other code may lie.
fn new_folder(folder: &Path) -> io::Result<PathBuf> {
    for number in 0..MOST_FOLDERS {
        let own = folder.join(format!("halide-{}-{number}", std::process::id()));
        match fs::create_dir(&own) {
            Ok(()) => return Ok(own),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("it has {MOST_FOLDERS} folders of this process")))
}

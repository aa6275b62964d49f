//! The file of a dump. `perf` finds it by the mapping that the process makes of it.

#![allow(unsafe_code)]

use super::records::{self, Process};
use crate::source_lines::SourceFunction;
use memmap2::{Mmap, MmapOptions};
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file of compiled code, which `perf` knows as long as it lives.
#[derive(Debug)]
pub struct JitDump {
    path: PathBuf,
    /// Never read: that the process maps the file is what `perf` notes.
    _mapping: Mmap,
}

impl JitDump {
    /// Writes functions to a new file in a folder.
    pub(super) fn write(folder: &Path, functions: &[SourceFunction<'_>]) -> io::Result<JitDump> {
        let process = Process { pid: std::process::id(), tid: gettid().as_raw_nonzero().get() as u32, now: now() };
        let path = folder.join(format!("jit-{}.dump", process.pid));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        (&file).write_all(&records::header(process))?;
        let mapping = map(&file)?;
        // What is loaded has a later time than the mapping.
        let process = Process { now: now(), ..process };
        for (number, function) in (0..).zip(functions) {
            (&file).write_all(&records::function(process, number, function))?;
        }
        Ok(JitDump { path, _mapping: mapping })
    }
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Maps the begin of the file, as code.
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is never read, so it does not matter who changes the file.
    unsafe { MmapOptions::new().len(records::HEADER_BYTES).map_exec(file) }
}

/// The time of the clock that `perf record -k mono` takes, in nanoseconds.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

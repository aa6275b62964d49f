//! Systems without `perf`.

use crate::source_lines::SourceFunction;
use std::io;
use std::path::Path;

/// A file of compiled code, which these systems do not have.
#[derive(Debug)]
pub struct JitDump(std::convert::Infallible);

impl JitDump {
    pub(super) fn write(_folder: &Path, _functions: &[SourceFunction<'_>]) -> io::Result<JitDump> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "jitdump is of Linux"))
    }
    /// Its path.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }
}

//! Systems without `perf`.

use super::records::Function;
use std::io;
use std::path::Path;

/// A file of compiled code, which these systems do not have.
#[derive(Debug)]
pub struct JitDump(std::convert::Infallible);

impl JitDump {
    pub(super) fn write(_folder: &Path, _functions: &[Function<'_>]) -> io::Result<JitDump> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "jitdump is of Linux"))
    }
    /// Its path.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }
}

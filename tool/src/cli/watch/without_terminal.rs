//! Systems on whose terminals keys are not read.

use super::keys::Key;
use std::sync::Arc;

/// No terminal whose keys can be read.
pub(super) struct Terminal;

impl Terminal {
    /// Opens none.
    pub(super) fn open() -> Option<Arc<Terminal>> {
        None
    }

    /// Changes nothing.
    pub(super) fn restore(&self) {}
}

/// No keys.
pub(super) struct Keys;

impl Keys {
    /// Reads nothing.
    ///
    /// # Errors
    /// None.
    pub(super) fn start(_: &Arc<Terminal>, _: impl Fn(Key) + Send + 'static) -> std::io::Result<Keys> {
        Ok(Keys)
    }
}

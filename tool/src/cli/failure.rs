//! Failures of commands.

/// A failure that ends a command early: a text of at most a screen for stderr, and exit status 1.
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

//! Errors of making a job.

use crate::memory::TooMuch;
use halide::prelude::*;

/// A reason that there is no job.
pub enum JobError {
    /// A wrong parameter or setting, in words.
    Given(String),
    /// Inputs, outputs and results would take more memory than there may be.
    Memory(TooMuch),
    /// The pipeline or its inputs cannot be made.
    Halide(Error),
}

impl From<Error> for JobError {
    fn from(error: Error) -> JobError {
        JobError::Halide(error)
    }
}

halide::debug_is_display!(JobError);

impl std::error::Error for JobError {}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JobError::Given(text) => f.write_str(text),
            JobError::Memory(much) => {
                write!(f, "it {much}\nchoose a smaller size, or give more memory with --memory-cap")
            }
            JobError::Halide(error) => error.fmt(f),
        }
    }
}

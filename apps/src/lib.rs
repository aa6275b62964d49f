//! Example pipelines with their schedules, and what the command line needs to run them on files.

pub mod files;
pub mod random;

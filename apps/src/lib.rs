//! Example pipelines with their schedules, and what the command line needs to run them on files.

pub mod app;
pub mod files;
pub mod filters;
pub mod input;
pub mod job;
pub mod params;
pub mod random;
mod shown;

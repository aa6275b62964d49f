//! Example pipelines with their schedules, and what the command line needs to run them on files.

pub mod app;
mod encode;
pub mod estimate;
pub mod files;
pub mod filters;
pub mod input;
pub mod job;
mod job_error;
mod jpeg;
pub mod measure;
pub mod memory;
pub mod params;
pub mod place;
pub mod random;
mod shown;

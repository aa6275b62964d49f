//! Example pipelines with their schedules, and what the command line needs to run them on files.

pub mod app;
pub mod blur;
pub mod files;
pub mod job;
pub mod local_laplacian;
pub mod params;
pub mod random;

//! The command line of pipelines as a library: an app of one's own gets `run`, `compare`, `check`, `watch`, `bench`
//! and the rest of `halide` in a few lines.
//!
//! ```no_run
//! use halide::prelude::*;
//! use halide_tool::{App, NamedSchedule, Tool};
//! use std::process::ExitCode;
//!
//! const STRIPS: NamedSchedule = NamedSchedule::new("strips", "bright: parallel(y) vectorize(x, natural)");
//! const APPS: [App; 1] = [App::new("brighten", "Twice as bright", |_| pipeline()).schedules(&[STRIPS])];
//!
//! fn pipeline() -> Result<Pipeline, AlgorithmErrors> {
//!     let input = ImageParam::new("input", U8, 3);
//!     let (x, y, c) = vars!(x, y, c);
//!     let mut bright = Func::new("bright");
//!     bright[(x, y, c)] = saturating_cast::<u8>(cast::<u16>(input[(x, y, c)]) * 2);
//!     Pipeline::new([&bright])
//! }
//!
//! fn main() -> ExitCode {
//!     Tool::new("brighten", &APPS).main() // brighten run photo.jpg out.png --schedule strips --bench 20
//! }
//! ```
//!
//! [`App`] says what of an app the command line must know; `halide new NAME` writes a crate to begin with.

pub mod app;
mod cli;
mod encode;
pub mod estimate;
pub mod files;
mod inferred;
pub mod input;
pub mod job;
mod job_error;
mod jpeg;
mod linted;
pub mod measure;
pub mod memory;
pub mod params;
pub mod place;
pub mod processor;
mod profiled;
pub mod random;
mod samples;
mod serve;
mod shown;
#[cfg(test)]
mod tests;

pub use app::{App, NamedSchedule};
pub use cli::Tool;

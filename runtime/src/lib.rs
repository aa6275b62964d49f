//! The runtime of pipelines that were compiled ahead of time: programs that link it have no compiler in them.
//!
//! `Compiled::object` of the crate `halide` makes an object of a pipeline, with a header for C. A program in C links
//! both and calls the pipeline by its name, or [`halide_run`](c_abi::halide_run). A program in Rust declares the symbol
//! and calls [`Pipeline::run`]:
//!
//! ```text
//! unsafe extern "C" {
//!     // From blur.o, which a build script links.
//!     safe static blur_pipeline: halide_runtime::Pipeline;
//! }
//! let inputs = Inputs::new().image("input", photo).param("gain", 2u8);
//! let mut out = AnyBuffer::new(U8, [640, 480])?;
//! blur_pipeline.run(&inputs, &mut [out.view_mut()?], &RunOptions::default())?;
//! ```
//!
//! All arguments are checked before anything is written, by the checks that calls of compiled pipelines go through. The
//! object has each variant of the code that a call can need, so nothing is compiled; a variant that a call does not
//! suit leads to another, as `halide` would do it.

mod arguments;
pub mod c_abi;
mod error;
mod loaded;
mod pipeline;

pub use error::{CallError, Code};
pub use halide_core::interp::Inputs;
pub use halide_core::{buffer, types, value};
pub use loaded::RunOptions;
pub use pipeline::Pipeline;

//! The CPU backend: machine code from the loop IR by Cranelift, and the runtime that the code calls.
//!
//! [`compile`] takes an [`ir::Program`](halide_ir::Program) at stage `Final` and gives an [`Executable`], which
//! is cheap to clone, may be called from many threads at once and frees its code when the last clone is dropped.

mod code_image;
mod codegen;
#[cfg(feature = "debugger")]
pub mod debugger;
mod error;
mod exec;
mod host;
pub mod jitdump;
mod listing;
mod options;
mod profile;
mod runtime;
mod shared;
mod source_lines;
mod tier;
mod tuning;
mod wide;

pub use code_image::CodeImage;
pub use codegen::{compile, compile_to_image};
pub use error::{CodeUnit, CpuError, CpuFault};
pub use exec::{Executable, RunArgs, RunStats};
pub use host::machine_text;
pub use listing::CodeLine;
pub use options::{CompileStats, CpuOptions, FunctionCode};
pub use profile::{Activity, MemoryEvent, RunProfile, Sampled, Span};
pub use runtime::Sampler;
pub use tier::Tier;

//! The CPU backend: machine code from the loop IR by Cranelift, and the runtime that the code calls.
//!
//! [`compile`] takes an [`ir::Program`](halide_ir::Program) at stage `Final` and gives an [`Executable`], which
//! is cheap to clone, may be called from many threads at once and frees its code when the last clone is dropped.
//! [`object`] has code that is linked ahead of time. Without the feature `compile`, what runs such code is left.

// What only code generators use stands beside what the runtime uses: limits, texts, notes.
#![cfg_attr(not(feature = "compile"), allow(dead_code, unused_imports))]
// The links of docs to what is left out.
#![cfg_attr(not(feature = "compile"), allow(rustdoc::broken_intra_doc_links))]

mod abi;
#[cfg(feature = "compile")]
mod code_image;
#[cfg(feature = "compile")]
mod codegen;
#[cfg(feature = "debugger")]
pub mod debugger;
mod error;
mod exec;
#[cfg(feature = "compile")]
mod host;
#[cfg(feature = "compile")]
pub mod jitdump;
mod listing;
pub mod object;
mod options;
mod profile;
mod runtime;
mod shared;
#[cfg(feature = "compile")]
mod source_lines;
mod tier;
mod tuning;
#[cfg(feature = "compile")]
mod wide;
mod words;

#[cfg(feature = "compile")]
pub use code_image::CodeImage;
#[cfg(feature = "compile")]
pub use codegen::{compile, compile_image, compile_to_image};
pub use error::{CodeUnit, CpuError, CpuFault};
pub use exec::{Executable, RunArgs, RunStats};
#[cfg(feature = "compile")]
pub use host::machine_text;
pub use listing::CodeLine;
pub use options::{CompileStats, CpuOptions, FunctionCode, KernelLoads};
pub use profile::{Activity, MemoryEvent, RunProfile, Sampled, Span};
pub use runtime::Sampler;
pub use tier::Tier;

//! Image and array pipelines in Rust: algorithms and schedules as values, compiled in milliseconds.

#[cfg(feature = "image")]
pub mod image;

pub use halide_core::buffer;

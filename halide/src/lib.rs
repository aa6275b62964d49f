//! Image and array pipelines in Rust: algorithms and schedules as values, compiled in milliseconds.

pub mod call;
pub mod compile;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod device;
pub mod error;
#[cfg(feature = "gpu")]
mod evaluator_host;
mod extern_stages;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod host;
#[cfg(feature = "image")]
pub mod image;
mod in_place;
pub mod input_requirements;
pub mod limits;
mod machine;
mod memory;
pub mod prelude;
mod print_sink;
mod report;
pub mod shapes;
mod storage;
pub mod trace;
mod variant;
mod variant_key;

pub use error::Error;
pub use halide_core::{boundary, buffer, error as diagnostics, expr, pipeline, types, value, vars};
pub use halide_core::{externs, shape};
#[cfg(feature = "cpu")]
pub use halide_cpu::{Tier, host_features};
pub use halide_ir::{self as ir, features, target};
pub use halide_sched::{lower, plan, schedule};
pub use storage::Stored;
pub use variant_key::VariantKey;

//! Schedules that nobody has to write.
//!
//! Pure: no clock, input or output, threads, globals or order of hash tables, so equal questions have equal answers
//! wherever they are asked. [`auto_schedule`] chooses a schedule for the sizes in [`Estimates`], by the times that a
//! model predicts; [`tss`] chooses the sizes of tiles, and [`tile()`] does so
//! for a definition of a pipeline; [`tune`] searches by measured times that it is told.
//!
//! The tiles of a product of matrices, on a machine with vectors of 512 bits:
//!
//! ```
//! use halide_auto::tss::{Array, Loop, Nest, Subscript, TssOptions, select};
//! use halide_core::types::ScalarType::F64;
//! use halide_ir::machine::{Cache, Machine, Memory, Vector};
//!
//! let cache = |bytes, ways, unified, bytes_per_cycle, latency| {
//!     Cache { bytes, line: 64, ways, unified, shared_by: 1, bytes_per_cycle, latency }
//! };
//! let machine = Machine {
//!     cores: 2,
//!     ghz: 3.0,
//!     caches: vec![
//!         cache(48 << 10, 12, false, 128.0, 5.0),
//!         cache(2 << 20, 16, true, 64.0, 15.0),
//!         cache(32 << 20, 16, true, 24.0, 60.0),
//!     ],
//!     memory: Memory {
//!         bytes_per_ns: vec![(1, 12.0), (2, 22.0)],
//!         streamed_bytes_per_ns: vec![(1, 10.0), (2, 18.0)],
//!         mixed_bytes_per_ns: vec![(1, 12.0), (2, 22.0)],
//!         latency_ns: 100.0,
//!     },
//!     vector: Vector { bits: 512, registers: 32, loads: 2.0, stores: 1.0, issue: 4.0, fmas: 2.0 },
//! };
//!
//! // for i { for k { for j { c(i, j) += a(i, k) * b(k, j) } } }
//! let [i, k, j] = [0, 1, 2].map(Subscript::of_loop);
//! let nest = Nest {
//!     loops: vec![Loop::parallel("i", 3199), Loop::reduction("k", 3199), Loop::independent("j", 3199)],
//!     arrays: vec![
//!         Array::read("a", F64, 3199, &[&i, &k]),
//!         Array::read("b", F64, 3199, &[&k, &j]),
//!         Array::update("c", F64, 3199, &[&i, &j]),
//!     ],
//!     slants: vec![],
//! };
//!
//! let tiles = select(&nest, &machine, 1, &TssOptions::default())?;
//! assert!(tiles.sizes[2] < 3199, "rows of `b` are cut, so that tiles of it stay in a cache");
//! assert_eq!(tiles.sizes[1] % 8, 0, "tiles of `a` are whole lines");
//! let padding = tiles.padding.expect("rows of 3199 elements begin anywhere in a line");
//! assert_eq!(padding.leading[0].ld, 3200);
//! assert!(padding.gain > 1.3);
//! # Ok::<(), halide_auto::tss::TssError>(())
//! ```

mod advise;
mod attempt;
mod auto;
mod begin;
mod boxes;
mod chooser;
mod chosen;
mod cost;
mod costs;
mod dag;
mod emit;
mod error;
mod estimate;
mod factored;
mod ground;
mod group;
mod import;
mod inline;
pub mod isa;
mod kept;
mod kernel;
mod kernels;
mod lanes;
mod legal;
mod mixed;
mod moves;
mod price;
mod role;
mod search;
mod shape;
mod sizes;
mod state;
mod substitution;
mod tile;
pub mod tss;
pub mod tune;
mod tuning;

pub use advise::{Advice, Advised, Change, advise};
pub use auto::auto_schedule;
pub use chosen::{Auto, AutoOptions, CodeFacts, Inspect};
pub use cost::Parts;
pub use error::AutoError;
pub use estimate::{Complete, EstimateError, Estimates};
pub use group::Group;
pub use import::{Approximation, Part};
pub use price::{Priceable, Priced, price};
pub use tile::{Tileable, Tiling, tile, tileable};

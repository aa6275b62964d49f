//! Instructions as values: what a machine computes at once, and how loops ask for it.
//!
//! An instruction has a *meaning*, a pipeline of one definition: its images are operands, its output is the result, and
//! its variables are the *axes*. For each axis it says how many values the loop may have and how that runs, so that the
//! code generator finds the instruction in what is left; or a closure computes it, which is called in place of the
//! loops ([`Tile`]). `use` names one for a stage, with a loop for each axis; a plan checks that the stage computes the
//! meaning there.
//!
//! ```
//! use halide_core::expr::{cast, undef};
//! use halide_core::types::{I8, U8};
//! use halide_core::{Func, ImageParam, Pipeline, RDom, Var};
//! use halide_sched::schedule::{Extents, Instruction, InstructionSet, LoopKind};
//! let (a, b) = (ImageParam::new("a", U8, 1), ImageParam::new("b", I8, 2));
//! let (j, k, mut c) = (Var::new("j"), RDom::named("k", [(0, 4)]), Func::new("c"));
//! c[j] = undef::<i32>();
//! c[j] += cast::<i32>(a[k.x]) * cast::<i32>(b[(k.x, j)]);
//! let dot = Instruction::new("my_dot", &Pipeline::new([&c])?)
//!     .axis("j", Extents::Multiple(4), LoopKind::Vectorized)
//!     .axis("k.x", Extents::Exactly(4), LoopKind::Unrolled)
//!     .dense("b", "k.x")
//!     .emits("vpdpbusd");
//! let set = InstructionSet::built_in().with(dot).unwrap();
//! assert!(set.find("my_dot").is_some());
//! # Ok::<(), halide_core::error::AlgorithmErrors>(())
//! ```

mod built_in;
mod error;
mod form;
mod set;
mod tile;
mod value;

pub use error::InstructionError;
pub use form::{AxisVar, Form};
pub use set::InstructionSet;
pub use tile::Tile;
pub(crate) use tile::TileFn;
pub use value::{Axis, Extents, Instruction};

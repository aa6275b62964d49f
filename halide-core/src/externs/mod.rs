//! Extern stages: Funcs whose values come from Rust closures.
//!
//! One closure answers which regions of the inputs a region of the output needs, the other computes the region from
//! those. Both may be called from any thread, and must answer the same for the same question; the value at a point must
//! not depend on the region that is asked for. Errors and panics in them end the run with a
//! [`RunError`](crate::interp::RunError) that names the stage.
//!
//! In a frozen pipeline the results are input images that nobody gives: whoever runs it asks, computes what is asked
//! for, calls the closure, and gives them (see [`ExternDef`]). A stage is so computed whole, once per run, over the
//! region that its consumers need, before any of them; its inputs are computed before it.
//!
//! A schedule may place a stage at a loop of its consumer, if it says its needs by index expressions
//! ([`Extern::needs_box`]) or not at all: then the closure is called once per iteration of that loop, over the region
//! that the iteration needs, with buffers of its own (see [`ExternCallee`]). In parallel loops calls run at once.
//!
//! ```
//! use halide_core::externs::Extern;
//! use halide_core::{Func, ImageParam, Pipeline, types::U8, vars};
//! let input = ImageParam::new("input", U8, 1);
//! let x = vars!(x);
//! let mut twice = Func::new("twice");
//! twice[x] = input[x] * 2;
//! let reversed = Extern::new("reversed", [U8], 1)
//!     .input(&twice)
//!     .compute(|call| {
//!         let (from, region) = (call.input(0).clone(), call.region().clone());
//!         for at in region.coords() {
//!             let value = from.get(&at).ok_or("asked for too little")?;
//!             call.output(0).set(&at, value)?;
//!         }
//!         Ok(())
//!     });
//! let mut f = Func::new("f");
//! f[x] = reversed[x] + 1;
//! assert_eq!(Pipeline::new([&f])?.externs[0].name, "reversed");
//! # Ok::<(), halide_core::error::AlgorithmErrors>(())
//! ```

pub(crate) mod call;
pub(crate) mod def;
pub(crate) mod end_mistake;
mod ends;
pub(crate) mod fault;
mod run;
mod stage;

pub(crate) use crate::graph::image::{OpenExtern, OpenInput};
pub use call::{ExternCall, ExternFns, ExternNeeds, ExternQuery, ExternResult};
pub use def::{ExternCallee, ExternDef, ExternInput};
pub use end_mistake::EndMistake;
pub use ends::{Boxes, End, EndKind, EndOp, RegionEnds};
pub use fault::ExternFault;
pub use stage::Extern;

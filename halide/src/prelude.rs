//! The names that most programs need: `use halide::prelude::*;`.

pub use crate::auto::{AutoOptions, Estimates};
pub use crate::call::Call;
#[cfg(feature = "cpu")]
pub use crate::code_cache::CodeCache;
pub use crate::compiled::Compiled;
pub use crate::compiler::Compiler;
pub use crate::engine::Engine;
pub use crate::error::Error;
pub use crate::fault::FaultKind;
#[cfg(feature = "image")]
pub use crate::image::BufferImage;
pub use crate::limits::Cancel;
pub use crate::pipeline::Pipeline;
pub use crate::program::Program;
pub use crate::shape_cache::ShapeCache;
pub use crate::shapes::Shapes;
pub use halide_core::boundary::*;
pub use halide_core::buffer::{AnyBuffer, AnyBufferMut, Buffer, BufferMut, Region};
pub use halide_core::error::AlgorithmErrors;
pub use halide_core::expr::*;
pub use halide_core::reduce::*;
pub use halide_core::types::ScalarType::{self, *};
pub use halide_core::value::Scalar;
pub use halide_core::{Coords, Expr, Func, ImageParam, IntoExpr, Layout, Param, RDom, RVar, Var, vars};
pub use halide_ir::target::Target;
pub use halide_sched::schedule::{Schedule, Tail};

//! The algorithm language of halide: what a pipeline computes, and an interpreter that defines it.
//!
//! Nothing here can observe a schedule, a loop or a target.

pub mod adjoint;
mod arena;
pub mod boundary;
pub mod buffer;
mod compact;
pub mod error;
pub mod expr;
pub mod externs;
mod freeze;
pub mod func;
mod graph;
pub mod ids;
pub mod interp;
pub mod layout;
pub mod limits;
mod location;
pub mod math;
mod names;
pub mod ops;
pub mod param;
pub mod pipeline;
pub mod print;
pub mod promise;
pub mod rdom;
pub mod reduce;
pub mod shape;
mod tuning;
pub mod types;
pub mod value;
pub mod var;

pub use arena::{live_names, live_nodes};
pub use expr::{Coords, Expr, IntoExpr};
pub use func::Func;
pub use layout::Layout;
pub use param::{ImageParam, Param};
pub use pipeline::Pipeline;
pub use rdom::{RDom, RVar};
pub use shape::{OutputShape, ShapeDim};
pub use var::Var;

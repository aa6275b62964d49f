//! The loop IR: what lowering works on and what backends compile.
//!
//! Expressions are values without effects; statements form a tree and hold all effects. A [`Program`] carries its
//! [`Stage`]; `verify` states and checks what holds at each one, `eval` runs a program of any stage from `Bounded` on.

pub mod any_lane;
mod buffer_info;
pub mod build;
mod callee;
pub mod code_place;
pub mod device;
pub mod eval;
mod expr;
mod fault;
mod fault_text;
pub mod features;
pub mod footprint;
pub mod hash;
pub mod intrinsic;
mod kernel;
pub mod lanes;
mod loops;
pub mod machine;
pub mod memory_uses;
pub mod parse;
pub mod print;
mod program;
mod same;
#[cfg(test)]
mod samples;
pub mod spelling;
mod step;
mod stmt;
mod sym;
pub mod target;
mod tuning;
mod typing;
pub mod verify;
pub mod visit;
mod words;

pub use buffer_info::{BufferInfo, BufferRole, Memory, Residency, Side, Stream};
pub use callee::{CallArg, Callee};
pub use expr::{Elem, Expr, ExprKind, Intrinsic, Type};
pub use fault::Fault;
pub use halide_core::pipeline::Piece;
pub use kernel::{Kernel, KernelBuffer, Shared, Writes};
pub use loops::{LoopInfo, Partition, PrefetchBound, PrefetchRequest, loops_in};
pub use program::{Program, Stage};
pub use step::{NotOne, Step};
pub use stmt::{Cache, For, ForKind, Stmt, Task};
pub use sym::{BufId, CalleeId, DimField, Edge, FaultId, KernelId, LoopId, PrintId, Scope, Sym, TaskId};

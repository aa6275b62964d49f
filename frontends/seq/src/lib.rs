//! Procs: a small typed functional language of data-parallel primitives over nested sequences, which become
//! [`Pipeline`](halide::Pipeline)s and schedules.
//!
//! The language is that of *Copperhead: Compiling an Embedded Data Parallel Language* (Catanzaro, Garland and Keutzer,
//! 2011). A [`Proc`] is written as text. Its types are inferred, and every mistake has its line and column. A
//! [`Place`] runs it: by the interpreter, which is the definition of correct, or as machine code. Matrices in
//! compressed rows are sequences of sequences:
//!
//! ```
//! use halide_seq::{Data, Nest, Place, Proc};
//! let spmv = Proc::parse("
//! def spmv_csr(vals, cols, x):
//!     def spvv(Ai, j):
//!         z = gather(x, j)
//!         return sum(map(lambda Aij, xj: Aij * xj, Ai, z))
//!     return map(spvv, vals, cols)")?;
//! assert_eq!(spmv.scheme().to_string(), "([[a]], [[Int]], [a]) -> [a]");
//!
//! // Rows [1, 7], [2, 8], [5, 3, 9] and [6, 4] at columns [0, 1], [1, 2], [0, 2, 3] and [1, 3].
//! let offsets = [0, 2, 4, 7, 9];
//! let vals = Data::rows(Data::values(&[1.0f64, 7.0, 2.0, 8.0, 5.0, 3.0, 9.0, 6.0, 4.0])?, &offsets)?;
//! let cols = Data::rows(Data::values(&[0, 1, 1, 2, 0, 2, 3, 1, 3])?, &offsets)?;
//! let x = Data::values(&[1.0f64, 2.0, 3.0, 4.0])?;
//! let y = Place::cpu(2).call(&spmv.nest([Nest::Core, Nest::Seq]), [vals, cols, x])?;
//! assert_eq!(y.to_vec::<f64>()?, [15.0, 28.0, 50.0, 28.0]);
//! # Ok::<(), halide_seq::Error>(())
//! ```
//!
//! How a proc travels: `text` makes the tree (`ast`), `types` infers all types, `lower` walks the tree with symbolic
//! values and makes Funcs of what must be stored, `schedule` writes the schedule, `place` compiles and calls. `meaning`
//! walks the same tree with data: it is what tests hold the rest against. [`primitive`] is the table of primitives.

mod ast;
mod data;
mod error;
mod fault;
mod inference;
mod lower;
mod meaning;
mod mistake;
mod module;
mod place;
mod prelude;
pub mod primitive;
mod proc;
mod schedule;
mod signature;
mod span;
mod text;
mod tuning;
mod types;
mod walk;

pub use data::{Data, Rows};
pub use error::Error;
pub use fault::{Fault, FaultKind};
pub use meaning::Datum;
pub use mistake::{Mistake, MistakeKind, Mistakes, Wanted};
pub use place::{Place, Report};
pub use proc::Proc;
pub use schedule::Nest;
pub use span::Span;
pub use types::{Class, Scheme, Type, Variable};

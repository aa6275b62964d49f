//! Lets every symbol be bound once, so that from here on equal names mean equal values.
//!
//! Before: `Stage::Bounded`; a copied statement (a specialisation, a warm-up) may bind the names of its original again.
//! After: the same stage; the first binding of a symbol keeps its name, every other one has a fresh temporary, and
//! every loop has an id of its own.
//!
//! Example:
//! ```text
//! if in#b0.extent0 < 8 {
//!   let t0 = in#b0.min0
//!   provide out#f1(t0): out#b2 = 0u8
//! } else {
//!   let t0 = in#b0.min0 + 1
//!   provide out#f1(t0): out#b2 = 1u8
//! }
//! ```
//! becomes
//! ```text
//! if in#b0.extent0 < 8 {
//!   let t0 = in#b0.min0
//!   provide out#f1(t0): out#b2 = 0u8
//! } else {
//!   let t4 = in#b0.min0 + 1
//!   provide out#f1(t4): out#b2 = 1u8
//! }
//! ```

use crate::lower::loops::copy::rename_repeated;
use crate::lower::walk;
use halide_ir::Program;

/// Renames symbols and loops that are bound more than once.
pub fn uniquify(program: Program) -> Program {
    walk::map_body(program, rename_repeated)
}

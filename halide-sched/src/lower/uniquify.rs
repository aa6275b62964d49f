//! Lets every symbol be bound once, so that from here on equal names mean equal values.
//!
//! Before: `Stage::Bounded`; a copied statement (a specialisation, a warm-up) may bind the names of its original again.
//! After: the same stage; the first binding of a symbol keeps its name, every other one has a fresh temporary, and every
//! loop has an id of its own.

use super::copy::rename_repeated;
use super::walk;
use crate::ir::Program;

/// Renames symbols and loops that are bound more than once.
pub fn uniquify(program: Program) -> Program {
    walk::map_body(program, rename_repeated)
}

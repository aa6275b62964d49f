//! Interleaved accesses: makes strided accesses of vectors dense.
//!
//! Before: `Stage::Shaped`. After: the same.
//!
//! - Stores that together fill a stretch of memory, each every k-th element (the channels of an interleaved image),
//!   become one dense store of their interleaved lanes, if no other store to the buffer comes between them.
//! - A load of every k-th element becomes dense loads whose lanes are picked, if what these read lies between elements
//!   that the statement reads anyway. Loads of neighbouring elements share the dense loads. Not where other tasks of a
//!   parallel loop store to the buffer: what lies between may be theirs.
//! - Loads of lanes that are further apart, at one constant or unknown distance, and of several neighbouring columns
//!   become dense loads of rows, which are transposed (`tiles`); so do such stores, if their distance is a constant.
//!   A tile has up to 16 bytes of a row, and as many rows as vectors have lanes. It has no elements but those that are
//!   accessed anyway, none of them beyond the end of a row of a constant stride.
//! - A load at `ramp / k`, which reads each element k times, becomes k short loads whose lanes are interleaved.
//!
//! Example:
//! ```text
//! out#b2[ramp(0, 2, 4)] = in#b0[ramp(0, 1, 4)]
//! out#b2[ramp(1, 2, 4)] = in#b0[ramp(8, 1, 4)]
//! out#b2[ramp(in#b0.extent0, 2, 4)] = in#b0[ramp(16, 1, 4)]
//! out#b2[ramp(in#b0.extent0 + 1, 2, 4)] = in#b0[ramp(24, 1, 4)]
//! ```
//! becomes
//! ```text
//! out#b2[ramp(0, 1, 8)] = shuffle([in#b0[ramp(0, 1, 4)], in#b0[ramp(8, 1, 4)]], [0, 4, 1, 5, 2, 6, 3, 7])
//! out#b2[ramp(in#b0.extent0, 1, 8)] = shuffle([in#b0[ramp(16, 1, 4)], in#b0[ramp(24, 1, 4)]], [0, 4, 1, 5, 2, 6, 3, 7])
//! ```
//!
//! Example:
//! ```text
//! out#b2[ramp(0, 1, 2)] = in#b0[ramp(3, in#b0.extent0, 2)]
//! out#b2[ramp(2, 1, 2)] = in#b0[ramp(4, in#b0.extent0, 2)]
//! out#b2[ramp(8, 9, 2)] = in#b0[ramp(3, 1, 2)]
//! out#b2[ramp(9, 9, 2)] = in#b0[ramp(7, 1, 2)]
//! ```
//! becomes
//! ```text
//! out#b2[ramp(0, 1, 2)] = shuffle([in#b0[ramp(3, 1, 2)], in#b0[ramp(in#b0.extent0 + 3, 1, 2)]], [0, 2])
//! out#b2[ramp(2, 1, 2)] = shuffle([in#b0[ramp(3, 1, 2)], in#b0[ramp(in#b0.extent0 + 3, 1, 2)]], [1, 3])
//! out#b2[ramp(8, 1, 2)] = shuffle([in#b0[ramp(3, 1, 2)], in#b0[ramp(7, 1, 2)]], [0, 2])
//! out#b2[ramp(17, 1, 2)] = shuffle([in#b0[ramp(3, 1, 2)], in#b0[ramp(7, 1, 2)]], [1, 3])
//! ```

mod loads;
mod open_rows;
mod stores;
mod strided_store;
mod tile_loads;
mod tile_stores;
mod tiles;

use crate::lower::walk;
use crate::tuning::MOST_STRIDE;
use halide_ir::hash::{Map, Set};
use halide_ir::{BufId, Program, Stmt, visit};

/// Replaces strided by dense accesses.
pub fn interleave(program: Program) -> Program {
    let rows = open_rows::open_rows(&program);
    walk::map_body(program, |body, _| statement(body, &Set::default(), &rows))
}

/// `s` is the body of a loop, a branch, or the whole program: if it runs, all of its straight code does. Other tasks or
/// threads may store to `shared` meanwhile.
fn statement(s: Stmt, shared: &Set<BufId>, rows: &Map<BufId, Vec<i64>>) -> Stmt {
    let reads = loads::Reads::of(&s, shared, rows);
    straight(&reads, s)
}

fn straight(reads: &loads::Reads, s: Stmt) -> Stmt {
    let (shared, rows) = (reads.shared(), reads.rows());
    let made = match s {
        Stmt::For(l) if l.kind.is_threads() => {
            let shared = shared.iter().copied().chain(loads::stored_beyond(&l.body)).collect();
            visit::map_stmt(Stmt::For(l), |e| e.clone(), |s| statement(s, &shared, rows))
        }
        Stmt::For(_) | Stmt::If { .. } | Stmt::Alloc { .. } => {
            visit::map_stmt(s, |e| e.clone(), |s| statement(s, shared, rows))
        }
        other => visit::map_stmt(other, |e| reads.dense(e), |s| straight(reads, s)),
    };
    match made {
        Stmt::Block(list) => stores::interleave(list, rows),
        other => other,
    }
}

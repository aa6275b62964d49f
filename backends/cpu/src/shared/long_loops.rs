//! Loops whose iterations are long, before each of which a run looks at the flag that ends it.

use crate::tuning::POLL_ITERATIONS;
use halide_ir::visit::for_each_stmt;
use halide_ir::{For, Stmt, build};

/// Returns true for a loop that polls: one whose iterations are long.
pub(crate) fn polls(l: &For) -> bool {
    iterations(&l.body) >= POLL_ITERATIONS
}

/// Counts the iterations of inner loops that a statement runs, as far as extents are constants; [`POLL_ITERATIONS`] for
/// one that is not.
fn iterations(s: &Stmt) -> u64 {
    let mut inside = 0u64;
    for_each_stmt(s, |inner| {
        if inside < POLL_ITERATIONS {
            inside = inside.saturating_add(iterations(inner));
        }
    });
    match s {
        Stmt::For(l) => {
            let extent = build::as_int(&l.extent).map_or(POLL_ITERATIONS, |n| n.max(0) as u64);
            extent.saturating_mul(inside.max(1))
        }
        Stmt::Launch { .. } | Stmt::Dispatch { .. } | Stmt::Call { .. } => POLL_ITERATIONS,
        _ => inside,
    }
}

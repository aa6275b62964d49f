//! Intervals of symbols, refined by assertions in front of all accesses.
//!
//! What is asserted outside of loops and branches, before memory is read or written, holds wherever an access is looked
//! at. Assertions are read with what is known so far, and all that was read is forgotten once a round, not once an
//! assertion: a chain of a thousand stages asserts thousands of times.

use crate::access::{LaneOf, Reader, conditions};
use crate::tuning::REFINING_ROUNDS;
use halide_ir::{Expr, ExprKind, Program, Stmt, visit};

/// Refines the intervals of symbols in `reader` until nothing changes, or for some rounds.
pub(super) fn refine(reader: &mut Reader<'_>, program: &Program) {
    for _ in 0..REFINING_ROUNDS {
        let mut is_new = false;
        asserted(reader, &program.body, &mut is_new);
        if !is_new {
            return;
        }
        reader.forget_forms();
    }
}

/// Narrows by the assertions in `s`; returns false where accesses, loops or branches begin.
fn asserted(reader: &mut Reader<'_>, s: &Stmt, is_new: &mut bool) -> bool {
    let mut reads = false;
    visit::for_each_expr(s, |e| reads = reads || loads(e));
    if reads {
        return false;
    }
    visit::deep(|| match s {
        Stmt::Let { body, .. } | Stmt::Produce { body, .. } | Stmt::Alloc { body, .. } => {
            asserted(reader, body, is_new)
        }
        Stmt::Block(list) => list.iter().all(|s| asserted(reader, s, is_new)),
        Stmt::Assert { cond, .. } => {
            let mut list = Vec::new();
            conditions(reader, cond, true, &LaneOf::default(), &mut list);
            list.iter().for_each(|p| *is_new |= reader.refine(p));
            true
        }
        _ => false,
    })
}

fn loads(e: &Expr) -> bool {
    visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { .. }))
}

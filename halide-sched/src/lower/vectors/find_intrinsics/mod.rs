//! Instruction selection of narrow arithmetic: finds cheaper forms of integer arithmetic on vectors.
//!
//! Before: `Stage::Shaped`. After: the same; every value is the same, of the same type.
//!
//! Portable code widens before it adds, so that nothing overflows. A machine has instructions for what is meant, and
//! twice as many lanes of half the width:
//!
//! - idioms, by the table of `idioms`: averages, absolute differences, what is clamped to its type, products
//!   of which the high half, a rounded part or all of twice the width is meant;
//! - arithmetic in a wide type of values that are narrow, whose result is made narrow again or compared (`narrow`);
//! - indices that data decides (`index`).
//!
//! Only vectors are rewritten: scalars are as wide as a register anyway.
//!
//! Example:
//! ```text
//! out#b2[ramp(0, 1, 8)] = u8x8((u16x8(in#b0[ramp(0, 1, 8)]) + u16x8(in#b0[ramp(1, 1, 8)]) + x8(1u16)) / x8(2u16))
//! ```
//! becomes
//! ```text
//! out#b2[ramp(0, 1, 8)] = rounding_halving_add(in#b0[ramp(0, 1, 8)], in#b0[ramp(1, 1, 8)])
//! ```

mod index;
mod narrow;

use crate::idioms;
use crate::lower::walk;
use halide_ir::visit::{self, Memo};
use halide_ir::{Expr, ExprKind, Program, Stmt, build};
use halide_solve::simplify::Facts;

/// Replaces integer idioms by intrinsics and narrow arithmetic. `facts` holds what is known of arguments.
pub fn find_intrinsics(program: Program, facts: &Facts) -> Program {
    walk::map_body(program, |body, _| statement(&mut facts.clone(), body))
}

fn statement(facts: &mut Facts, s: Stmt) -> Stmt {
    walk::map_stmt_under(s, facts, |facts| facts, |facts, e| expression(e, facts), statement)
}

fn expression(e: &Expr, facts: &Facts) -> Expr {
    let narrow = Memo::new().rewrite(e, |n, done| {
        let n = visit::map_children(n, done);
        if n.lanes() == 1 { n } else { cheaper(&n, facts).unwrap_or(n) }
    });
    // Last, since the others know products as products.
    Memo::new().rewrite(&narrow, |n, done| {
        let n = visit::map_children(n, done);
        if n.lanes() == 1 { n } else { idioms::replace(idioms::PRODUCTS, &n, facts).unwrap_or(n) }
    })
}

/// A cheaper form of a vector node.
fn cheaper(e: &Expr, facts: &Facts) -> Option<Expr> {
    let ty = e.ty().scalar()?;
    match e.kind() {
        ExprKind::Load { buf, index, mask } if index.lanes() > 1 => {
            index::in_32_bits(index, facts).map(|index| build::load(*buf, ty, index, mask.clone()))
        }
        ExprKind::Binary(op, a, b) if op.is_comparison() => narrow::comparison(*op, a, b, facts),
        _ => match idioms::replace(idioms::IDIOMS, e, facts) {
            // The sum that is clamped may be one of narrow values.
            Some(made) if matches!(made.kind(), ExprKind::SaturatingCast(_)) => {
                Some(cheaper(&made, facts).unwrap_or(made))
            }
            None => narrow::conversion(e, ty, facts),
            made => made,
        },
    }
}

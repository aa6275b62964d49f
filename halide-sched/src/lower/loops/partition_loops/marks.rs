//! Marks of likely operands: the operand of a minimum or of a choice that is the one of the steady state.

use halide_core::ops::BinOp;
use halide_ir::visit;
use halide_ir::{Expr, ExprKind};

/// The marks of likely operands in an expression.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    /// Anything at all.
    pub(super) any: bool,
    /// Something that no minimum, maximum, select or load inside has used up.
    pub(super) open: bool,
}

impl Marks {
    pub(super) fn of(n: &Expr, of: &dyn Fn(&Expr) -> Marks) -> Marks {
        let (mut any, mut open) = (false, false);
        visit::for_each_child(n, |c| {
            let m = of(c);
            any |= m.any;
            open |= m.open;
        });
        match n.kind() {
            ExprKind::Likely(_) => Marks { any: true, open: true },
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) if likely_side(&of(a), &of(b)).is_some() => {
                Marks { any, open: false }
            }
            ExprKind::Select(_, a, b) => Marks { any, open: of(a).open || of(b).open },
            ExprKind::Load { .. } | ExprKind::Read { .. } => Marks { any, open: false },
            _ => Marks { any, open },
        }
    }
}

/// Returns true if `a` is the likely operand, and false if `b` is: the one with a mark of its own, or else the one with
/// any mark.
pub(super) fn likely_side(a: &Marks, b: &Marks) -> Option<bool> {
    match (a.open, b.open, a.any, b.any) {
        (true, false, ..) => Some(true),
        (false, true, ..) => Some(false),
        (false, false, true, false) => Some(true),
        (false, false, false, true) => Some(false),
        _ => None,
    }
}

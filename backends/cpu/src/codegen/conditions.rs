//! The condition codes of comparisons.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use halide_core::ops::BinOp;

/// The condition code of a comparison.
pub(super) fn int_condition(op: BinOp, signed: bool) -> IntCC {
    match (op, signed) {
        (BinOp::Eq, _) => IntCC::Equal,
        (BinOp::Lt, true) => IntCC::SignedLessThan,
        (BinOp::Lt, false) => IntCC::UnsignedLessThan,
        (BinOp::Le, true) => IntCC::SignedLessThanOrEqual,
        (BinOp::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (BinOp::Gt, true) => IntCC::SignedGreaterThan,
        (BinOp::Gt, false) => IntCC::UnsignedGreaterThan,
        (BinOp::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (BinOp::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
        _ => IntCC::NotEqual,
    }
}

/// The condition code of a comparison; `None` of other operators.
pub(super) fn float_condition(op: BinOp) -> Option<FloatCC> {
    Some(match op {
        BinOp::Eq => FloatCC::Equal,
        BinOp::Ne => FloatCC::NotEqual,
        BinOp::Lt => FloatCC::LessThan,
        BinOp::Le => FloatCC::LessThanOrEqual,
        BinOp::Gt => FloatCC::GreaterThan,
        BinOp::Ge => FloatCC::GreaterThanOrEqual,
        _ => return None,
    })
}

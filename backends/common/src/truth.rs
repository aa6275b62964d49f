//! Operators on `Bool`, which computes as a one-bit unsigned integer.

use halide_core::ops::BinOp;

/// A function of two truths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TruthOp {
    /// False.
    Never,
    /// Both.
    And,
    /// Either.
    Or,
    /// Just one.
    Xor,
    /// Both or neither.
    Same,
    /// The second, but not the first.
    Less,
    /// The second, or not the first.
    LessOrEqual,
}

/// Returns the function that an operator on `Bool` is, and true if it takes its operands the other way around. `None`
/// of shifts, which take an amount.
pub fn truth_op(op: BinOp) -> Option<(TruthOp, bool)> {
    Some(match op {
        BinOp::Add | BinOp::Sub | BinOp::BitXor | BinOp::Absd | BinOp::Ne => (TruthOp::Xor, false),
        // x / 0 = 0, so a quotient of truths is their conjunction, and a remainder is never left.
        BinOp::Mul | BinOp::Div | BinOp::DivToZero | BinOp::Min | BinOp::BitAnd => (TruthOp::And, false),
        BinOp::Mod | BinOp::ModToZero => (TruthOp::Never, false),
        BinOp::Max | BinOp::BitOr => (TruthOp::Or, false),
        BinOp::Eq => (TruthOp::Same, false),
        BinOp::Lt => (TruthOp::Less, false),
        BinOp::Gt => (TruthOp::Less, true),
        BinOp::Le => (TruthOp::LessOrEqual, false),
        BinOp::Ge => (TruthOp::LessOrEqual, true),
        BinOp::Shl | BinOp::Shr => return None,
    })
}

//! Classes of operations on data.

use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Elem, Expr, ExprKind};
use std::fmt;

/// A class of operations that cost a processor about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Sums and differences, also absolute ones, negations and absolute values.
    Add,
    /// Products.
    Multiply,
    /// Quotients and remainders.
    Divide,
    /// The smaller or the larger one.
    MinMax,
    /// Comparisons, and questions about floats; the type is that of the operands.
    Compare,
    /// Bit by bit, and shifts and counts of bits.
    Bits,
    /// The choice of one of two values.
    Select,
    /// Conversions; the type is the one converted to.
    Convert,
    /// Roundings of floats to whole numbers.
    Round,
    /// Square roots.
    Sqrt,
    /// Functions such as `exp` and `sin`.
    Math,
    /// Operations that machines have: saturating, rounding, widening.
    Intrinsic,
}

impl Operation {
    /// Returns the class and the type of a node that computes data; `None` for others, also for arithmetic on
    /// coordinates, which costs little or nothing.
    pub(super) fn class(n: &Expr) -> Option<(Operation, ScalarType)> {
        let Elem::Data(ty) = n.ty().elem else { return None };
        let operation = match n.kind() {
            ExprKind::Unary(op, _) => of_unary(*op),
            ExprKind::Binary(op, ..) => of_binary(*op),
            ExprKind::Select(..) => Operation::Select,
            ExprKind::Cast(_) | ExprKind::SaturatingCast(_) => Operation::Convert,
            ExprKind::Math(..) => Operation::Math,
            ExprKind::Intrinsic(..) => Operation::Intrinsic,
            ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Sym(_) | ExprKind::Param(_) => return None,
            ExprKind::Reinterpret(_) | ExprKind::Likely(_) | ExprKind::Read { .. } | ExprKind::Load { .. } => {
                return None;
            }
            ExprKind::Ramp { .. } | ExprKind::Broadcast(_) | ExprKind::Shuffle(..) => return None,
        };
        let compared = match n.kind() {
            ExprKind::Unary(_, a) | ExprKind::Binary(_, a, _) if operation == Operation::Compare => a.ty().elem,
            _ => Elem::Data(ty),
        };
        // A comparison of coordinates decides about data, and counts as one of truth values.
        Some((operation, if let Elem::Data(ty) = compared { ty } else { ty }))
    }
}

fn of_unary(op: UnOp) -> Operation {
    match op {
        UnOp::Neg | UnOp::Abs => Operation::Add,
        UnOp::Not | UnOp::Popcount | UnOp::Clz | UnOp::Ctz => Operation::Bits,
        UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc => Operation::Round,
        UnOp::Sqrt => Operation::Sqrt,
        UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite => Operation::Compare,
    }
}

fn of_binary(op: BinOp) -> Operation {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Absd => Operation::Add,
        BinOp::Mul => Operation::Multiply,
        BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero => Operation::Divide,
        BinOp::Min | BinOp::Max => Operation::MinMax,
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr => Operation::Bits,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Operation::Compare,
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Add => "add",
            Operation::Multiply => "multiply",
            Operation::Divide => "divide",
            Operation::MinMax => "min, max",
            Operation::Compare => "compare",
            Operation::Bits => "bits",
            Operation::Select => "select",
            Operation::Convert => "convert",
            Operation::Round => "round",
            Operation::Sqrt => "sqrt",
            Operation::Math => "math",
            Operation::Intrinsic => "intrinsic",
        })
    }
}

//! Lengths that are known before a run: arithmetic of the lengths of arguments and of integer arguments.

use halide_core::Expr;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use std::sync::Arc;

/// A length, or a number that lengths are made of.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Size {
    Constant(i32),
    /// The extent of an input buffer.
    Extent(usize),
    /// A scalar argument.
    Scalar(usize),
    Binary(BinOp, Arc<[Size; 2]>),
}

/// The numbers of one call that sizes are computed of.
pub(crate) struct Given<'a> {
    /// The extents of input buffers.
    pub(crate) extents: &'a [i64],
    /// Scalar arguments.
    pub(crate) scalars: &'a [Scalar],
}

impl Size {
    /// The operators that sizes may be made with.
    pub(crate) fn has(op: BinOp) -> bool {
        use BinOp::*;
        matches!(op, Add | Sub | Mul | Div | Mod | Min | Max)
    }

    pub(crate) fn binary(op: BinOp, a: Size, b: Size) -> Size {
        Size::Binary(op, Arc::new([a, b]))
    }

    /// The number in one call; computed as the proc's own Int.
    pub(crate) fn value(&self, given: &Given) -> i32 {
        match self {
            Size::Constant(value) => *value,
            Size::Extent(input) => given.extents[*input] as i32,
            Size::Scalar(input) => given.scalars[*input].as_i64() as i32,
            Size::Binary(op, operands) => {
                let [a, b] = [0, 1].map(|i| Scalar::int(ScalarType::I32, i128::from(operands[i].value(given))));
                value::binary(*op, a, b).as_i64() as i32
            }
        }
    }

    /// The number in a pipeline.
    pub(crate) fn expr(&self, extents: &dyn Fn(usize) -> Expr, scalars: &dyn Fn(usize) -> Expr) -> Expr {
        match self {
            Size::Constant(value) => halide_core::IntoExpr::expr(*value),
            Size::Extent(input) => extents(*input),
            Size::Scalar(input) => scalars(*input),
            Size::Binary(op, operands) => {
                let [a, b] = [0, 1].map(|i| operands[i].expr(extents, scalars));
                halide_core::expr::dynamic::binary(*op, a, b)
            }
        }
    }
}

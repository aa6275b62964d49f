//! Integers of data as coordinates.

use crate::simplify::{Facts, Linear, Range, simplify};
use crate::tuning::DEEP_SUM;
use halide_core::ops::BinOp;
use halide_ir::{Expr, ExprKind, build};

/// The value of a scalar integer expression as a sum of coordinates: sums of data that do not wrap are opened.
pub fn exact(e: &Expr, facts: &Facts) -> Linear {
    Linear::of(&simplify(&opened(e, facts, DEEP_SUM), facts))
}

fn opened(e: &Expr, facts: &Facts, deep: u32) -> Expr {
    let whole = build::to_index(e.clone());
    let (Some(ty), ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b)) = (e.ty().scalar(), e.kind()) else {
        return whole;
    };
    if deep == 0 {
        return whole;
    }
    let sum = build::binary(*op, opened(a, facts, deep - 1), opened(b, facts, deep - 1));
    let (least, most) = facts.range(&sum);
    let range = Range::new(least.map(i128::from), most.map(i128::from));
    if range.within(Range::of_type(ty)) { sum } else { whole }
}

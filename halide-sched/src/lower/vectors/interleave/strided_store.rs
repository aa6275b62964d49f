//! Stores of every k-th element.

use crate::lower::code::polynomial::{Factors, Sum, sum_of};
use crate::lower::vectors::lanes::{self, Shape};
use halide_ir::{BufId, Expr, Stmt, build};

/// The common key of stores that may fill one stretch: everything but the constant part of the base.
#[derive(PartialEq, Eq, Hash, Clone)]
pub(super) struct Family {
    pub(super) buf: BufId,
    pub(super) stride: i64,
    pub(super) lanes: u16,
    pub(super) base: Vec<(Factors, i64)>,
}

/// A store of every `stride`-th element.
#[derive(Clone)]
pub(super) struct Part {
    /// Its position among the stores.
    pub(super) at: usize,
    /// The constant part of the base.
    pub(super) first: i64,
    /// The rest of the base.
    pub(super) rest: Expr,
    pub(super) family: Family,
    pub(super) value: Expr,
}

/// The store of every k-th element that a statement is.
pub(super) fn strided(at: usize, s: &Stmt) -> Option<Part> {
    let Stmt::Store { buf, index, value, mask: None } = s else { return None };
    let Shape::Ramp(base, stride) = lanes::shape(index) else { return None };
    let stride = build::as_int(&stride).filter(|s| (2..=i32::MAX.into()).contains(s))?;
    let base = Sum::of(&base)?;
    let family = Family { buf: *buf, stride, lanes: index.lanes(), base: base.key() };
    Some(Part { at, first: base.constant, rest: sum_of(base.terms()), family, value: value.clone() })
}

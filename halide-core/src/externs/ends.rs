//! Index expressions over the ends of the region that an extern stage is asked for.

use super::end_mistake::EndMistake;
use crate::buffer::Region;
use crate::tuning::MOST_END_DEPTH;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::sync::Arc;

/// An index expression over the ends of a region: what [`Extern::needs_box`](super::Extern::needs_box) says boxes in.
/// Arithmetic is exact in 64 bits; a result beyond them ends the run. Quotients and remainders are as in the language:
/// a remainder is never negative, and a quotient by zero is zero.
///
/// ```
/// use halide_core::externs::{End, RegionEnds};
/// let region = RegionEnds::default();
/// let above: End = region.min(1) - 2;
/// assert_eq!(above.max(0), (region.min(1) - 2).max(0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct End {
    pub(crate) kind: EndKind,
    /// The most operations on the way to an operand.
    depth: usize,
}

/// The boxes that a stage needs: for each input the first and the last coordinate of each dimension.
pub type Boxes = Vec<Vec<(End, End)>>;

/// The kinds of index expressions over the ends of a region.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EndKind {
    /// The first coordinate of a dimension.
    Min(usize),
    /// The last coordinate of a dimension.
    Max(usize),
    /// A parameter of the stage, in the order in which they were named.
    Param(usize),
    /// A constant.
    Int(i64),
    /// An operation on two others.
    Binary(EndOp, Arc<End>, Arc<End>),
    /// An expression of more operations in each other than there may be.
    TooDeep,
}

/// The operations of index expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Euclidean quotient; x / 0 = 0.
    Div,
    /// Euclidean remainder; x % 0 = 0.
    Rem,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

impl EndOp {
    fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            EndOp::Add => a.checked_add(b),
            EndOp::Sub => a.checked_sub(b),
            EndOp::Mul => a.checked_mul(b),
            EndOp::Div | EndOp::Rem if b == 0 => Some(0),
            EndOp::Div => a.checked_div_euclid(b),
            EndOp::Rem => Some(a.wrapping_rem_euclid(b)),
            EndOp::Min => Some(a.min(b)),
            EndOp::Max => Some(a.max(b)),
        }
    }
}

impl End {
    fn new(kind: EndKind) -> End {
        End { kind, depth: 0 }
    }
    fn binary(op: EndOp, a: End, b: End) -> End {
        let depth = a.depth.max(b.depth) + 1;
        if depth > MOST_END_DEPTH {
            return End::new(EndKind::TooDeep);
        }
        End { kind: EndKind::Binary(op, Arc::new(a), Arc::new(b)), depth }
    }
    /// The kind of the expression, with its operands.
    pub fn kind(&self) -> &EndKind {
        &self.kind
    }
    /// Returns the smaller of two.
    pub fn min(self, other: impl Into<End>) -> End {
        End::binary(EndOp::Min, self, other.into())
    }
    /// Returns the larger of two.
    pub fn max(self, other: impl Into<End>) -> End {
        End::binary(EndOp::Max, self, other.into())
    }

    /// The value for a region; `None` where it leaves 64 bits.
    pub(crate) fn value(&self, region: &Region, params: &[Scalar]) -> Option<i64> {
        match &self.kind {
            EndKind::Min(dim) => Some(region.spans().get(*dim)?.min),
            EndKind::Max(dim) => region.spans().get(*dim)?.end().checked_sub(1),
            EndKind::Param(param) => params.get(*param)?.as_i128().try_into().ok(),
            EndKind::Int(value) => Some(*value),
            EndKind::Binary(op, a, b) => op.apply(a.value(region, params)?, b.value(region, params)?),
            EndKind::TooDeep => None,
        }
    }

    /// The defect of an expression of a stage with `dims` dimensions and parameters of these types, if it has one.
    pub(crate) fn mistake(&self, dims: usize, params: &[ScalarType]) -> Option<EndMistake> {
        match &self.kind {
            EndKind::Min(dim) | EndKind::Max(dim) if *dim >= dims => Some(EndMistake::Dim { dim: *dim, dims }),
            EndKind::Param(param) => match params.get(*param) {
                None => Some(EndMistake::Param { param: *param, params: params.len() }),
                Some(ty) if ty.is_float() => Some(EndMistake::Float { param: *param }),
                Some(_) => None,
            },
            EndKind::Binary(_, a, b) => a.mistake(dims, params).or_else(|| b.mistake(dims, params)),
            EndKind::TooDeep => Some(EndMistake::TooDeep { most: MOST_END_DEPTH }),
            EndKind::Min(_) | EndKind::Max(_) | EndKind::Int(_) => None,
        }
    }
}

impl From<i64> for End {
    fn from(value: i64) -> End {
        End::new(EndKind::Int(value))
    }
}

impl From<i32> for End {
    fn from(value: i32) -> End {
        End::from(i64::from(value))
    }
}

macro_rules! operators {
    ($($of:ident $method:ident;)*) => {
        $(impl<T: Into<End>> $of<T> for End {
            type Output = End;
            fn $method(self, other: T) -> End {
                End::binary(EndOp::$of, self, other.into())
            }
        })*
    };
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
    Rem rem;
}

impl Neg for End {
    type Output = End;
    fn neg(self) -> End {
        End::binary(EndOp::Sub, End::from(0), self)
    }
}

/// The ends of the region that a stage is asked for, as index expressions.
#[derive(Clone, Debug, Default)]
pub struct RegionEnds {}

impl RegionEnds {
    /// The first coordinate of a dimension.
    pub fn min(&self, dim: usize) -> End {
        End::new(EndKind::Min(dim))
    }
    /// The last coordinate of a dimension.
    pub fn max(&self, dim: usize) -> End {
        End::new(EndKind::Max(dim))
    }
    /// The first and the last coordinate of a dimension.
    pub fn ends(&self, dim: usize) -> (End, End) {
        (self.min(dim), self.max(dim))
    }
    /// The number of coordinates of a dimension.
    pub fn extent(&self, dim: usize) -> End {
        self.max(dim) - self.min(dim) + 1
    }
    /// An integer parameter of the stage, in the order in which they were named.
    pub fn param(&self, param: usize) -> End {
        End::new(EndKind::Param(param))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_language() {
        let (ends, region) = (RegionEnds::default(), Region::of_spans([(-7, 5), (3, 1)]));
        let value = |end: End| end.value(&region, &[Scalar::from(9i32), Scalar::from(u64::MAX)]);
        assert_eq!(value(ends.min(0) / 2), Some(-4));
        assert_eq!(value(ends.min(0) % 4), Some(1));
        assert_eq!(value(ends.max(0) / 0), Some(0));
        assert_eq!(value(ends.max(0) % 0), Some(0));
        assert_eq!(value(-ends.max(0) * ends.extent(0) + ends.param(0)), Some(24));
        assert_eq!(value(ends.min(0).max(ends.min(1)).min(2)), Some(2));
        // Beyond 64 bits.
        assert_eq!(value(ends.param(1)), None);
        assert_eq!(value(End::from(i64::MAX) + 1), None);
        assert_eq!(value(End::from(i64::MIN) / -1), None);
        // No such dimension, no such parameter.
        assert_eq!((value(ends.min(2)), value(ends.param(2))), (None, None));
    }

    #[test]
    fn mistakes_are_found_in_operands() {
        let ends = RegionEnds::default();
        let of = |end: End| end.mistake(1, &[ScalarType::I32, ScalarType::F32]);
        assert_eq!(of(ends.min(0) - ends.param(0)), None);
        assert_eq!(of(ends.min(0) - ends.max(1)), Some(EndMistake::Dim { dim: 1, dims: 1 }));
        assert_eq!(of(ends.param(2) + 1), Some(EndMistake::Param { param: 2, params: 2 }));
        assert_eq!(of(ends.param(1) + 1), Some(EndMistake::Float { param: 1 }));
        let deep = (0..100_000).fold(ends.min(0), |end, _| end + 1);
        assert_eq!(of(deep), Some(EndMistake::TooDeep { most: MOST_END_DEPTH }));
    }
}

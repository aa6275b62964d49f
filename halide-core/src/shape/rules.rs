//! Rules for the caller's buffers in a frozen pipeline.

use crate::ids::{ExprId, FuncId, ImageId};
use crate::location::Location;
use crate::pipeline::node::DimField;

/// A buffer that the caller gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BufferOf {
    /// The buffer of an input image.
    Image(ImageId),
    /// The buffer of each element of an output.
    Output(FuncId),
}

/// One rule for one dimension of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShapeRule {
    /// The buffer that the rule is for.
    pub of: BufferOf,
    /// The dimension; the buffer has it.
    pub dim: usize,
    /// The property of the dimension.
    pub field: DimField,
    /// The requirement on the property.
    pub law: Law,
    /// The place in the source where the rule was made.
    pub at: Location,
}

/// A requirement on a property of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// This: index arithmetic over parameters, image dimensions and constants.
    Is(ExprId),
    /// A multiple of this, which is at least 1.
    MultipleOf(i64),
}

/// The address that the first element of a buffer must have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlignmentRule {
    /// The buffer that the rule is for.
    pub of: BufferOf,
    /// A multiple of this many bytes: a power of two.
    pub bytes: u64,
    /// The place in the source where the rule was made.
    pub at: Location,
}

/// The expected coordinates of a dimension: nothing is checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Estimate {
    /// The buffer.
    pub of: BufferOf,
    /// The dimension.
    pub dim: usize,
    /// The first coordinate.
    pub min: i32,
    /// The number of coordinates.
    pub extent: i32,
}

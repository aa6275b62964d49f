//! Mistakes in index expressions over the ends of a region.

use std::fmt;

/// The ways in which an index expression over the ends of a stage's region makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndMistake {
    /// It speaks of a dimension that the stage does not have.
    Dim {
        /// The dimension.
        dim: usize,
        /// The number of dimensions.
        dims: usize,
    },
    /// It speaks of a parameter that the stage does not have.
    Param {
        /// The parameter.
        param: usize,
        /// The number of parameters.
        params: usize,
    },
    /// It speaks of a parameter that is a float.
    Float {
        /// The parameter.
        param: usize,
    },
    /// It has too many operations in each other.
    TooDeep {
        /// The most that it may have.
        most: usize,
    },
}

impl fmt::Display for EndMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndMistake::Dim { dim, dims } => write!(f, "dimension {dim} of a region that has {dims}"),
            EndMistake::Param { param, params } => write!(f, "parameter {param} of a stage that has {params}"),
            EndMistake::Float { param } => write!(f, "parameter {param}, which is a float"),
            EndMistake::TooDeep { most } => write!(f, "more than {most} operations in each other"),
        }
    }
}

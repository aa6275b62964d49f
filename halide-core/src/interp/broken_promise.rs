//! Elements of inputs that are not as promised.

use std::fmt;

/// An element of an input that breaks a promise of the pipeline.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum BrokenPromise {
    /// An element outside of the range that the pipeline promises of its image's.
    Range {
        /// The image.
        image: String,
        /// The coordinates of the element.
        at: Vec<i32>,
        /// The element.
        value: Box<i128>,
        /// The least that is promised.
        min: i64,
        /// The most.
        max: i64,
    },
    /// An element that is no coordinate of another image, although that is promised.
    Coordinate {
        /// The image.
        image: String,
        /// The coordinates of the element.
        at: Vec<i32>,
        /// The element.
        value: Box<i128>,
        /// The image whose coordinates the elements are promised to be.
        of: String,
        /// The dimension of that image.
        dim: usize,
        /// The first coordinate of that dimension.
        min: i64,
        /// The last.
        max: i64,
    },
    /// An element less than the one before it, in an image whose elements are promised to grow.
    Growth {
        /// The image.
        image: String,
        /// The dimension along which they grow.
        dim: usize,
        /// The coordinates of the element.
        at: Vec<i32>,
        /// The element.
        value: Box<i128>,
        /// The one before it.
        before: Box<i128>,
    },
    /// Two equal elements, in an image whose elements are promised to be distinct.
    Distinct {
        /// The image.
        image: String,
        /// The coordinates of the first of them.
        first: Vec<i32>,
        /// The coordinates of the second.
        second: Vec<i32>,
        /// The elements.
        value: Box<i128>,
    },
}

impl fmt::Display for BrokenPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BrokenPromise::Range { image, at, value, min, max } => write!(
                f,
                "input `{image}` has {value} at {at:?}, but its elements are promised to be in {min} to {max}; give \
                 other data, or change the promise"
            ),
            BrokenPromise::Coordinate { image, at, value, of, dim, min, max } => write!(
                f,
                "input `{image}` has {value} at {at:?}, but its elements are promised to be coordinates of dimension \
                 {dim} of `{of}`, which are {min} to {max} here; give other data, or a larger `{of}`"
            ),
            BrokenPromise::Growth { image, dim, at, value, before } => write!(
                f,
                "input `{image}` falls from {before} to {value} at {at:?}, but its elements are promised to grow \
                 along dimension {dim}; give other data, or take the promise back"
            ),
            BrokenPromise::Distinct { image, first, second, value } => write!(
                f,
                "input `{image}` has {value} at {first:?} and at {second:?}, but its elements are promised to be \
                 distinct; give other data, or take the promise back"
            ),
        }
    }
}

crate::error::debug_is_display!(BrokenPromise);

impl std::error::Error for BrokenPromise {}

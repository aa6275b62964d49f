//! Promises of the caller about the elements of an input image: checked before a run, and then facts for
//! bounds.

use crate::ids::ImageId;

/// The promise that the elements of an integer image are coordinates of another image, or of the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoordinatePromise {
    /// The image whose coordinates they are.
    pub image: ImageId,
    /// The dimension.
    pub dim: usize,
}

/// The promises about the elements of an integer image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ValuePromise {
    /// The smallest and the largest element.
    pub range: Option<(i64, i64)>,
    /// The dimension along which elements never fall.
    pub grows: Option<usize>,
    /// True if no two elements are equal.
    pub distinct: bool,
}

impl ValuePromise {
    /// Returns true if nothing is promised.
    pub fn is_nothing(self) -> bool {
        self == ValuePromise::default()
    }
    /// The promise that holds if both are made; of two dimensions of growth, the first.
    pub fn and(self, other: ValuePromise) -> ValuePromise {
        let range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((a.max(c), b.min(d))),
            (a, b) => a.or(b),
        };
        ValuePromise { range, grows: self.grows.or(other.grows), distinct: self.distinct || other.distinct }
    }
}

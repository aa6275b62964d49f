//! Boxes of coordinates.

use super::BufferError;
use std::fmt;

/// Integers that users write as coordinates, mins and extents.
pub trait Coordinate: Copy {
    /// The value, saturated to i64.
    fn to_i64(self) -> i64;
}

macro_rules! coordinates {
    ($($ty:ty),*) => {$(
        impl Coordinate for $ty {
            fn to_i64(self) -> i64 { i64::try_from(self).unwrap_or(i64::MAX) }
        }
    )*};
}

coordinates!(i32, i64, u8, u16, u32, u64, usize);

/// Extents of the dimensions of a box that starts at zero: arrays, slices and vectors of integers.
pub trait Extents {
    /// The box.
    fn region(&self) -> Region;
}

impl<C: Coordinate> Extents for [C] {
    fn region(&self) -> Region {
        Region::of_extents(self)
    }
}

impl<C: Coordinate, const N: usize> Extents for [C; N] {
    fn region(&self) -> Region {
        Region::of_extents(self)
    }
}

impl<C: Coordinate> Extents for Vec<C> {
    fn region(&self) -> Region {
        Region::of_extents(self)
    }
}

impl<E: Extents + ?Sized> Extents for &E {
    fn region(&self) -> Region {
        (**self).region()
    }
}

/// The coordinates of one dimension: `min`, `min + 1`, ... `extent` of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The first coordinate.
    pub min: i64,
    /// The number of coordinates.
    pub extent: i64,
}

impl Span {
    /// One past the last coordinate; saturates.
    pub fn end(self) -> i64 {
        self.min.saturating_add(self.extent)
    }
    /// Returns true if `at` is one of the coordinates.
    pub fn contains(self, at: i64) -> bool {
        at >= self.min && at < self.end()
    }
}

/// A box of coordinates: one [`Span`] per dimension, first dimension first.
///
/// ```
/// use halide_core::buffer::Region;
/// let (tile, image) = (Region::of_spans([(-2, 8), (4, 8)]), Region::of_extents([64, 48]));
/// assert_eq!((tile.points(), tile.contains([-2, 11])), (Some(64), true));
/// assert_eq!(tile.around(&image), Region::of_spans([(-2, 66), (0, 48)]));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Region {
    spans: Vec<Span>,
}

impl Region {
    /// The box with these spans.
    pub fn new(spans: impl Into<Vec<Span>>) -> Region {
        Region { spans: spans.into() }
    }
    /// The box that starts at zero.
    pub fn of_extents<C: Coordinate>(extents: impl AsRef<[C]>) -> Region {
        extents.as_ref().iter().map(|e| Span { min: 0, extent: e.to_i64() }).collect()
    }
    /// The box with these `(min, extent)` pairs.
    pub fn of_spans<C: Coordinate>(spans: impl AsRef<[(C, C)]>) -> Region {
        spans.as_ref().iter().map(|(m, e)| Span { min: m.to_i64(), extent: e.to_i64() }).collect()
    }
    /// One span per dimension.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.spans.len()
    }
    /// Returns true if there is no point in it.
    pub fn is_empty(&self) -> bool {
        self.spans.iter().any(|s| s.extent <= 0)
    }
    /// The number of points; `None` beyond u64.
    pub fn points(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        self.spans.iter().try_fold(1u64, |n, s| n.checked_mul(s.extent as u64))
    }
    /// Returns true if the point is inside; a point with another number of coordinates is not.
    pub fn contains<C: Coordinate>(&self, at: impl AsRef<[C]>) -> bool {
        let at = at.as_ref();
        at.len() == self.spans.len() && self.spans.iter().zip(at).all(|(s, c)| s.contains(c.to_i64()))
    }
    /// The smallest box that holds both; one that is empty does not count.
    pub fn around(&self, other: &Region) -> Region {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => self.clone(),
            (true, _) => other.clone(),
            (false, false) => {
                let both = self.spans.iter().zip(&other.spans);
                let span = |(a, b): (&Span, &Span)| {
                    let (min, end) = (a.min.min(b.min), a.end().max(b.end()));
                    Span { min, extent: end - min }
                };
                both.map(span).collect()
            }
        }
    }
    /// Refuses negative extents and coordinates outside i32.
    pub fn check(&self) -> Result<(), BufferError> {
        let range = i32::MIN as i64..=i32::MAX as i64 + 1;
        for (dim, &Span { min, extent }) in self.spans.iter().enumerate() {
            if extent < 0 {
                return Err(BufferError::NegativeExtent { dim, extent });
            }
            if !range.contains(&min) || min.checked_add(extent).is_none_or(|end| !range.contains(&end)) {
                return Err(BufferError::CoordinateRange { dim, min, extent });
            }
        }
        Ok(())
    }
    /// Every point, first dimension fastest.
    pub fn coords(&self) -> Coords {
        let next = (!self.is_empty()).then(|| self.spans.iter().map(|s| s.min as i32).collect());
        Coords { spans: self.spans.clone(), next }
    }
}

impl FromIterator<Span> for Region {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Region {
        Region { spans: spans.into_iter().collect() }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, s) in self.spans.iter().enumerate() {
            write!(f, "{}{}..{}", if i == 0 { "" } else { ", " }, s.min, s.end())?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The points of a [`Region`], first dimension fastest.
#[derive(Clone, Debug)]
pub struct Coords {
    spans: Vec<Span>,
    next: Option<Vec<i32>>,
}

impl Iterator for Coords {
    type Item = Vec<i32>;
    fn next(&mut self) -> Option<Vec<i32>> {
        let now = self.next.clone()?;
        let advanced = self.next.as_mut().is_some_and(|at| advance(&self.spans, at));
        if !advanced {
            self.next = None;
        }
        Some(now)
    }
}

/// Moves `at` to the next point of the box, first dimension fastest; false after the last.
pub(crate) fn advance(spans: &[Span], at: &mut [i32]) -> bool {
    for (span, c) in spans.iter().zip(at) {
        if (*c as i64) + 1 < span.end() {
            *c += 1;
            return true;
        }
        *c = span.min as i32;
    }
    false
}

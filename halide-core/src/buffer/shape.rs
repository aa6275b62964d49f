//! Layout of the elements of a view: dimensions with strides, and the arithmetic of views. No memory here.

use super::error::BufferError;
use super::region::{Coordinate, Region, Span};
use crate::types::ScalarType;

/// One dimension of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim {
    /// The first coordinate.
    pub min: i64,
    /// The number of coordinates.
    pub extent: i64,
    /// The distance in elements between neighbours.
    pub stride: i64,
}

impl Dim {
    /// Its coordinates.
    pub fn span(self) -> Span {
        Span { min: self.min, extent: self.extent }
    }
    /// The last coordinate; `min - 1` when there is none.
    pub fn max(self) -> i64 {
        self.min + self.extent - 1
    }
}

/// The place of every element of a view in its storage.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The index in the storage of the element at the min coordinates.
    pub(crate) offset: i64,
    pub(crate) dims: Vec<Dim>,
}

impl Shape {
    /// A dense shape whose dimensions lie in memory in `order`, innermost first.
    pub(crate) fn dense(region: &Region, order: &[usize]) -> Result<Shape, BufferError> {
        region.check()?;
        check_permutation(order, region.dims())?;
        let mut dims: Vec<Dim> =
            region.spans().iter().map(|s| Dim { min: s.min, extent: s.extent, stride: 1 }).collect();
        let mut stride = 1i64;
        for &d in order {
            dims[d].stride = stride;
            // An empty buffer has no element to place, so an overflow here is not seen.
            stride = stride.saturating_mul(dims[d].extent.max(1));
        }
        Ok(Shape { offset: 0, dims })
    }
    /// A shape with these strides, all at least 1, in which no two elements are at one place.
    pub(crate) fn strided(region: &Region, strides: &[i64]) -> Result<Shape, BufferError> {
        region.check()?;
        if strides.len() != region.dims() {
            return Err(BufferError::WrongDims { expected: region.dims(), found: strides.len() });
        }
        let dims: Vec<Dim> = region
            .spans()
            .iter()
            .zip(strides)
            .map(|(s, &stride)| Dim { min: s.min, extent: s.extent, stride })
            .collect();
        let shape = Shape { offset: 0, dims };
        let mut next = 1i64;
        for d in shape.memory_order() {
            let Dim { extent, stride, .. } = shape.dims[d];
            if stride < next && (extent > 1 || stride < 1) {
                return Err(BufferError::Strides { strides: strides.to_vec() });
            }
            if extent > 1 {
                next = stride.saturating_mul(extent);
            }
        }
        Ok(shape)
    }
    /// The number of bytes from the first element to the end of the last.
    pub(crate) fn spread_bytes(&self, ty: ScalarType) -> Result<usize, BufferError> {
        let too_large = || BufferError::TooLarge { extents: self.dims.iter().map(|d| d.extent).collect(), ty };
        if self.region().is_empty() {
            return Ok(0);
        }
        let reach = |d: &Dim| (d.extent - 1).checked_mul(d.stride);
        let last = self.dims.iter().try_fold(0i64, |sum, d| sum.checked_add(reach(d)?)).ok_or_else(too_large)?;
        let bytes = last.checked_add(1).and_then(|n| n.checked_mul(ty.bytes() as i64));
        let fits = bytes.and_then(|b| usize::try_from(b).ok()).filter(|b| *b <= isize::MAX as usize - 64);
        fits.ok_or_else(too_large)
    }
    /// The bytes that a dense shape takes.
    pub(crate) fn dense_bytes(&self, ty: ScalarType) -> Result<usize, BufferError> {
        let bytes = self.region().points().and_then(|n| n.checked_mul(ty.bytes() as u64));
        let fits = bytes.and_then(|b| isize::try_from(b).ok()).filter(|b| *b <= isize::MAX - 64);
        fits.map(|b| b as usize)
            .ok_or_else(|| BufferError::TooLarge { extents: self.dims.iter().map(|d| d.extent).collect(), ty })
    }
    /// The storage indices from the lowest element to behind the highest; `0..0` if there are none.
    pub(crate) fn used(&self) -> std::ops::Range<usize> {
        if self.dims.iter().any(|d| d.extent <= 0) {
            return 0..0;
        }
        let (mut low, mut high) = (self.offset, self.offset);
        for dim in &self.dims {
            let reach = (dim.extent - 1) * dim.stride;
            low += reach.min(0);
            high += reach.max(0);
        }
        low as usize..high as usize + 1
    }
    pub(crate) fn region(&self) -> Region {
        self.dims.iter().map(|d| d.span()).collect()
    }
    /// The dimensions from the smallest stride to the largest.
    pub(crate) fn memory_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        order.sort_by_key(|&d| self.dims[d].stride.unsigned_abs());
        order
    }
    /// The storage index of the element at `at`; `None` outside.
    pub(crate) fn index<C: Coordinate>(&self, at: &[C]) -> Option<usize> {
        if at.len() != self.dims.len() {
            return None;
        }
        let mut index = self.offset;
        for (dim, c) in self.dims.iter().zip(at) {
            let c = c.to_i64();
            if !dim.span().contains(c) {
                return None;
            }
            index += (c - dim.min) * dim.stride;
        }
        Some(index as usize)
    }
    /// [`Shape::index`] that says what is wrong.
    pub(crate) fn checked_index<C: Coordinate>(&self, at: &[C]) -> Result<usize, BufferError> {
        self.expect_dims(at.len())?;
        self.index(at).ok_or_else(|| {
            let outside = self.dims.iter().zip(at).position(|(d, c)| !d.span().contains(c.to_i64()));
            let dim = outside.unwrap_or(0);
            self.outside(dim, Span { min: at[dim].to_i64(), extent: 1 })
        })
    }
    pub(crate) fn crop(&self, region: &Region) -> Result<Shape, BufferError> {
        self.expect_dims(region.dims())?;
        region.check()?;
        let mut shape = self.clone();
        for (d, span) in region.spans().iter().enumerate() {
            let dim = &mut shape.dims[d];
            if span.min < dim.min || span.end() > dim.min + dim.extent {
                return Err(self.outside(d, *span));
            }
            shape.offset += (span.min - dim.min) * dim.stride;
            *dim = Dim { min: span.min, extent: span.extent, stride: dim.stride };
        }
        Ok(shape)
    }
    /// The plane at coordinate `at` of `dim`, without that dimension.
    pub(crate) fn slice(&self, dim: usize, at: i64) -> Result<Shape, BufferError> {
        let d = *self.dims.get(dim).ok_or_else(|| self.no_dim(dim))?;
        if !d.span().contains(at) {
            return Err(self.outside(dim, Span { min: at, extent: 1 }));
        }
        let mut shape = self.clone();
        shape.dims.remove(dim);
        shape.offset += (at - d.min) * d.stride;
        Ok(shape)
    }
    /// Dimension `i` of the result is dimension `order[i]`.
    pub(crate) fn transpose(&self, order: &[usize]) -> Result<Shape, BufferError> {
        check_permutation(order, self.dims.len())?;
        Ok(Shape { offset: self.offset, dims: order.iter().map(|&d| self.dims[d]).collect() })
    }
    pub(crate) fn with_mins(&self, mins: &[i64]) -> Result<Shape, BufferError> {
        self.expect_dims(mins.len())?;
        let mut shape = self.clone();
        for (dim, &min) in shape.dims.iter_mut().zip(mins) {
            dim.min = min;
        }
        shape.region().check()?;
        Ok(shape)
    }
    /// A new dimension of extent 1 before dimension `dim`.
    pub(crate) fn embed(&self, dim: usize, at: i64) -> Result<Shape, BufferError> {
        if dim > self.dims.len() {
            return Err(self.no_dim(dim));
        }
        let mut shape = self.clone();
        let stride = self.dims.iter().map(|d| d.stride.saturating_mul(d.extent.max(1))).max().unwrap_or(1);
        shape.dims.insert(dim, Dim { min: at, extent: 1, stride });
        shape.region().check()?;
        Ok(shape)
    }
    /// Dimension `dim` as two: the places in blocks of `factor`, and behind it the blocks, counted from coordinate 0.
    pub(crate) fn split(&self, dim: usize, factor: i64) -> Result<Shape, BufferError> {
        let Dim { min, extent, stride } = *self.dims.get(dim).ok_or_else(|| self.no_dim(dim))?;
        if factor < 1 || min.rem_euclid(factor) != 0 || extent % factor != 0 {
            return Err(BufferError::Split { dim, min, extent, factor });
        }
        let mut shape = self.clone();
        shape.dims[dim] = Dim { min: 0, extent: factor, stride };
        let blocks = Dim { min: min / factor, extent: extent / factor, stride: stride.saturating_mul(factor) };
        shape.dims.insert(dim + 1, blocks);
        shape.region().check()?;
        Ok(shape)
    }
    /// Dimension `dim` and the next, its blocks, as one.
    pub(crate) fn join(&self, dim: usize) -> Result<Shape, BufferError> {
        let outer = *self.dims.get(dim + 1).ok_or_else(|| self.no_dim(dim + 1))?;
        let inner = self.dims[dim];
        let expected = inner.stride.saturating_mul(inner.extent);
        let follows = outer.extent <= 1 || inner.extent <= 1 || outer.stride == expected;
        if inner.min != 0 || !follows {
            return Err(BufferError::Join { dim, min: inner.min, expected, found: outer.stride });
        }
        let stride = if inner.extent == 1 { outer.stride } else { inner.stride };
        let mut shape = self.clone();
        shape.dims.remove(dim + 1);
        let times = |n: i64| n.saturating_mul(inner.extent);
        shape.dims[dim] = Dim { min: times(outer.min), extent: times(outer.extent), stride };
        shape.region().check()?;
        Ok(shape)
    }
    /// Calls `f` with every point, first dimension fastest, and the storage index of its element.
    pub(crate) fn walk(&self, mut f: impl FnMut(&[i32], usize)) {
        let region = self.region();
        if region.is_empty() {
            return;
        }
        let mut at: Vec<i32> = self.dims.iter().map(|d| d.min as i32).collect();
        let (row, outer) = match self.dims.first() {
            Some(first) => (*first, &region.spans()[1..]),
            None => return f(&at, self.offset as usize),
        };
        loop {
            let outer_dims = self.dims.iter().zip(&at).skip(1);
            let start = self.offset + outer_dims.map(|(d, c)| (*c as i64 - d.min) * d.stride).sum::<i64>();
            for i in 0..row.extent {
                at[0] = (row.min + i) as i32;
                f(&at, (start + i * row.stride) as usize);
            }
            if !super::region::advance(outer, &mut at[1..]) {
                return;
            }
        }
    }
    /// Returns true if the elements fill a stretch of memory without gaps, first dimension innermost.
    pub(crate) fn is_dense(&self) -> bool {
        let mut stride = 1i64;
        for d in &self.dims {
            if d.extent > 1 && d.stride != stride {
                return false;
            }
            stride = stride.saturating_mul(d.extent.max(1));
        }
        true
    }
    pub(crate) fn expect_dims(&self, found: usize) -> Result<(), BufferError> {
        let expected = self.dims.len();
        if expected == found { Ok(()) } else { Err(BufferError::WrongDims { expected, found }) }
    }

    fn outside(&self, dim: usize, asked: Span) -> BufferError {
        let Dim { min, extent, .. } = self.dims[dim];
        BufferError::Outside { dim, min: asked.min, extent: asked.extent, buffer_min: min, buffer_extent: extent }
    }
    fn no_dim(&self, dim: usize) -> BufferError {
        BufferError::WrongDims { expected: self.dims.len(), found: dim + 1 }
    }
}

fn check_permutation(order: &[usize], dims: usize) -> Result<(), BufferError> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted.into_iter().eq(0..dims) {
        Ok(())
    } else {
        Err(BufferError::NotAPermutation { order: order.to_vec(), dims })
    }
}

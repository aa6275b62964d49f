//! The dimensions of a layout, their parts, and the regions of both.

use super::error::LayoutError;
use crate::buffer::{BufferError, Coordinate, Region, Span};

/// The layout of an array of named dimensions in a buffer: some in blocks, and in another order.
///
/// The buffer has a dimension for each part, in the order that [`Layout::order`] gives, innermost in memory first.
///
/// ```
/// use halide_core::buffer::{Buffer, Region};
/// use halide_core::layout::Layout;
/// // Channels in blocks of 4 innermost, then columns, rows, and blocks: NCHW4c.
/// let layout = Layout::of(["x", "y", "c"]).split("c", 4).order(["c.i", "x", "y", "c.o"]);
/// assert_eq!(layout.extents([5, 3, 6])?, [4, 5, 3, 2]);
/// let image = Buffer::from_fn(&Region::of_extents([5, 3, 6]), |at| at[0] + 10 * at[1] + 100 * at[2])?;
/// let packed = layout.pack(&image)?.typed::<i32>()?;
/// assert_eq!(packed.get([1, 4, 2, 1]), Some(524)); // c = 5, x = 4, y = 2
/// assert_eq!(packed.get([2, 4, 2, 1]), Some(0)); // padded
/// let back = layout.unpack(&packed)?; // in whole blocks
/// assert_eq!(back.extent(2), 8);
/// assert_eq!(back.crop(&image.region())?, *image);
/// # Ok::<(), halide_core::buffer::BufferError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Layout {
    dims: Vec<String>,
    splits: Vec<(String, i64)>,
    order: Option<Vec<String>>,
}

/// A dimension of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The dimension of the array.
    pub(crate) dim: usize,
    /// The part of its coordinate that it counts.
    pub(crate) place: Place,
}

/// The part of a coordinate `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `c`.
    Whole,
    /// `c / n`, rounded down.
    Outer(i64),
    /// `c % n`, from 0.
    Inner(i64),
}

impl Layout {
    /// A layout of an array with dimensions of these names, each whole, in this order.
    ///
    /// What is wrong with a layout is an error where it is used.
    pub fn of<S: Into<String>>(dims: impl IntoIterator<Item = S>) -> Layout {
        Layout { dims: dims.into_iter().map(Into::into).collect(), splits: Vec::new(), order: None }
    }
    /// The same with `dim` in blocks of `factor` coordinates: in its place stand `dim.i`, the place in the block, and
    /// `dim.o`, the number of the block.
    pub fn split(mut self, dim: impl Into<String>, factor: i64) -> Layout {
        self.splits.push((dim.into(), factor));
        self
    }
    /// The same with the parts in this order, innermost in memory first. Each part is named once.
    pub fn order<S: Into<String>>(mut self, parts: impl IntoIterator<Item = S>) -> Layout {
        self.order = Some(parts.into_iter().map(Into::into).collect());
        self
    }
    /// The names of the dimensions of the array.
    pub fn dims(&self) -> &[String] {
        &self.dims
    }
    /// The extents of the buffer for an array of these extents, which starts at 0: blocks are whole.
    ///
    /// # Errors
    /// A layout that makes no sense, or another number of extents than dimensions.
    pub fn extents<C: Coordinate>(&self, extents: impl AsRef<[C]>) -> Result<Vec<i64>, BufferError> {
        let region = self.region(&Region::of_extents(extents))?;
        Ok(region.spans().iter().map(|s| s.extent).collect())
    }
    /// The region of the buffer that holds a region of the array.
    ///
    /// ```
    /// use halide_core::buffer::Region;
    /// use halide_core::layout::Layout;
    /// let layout = Layout::of(["c", "x"]).split("c", 8);
    /// let region = layout.region(&Region::of_spans([(-3, 10), (1, 5)]))?; // blocks -1 and 0
    /// assert_eq!(region, Region::of_spans([(0, 8), (-1, 2), (1, 5)]));
    /// # Ok::<(), halide_core::buffer::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// A layout that makes no sense, a region of another number of dimensions, or one that no buffer can have.
    pub fn region(&self, array: &Region) -> Result<Region, BufferError> {
        let parts = self.parts().map_err(BufferError::from)?;
        if array.dims() != self.dims.len() {
            return Err(BufferError::WrongDims { expected: self.dims.len(), found: array.dims() });
        }
        array.check()?;
        Ok(parts.iter().map(|part| part.place.span(array.spans()[part.dim])).collect())
    }

    /// The parts in order.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, LayoutError> {
        let mut named: Vec<(String, Part)> = Vec::new();
        for (name, factor) in &self.splits {
            if !self.dims.contains(name) {
                return Err(LayoutError::UnknownDim { name: name.clone(), dims: self.dims.clone() });
            }
            if self.splits.iter().filter(|(other, _)| other == name).count() > 1 {
                return Err(LayoutError::SplitTwice { name: name.clone() });
            }
            if !(1..=i64::from(i32::MAX)).contains(factor) {
                return Err(LayoutError::Factor { name: name.clone(), factor: *factor });
            }
        }
        for (dim, name) in self.dims.iter().enumerate() {
            let mut add = |name: String, place| match named.iter().any(|(other, _)| *other == name) {
                true => Err(LayoutError::RepeatedDim { name }),
                false => {
                    named.push((name, Part { dim, place }));
                    Ok(())
                }
            };
            match self.splits.iter().find(|(split, _)| split == name) {
                Some((_, factor)) => {
                    add(format!("{name}.i"), Place::Inner(*factor))?;
                    add(format!("{name}.o"), Place::Outer(*factor))?;
                }
                None => add(name.clone(), Place::Whole)?,
            }
        }
        let Some(order) = &self.order else { return Ok(named.into_iter().map(|(_, part)| part).collect()) };
        let find = |name: &String| named.iter().find(|(other, _)| other == name).map(|(_, part)| *part);
        let parts: Option<Vec<Part>> = order.iter().map(find).collect();
        let is_whole = |parts: &Vec<Part>| parts.len() == named.len() && named.iter().all(|(_, p)| parts.contains(p));
        parts.filter(is_whole).ok_or_else(|| LayoutError::Order {
            order: order.clone(),
            parts: named.iter().map(|(name, _)| name.clone()).collect(),
        })
    }
}

impl Place {
    /// The coordinates of a part for those of a dimension.
    pub(super) fn span(self, array: Span) -> Span {
        match self {
            Place::Whole => array,
            Place::Inner(factor) => Span { min: 0, extent: factor },
            Place::Outer(factor) => {
                let first = array.min.div_euclid(factor);
                let last = (array.end() - 1).div_euclid(factor);
                Span { min: first, extent: if array.extent > 0 { last - first + 1 } else { 0 } }
            }
        }
    }
}

//! Copies between buffers of arrays and packed ones, block by block.

use super::error::LayoutError;
use super::parts::{Layout, Part, Place};
use crate::buffer::{AnyBuffer, BufferError, Region, Span};

impl Layout {
    /// Copies an array into a new buffer of this layout. What blocks have beyond the array is zero.
    ///
    /// # Errors
    /// A layout that makes no sense, another number of dimensions, or more memory than there is.
    pub fn pack(&self, array: &AnyBuffer) -> Result<AnyBuffer, BufferError> {
        let mut packed = AnyBuffer::with_region(array.ty(), &self.region(&array.region())?)?;
        let mut view = packed.view_mut()?;
        self.each_block(&array.region(), |own, block| {
            let part = view.reborrow().crop(&block.region)?;
            let mut part = block.sliced.iter().try_fold(part, |part, &(dim, at)| part.slice(dim, at))?;
            part = part.transpose(&block.order)?;
            let mins: Vec<i64> = part.dims().iter().map(|d| d.min).collect();
            part.copy_from(&array.crop(own)?.with_mins(mins)?)
        })?;
        drop(view);
        Ok(packed)
    }

    /// Copies a buffer of this layout into a new one of the array, in whole blocks: the array with what is padding, a
    /// [crop](AnyBuffer::crop) of which is the array.
    ///
    /// # Errors
    /// A layout that makes no sense, another number of dimensions, a block that is not whole, or more memory than there
    /// is.
    pub fn unpack(&self, packed: &AnyBuffer) -> Result<AnyBuffer, BufferError> {
        let region = self.array(&packed.region())?;
        let mut array = AnyBuffer::with_region(packed.ty(), &region)?;
        let mut view = array.view_mut()?;
        self.each_block(&region, |own, block| {
            let part = packed.crop(&block.region)?;
            let part = block.sliced.iter().try_fold(part, |part, &(dim, at)| part.slice(dim, at))?;
            let mins: Vec<i64> = own.spans().iter().map(|s| s.min).collect();
            view.reborrow().crop(own)?.copy_from(&part.transpose(&block.order)?.with_mins(mins)?)
        })?;
        drop(view);
        Ok(array)
    }

    /// The region of the array that a region of the buffer holds.
    fn array(&self, packed: &Region) -> Result<Region, BufferError> {
        let parts = self.parts().map_err(BufferError::from)?;
        if packed.dims() != parts.len() {
            return Err(BufferError::WrongDims { expected: parts.len(), found: packed.dims() });
        }
        let mut spans = vec![Span { min: 0, extent: 0 }; self.dims().len()];
        for (part, span) in parts.iter().zip(packed.spans()) {
            match part.place {
                Place::Whole => spans[part.dim] = *span,
                Place::Outer(n) => {
                    spans[part.dim] = Span { min: span.min.saturating_mul(n), extent: span.extent.saturating_mul(n) }
                }
                Place::Inner(factor) if (span.min, span.extent) != (0, factor) => {
                    let (name, Span { min, extent }) = (format!("{}.i", self.dims()[part.dim]), *span);
                    return Err(LayoutError::Block { name, min, extent, factor }.into());
                }
                Place::Inner(_) => {}
            }
        }
        let region = Region::new(spans);
        region.check()?;
        Ok(region)
    }

    /// Calls `f` with every part of a region of the array that lies in one block along each split dimension, and with
    /// where that is in the buffer.
    fn each_block(
        &self,
        array: &Region,
        mut f: impl FnMut(&Region, &Block) -> Result<(), BufferError>,
    ) -> Result<(), BufferError> {
        let parts = self.parts().map_err(BufferError::from)?;
        let is_outer = |part: &&Part| matches!(part.place, Place::Outer(_));
        let outer: Vec<Part> = parts.iter().filter(is_outer).copied().collect();
        let blocks: Region = outer.iter().map(|part| part.place.span(array.spans()[part.dim])).collect();
        // Behind the dimensions of blocks, those of the buffer that are left are each one of the array.
        let inner: Vec<usize> = parts.iter().filter(|part| !is_outer(part)).map(|part| part.dim).collect();
        let mut order: Vec<usize> = (0..inner.len()).collect();
        order.sort_by_key(|&place| inner[place]);
        if array.is_empty() {
            return Ok(());
        }
        for at in blocks.coords() {
            let mut own = array.spans().to_vec();
            for (part, number) in outer.iter().zip(&at) {
                let Place::Outer(n) = part.place else { continue };
                let (span, first) = (&mut own[part.dim], i64::from(*number) * n);
                let (min, end) = (span.min.max(first), span.end().min(first + n));
                *span = Span { min, extent: end - min };
            }
            let number = |part: &Part| outer.iter().position(|o| o == part).map_or(0, |place| i64::from(at[place]));
            let spans = parts.iter().map(|part| match part.place {
                Place::Whole => own[part.dim],
                Place::Outer(_) => Span { min: number(part), extent: 1 },
                Place::Inner(n) => Span { min: own[part.dim].min.rem_euclid(n), extent: own[part.dim].extent },
            });
            let region: Region = spans.collect();
            let sliced = parts.iter().enumerate().rev().filter(|(_, part)| is_outer(part));
            let sliced = sliced.map(|(dim, part)| (dim, number(part))).collect();
            f(&Region::new(own), &Block { region, sliced, order: order.clone() })?;
        }
        Ok(())
    }
}

/// The place of a part of an array in a packed buffer.
struct Block {
    /// Its region.
    region: Region,
    /// The dimensions that count blocks, the last first, and the number of the block along each.
    sliced: Vec<(usize, i64)>,
    /// The dimensions that are left then, in the order of the array.
    order: Vec<usize>,
}
